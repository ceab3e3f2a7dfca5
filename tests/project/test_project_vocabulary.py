"""Words that docs/glossary.md replaced do not come back, neither in names nor in what users read."""

import ast
import re
from pathlib import Path

import pytest
from code_rules import read_packages
from retired_words import in_identifiers, in_texts

ROOT = Path(__file__).parents[2]
OURS = {
    name: source
    for name, source in read_packages(ROOT).items()
    # A migration is history.
    if not name.startswith("store.migrations")
}


def texts() -> dict[str, str]:
    """What users read: documents, pages, the words of the pages, help and messages of commands."""
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    rooms = ROOT / "incremental"
    web = rooms / "interfaces" / "web"
    pages = [*(web / "templates").glob("*.html"), rooms / "base" / "texts" / "catalogue.toml"]
    found = {path.name: path.read_text(encoding="utf-8") for path in [*documents, *pages]}
    for name, source in OURS.items():
        strings = (
            node.value
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        )
        found[name] = "\n".join(one.replace("\n", " ") for one in strings)
    # One names what papers say, the other what was renamed.
    del found["glossary.md"], found["CHANGELOG.md"]
    return found


def test_no_name_holds_a_retired_word() -> None:
    assert in_identifiers(OURS) == []


def test_nothing_that_users_read_holds_one() -> None:
    assert in_texts(texts()) == []


@pytest.mark.parametrize("source", ["told = 1", "class TopicShelf: ...", "row.last_recheck_at"])
def test_a_name_that_holds_one_is_found(source: str) -> None:
    assert in_identifiers({"store.x": source})


def test_a_phrase_that_holds_one_is_found() -> None:
    assert in_texts({"x.md": "Each page is told as new once."})
    assert not in_texts({"x.md": "A hub or an article, as you were told."})


def test_the_glossary_is_linked_where_newcomers_begin() -> None:
    for name in ("README.md", "CONTRIBUTING.md", "docs/architecture.md"):
        assert re.search(r"\(.*glossary\.md\)", (ROOT / name).read_text(encoding="utf-8")), name
