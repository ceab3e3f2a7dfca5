"""The tree of errors is one, and drawn as it is."""

import ast
import re
from pathlib import Path

import code_rules

import hubwatch.errors

ROOT = Path(__file__).parents[2]
OUTSIDE = {
    "ForbiddenAddressError": "HTTPError",
    "ReaderBugError": "Exception",
}
"""The address guard's, which urllib3 must let pass, and bugs of ours in other processes."""


def drawn() -> dict[str, str]:
    """Return the parent of each error in the drawing."""
    parents: dict[str, str] = {}
    path: list[tuple[int, str]] = []
    for line in (hubwatch.errors.__doc__ or "").splitlines():
        found = re.match(r"[ │├└─]*(\w+Error)\b", line)
        if found is None or line.startswith("``"):
            continue
        depth = found.start(1)
        path = [one for one in path if one[0] < depth]
        parents[found[1]] = path[-1][1] if path else "Exception"
        path.append((depth, found[1]))
    return parents


def raised() -> dict[str, str]:
    """Return the base of each error class in the code."""
    return {
        node.name: ast.unparse(node.bases[0])
        for source in code_rules.read_packages(ROOT).values()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef) and node.name.endswith("Error") and node.bases
    }


def test_every_error_hangs_in_the_one_tree_where_it_is_drawn() -> None:
    assert raised() == drawn() | OUTSIDE


def test_the_drawing_has_one_root() -> None:
    assert [name for name, parent in drawn().items() if parent == "Exception"] == ["HubwatchError"]
