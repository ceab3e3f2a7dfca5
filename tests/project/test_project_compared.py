"""The comparison with other tools names commands and tests that there are, one row for each feature."""

import ast
import re
from pathlib import Path

import pytest
from test_project_documents import calls, wrong

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "compared.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def rows(heading: str) -> dict[int, list[str]]:
    """Return the cells of the numbered rows below *heading*."""
    part = TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found = re.findall(r"^\| (\d+) \|(.*)\|$", part, re.MULTILINE)
    return {int(number): [cell.strip() for cell in cells.split("|")] for number, cells in found}


FEATURES, SHOWN = rows("Twenty-five features"), rows("What shows it")


def functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}


def test_each_feature_is_a_row_and_shown_by_one() -> None:
    assert list(FEATURES) == list(SHOWN) == list(range(1, 26))


@pytest.mark.parametrize("number", FEATURES)
def test_each_tool_has_an_answer(number: int) -> None:
    _, *answers = FEATURES[number]
    assert len(answers) == 5
    for answer in answers:
        assert re.match(r"(yes|no)([:;,] .+)?$|in part: .|—, not checked$", answer)
    assert not answers[0].startswith("—")


@pytest.mark.parametrize("number", SHOWN)
def test_each_test_and_command_that_shows_it_exists(number: int) -> None:
    commands, tests = SHOWN[number]
    named = NAMED.findall(tests)
    assert named
    # Nothing else stands there, such as a name with a slip in it.
    assert NAMED.sub("", tests).strip(", ") == ""
    assert [f"{file}::{name}" for file, name in named if name not in functions(ROOT / file)] == []
    assert [wrong(call) for call in calls(commands) if wrong(call)] == []
    assert len(calls(commands)) == commands.count("`") // 2
