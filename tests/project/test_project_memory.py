"""Nothing in a process that runs for months grows with time: caches are bounded, and soon full."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_OF_ONE = 20_000
MOST_OF_ALL = 180_000
"""At 400 bytes each, which is what a URL and its canonical key take, 70 MB: the caches of a daemon with
topics that has seen everything."""
FINITE = {
    "catalogue": "the one catalogue",
    "_routes": "what one settings file switches off",
    "_times": "kinds of results",
    "environment": "likewise",
    "found": "likewise",
    "reference": "likewise",
    "texts_of": "installed features",
}
"""Functions with parameters whose results may all be kept."""


def caches() -> Iterator[tuple[str, ast.FunctionDef, int | None]]:
    """Yield where, the function and the bound (None = none) of each cached function of ours."""
    for package in ("incremental", "classifier", "store"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(node, ast.FunctionDef):
                    continue
                for decorator in node.decorator_list:
                    said = ast.unparse(decorator)
                    if said in {"cache", "functools.cache"}:
                        yield f"{path.stem}.{node.name}", node, None
                    elif isinstance(decorator, ast.Call) and said.startswith("lru_cache("):
                        yield f"{path.stem}.{node.name}", node, _bound(decorator)


def _bound(decorator: ast.Call) -> int | None:
    given = [one.value for one in decorator.keywords if one.arg == "maxsize"] or decorator.args
    return ast.literal_eval(given[0]) if given else 128


def test_a_cache_without_a_bound_has_one_entry_or_few() -> None:
    without = {where: node for where, node, bound in caches() if bound is None}
    assert without
    grows = [w for w, node in without.items() if node.args.args and node.name not in FINITE]
    assert grows == []


def test_the_bounds_of_all_caches_together_are_what_a_small_machine_can_hold() -> None:
    bounds = {where: bound for where, _, bound in caches() if bound is not None}
    assert {where: bound for where, bound in bounds.items() if bound > MOST_OF_ONE} == {}
    assert sum(bounds.values()) <= MOST_OF_ALL
