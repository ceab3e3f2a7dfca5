"""The documents, in English and Chinese: their links lead somewhere, their commands are commands."""

import re
from pathlib import Path
from typing import Any

import click
import pytest
from lab.written_tables import DOCUMENTS as WITH_FIGURES
from lab.written_tables import read_results, with_figures

from incremental.interfaces.cli import commands, loaded

ROOT = Path(__file__).parents[2]
DOCUMENTS = {
    path.relative_to(ROOT).as_posix(): path
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
}
PAIRS = [
    ("README.md", "README.zh.md"),
    ("docs/how-relevance-is-judged.md", "docs/zh/topics.md"),
    ("docs/web-and-api.md", "docs/zh/web-page.md"),
    *[
        (f"docs/{name}.md", f"docs/zh/{name}.md")
        for name in (
            *("tutorial", "messages", "problems", "completeness", "packs", "settings"),
            "why-was-my-page-not-found",
        )
    ],
]
# The change log names commands as they were called then.
WITH_COMMANDS = sorted(DOCUMENTS.keys() - {"CHANGELOG.md"})

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
# A command with its words, up to what ends it for a shell or a reader. A service of compose has its name.
CALL = re.compile(r"\bhubwatch(?: hubwatch)?((?: --config \S+)? [a-z][^#|;&\n]*)")
FIGURE = re.compile(r"\d*\.?\d+")


def without_code(text: str) -> str:
    return CODE.sub("", FENCE.sub("", text))


def anchors(path: Path) -> set[str]:
    """Return the anchors of the headings, as GitHub makes them."""
    headings = re.findall(
        r"^#+ (.+)$", FENCE.sub("", path.read_text(encoding="utf-8")), re.MULTILINE
    )
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def calls(text: str) -> list[str]:
    """Return what follows ``hubwatch`` in blocks and spans of code."""
    code = [block for _, block in FENCE.findall(text)] + CODE.findall(FENCE.sub("", text))
    return [call.strip() for part in code for call in CALL.findall(part)]


def wrong(call: str) -> str:
    """Return the word or options of *call* that the command line does not know; empty = all is well."""
    # What is quoted for the shell may begin with a minus.
    words = re.sub(r"^--config \S+ |'[^']*'", "", call).split()
    target: Any = commands()
    name = ""
    while isinstance(target, dict):
        if not words:  # a group alone: it lists its commands
            return ""
        name = words.pop(0)
        if name not in target:
            return name
        target = target[name]
    command: click.Command = loaded(name, target)
    known = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    given = {word.strip("[]").partition("=")[0] for word in words if re.match(r"\[?-", word)}
    return ", ".join(sorted(given - known - {"--help"}))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_relative_link_leads_to_a_file_and_a_heading(name: str) -> None:
    path = DOCUMENTS[name]
    broken = []
    for link in LINK.findall(without_code(path.read_text(encoding="utf-8"))):
        if not re.match(r"[a-z]+:", link):
            file, _, anchor = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            if not target.exists() or (anchor and anchor not in anchors(target)):
                broken.append(link)
    assert broken == []


@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_every_command_that_a_document_shows_is_one(name: str) -> None:
    shown = calls(DOCUMENTS[name].read_text(encoding="utf-8"))
    assert [problem for call in shown if (problem := wrong(call))] == []


@pytest.mark.parametrize("call", ["neww", "new --sinc 1d", "topic ad x", "add -x"])
def test_a_command_that_is_none_is_noticed(call: str) -> None:
    assert wrong(call)


@pytest.mark.parametrize(("english", "chinese"), PAIRS)
def test_english_and_chinese_name_each_other(english: str, chinese: str) -> None:
    for here, there in ((english, chinese), (chinese, english)):
        path = DOCUMENTS[here]
        links = LINK.findall(path.read_text(encoding="utf-8"))
        assert DOCUMENTS[there].resolve() in {(path.parent / link).resolve() for link in links}


def test_the_chinese_readme_has_the_output_and_the_figures_of_the_english_one() -> None:
    english, chinese = (DOCUMENTS[name].read_text(encoding="utf-8") for name in PAIRS[0])
    assert FENCE.findall(chinese) == FENCE.findall(english)
    assert figures(chinese) == figures(english)


def test_the_chinese_settings_have_the_sections_names_and_defaults_of_the_english_ones() -> None:
    english, chinese = (DOCUMENTS[f"docs/{name}.md"] for name in ("settings", "zh/settings"))
    words = {"不设": "not set", "必填": "required"}
    rows = [
        (name, words.get(default, default))
        for name, default in settings_rows(chinese.read_text("utf-8"))
    ]
    assert rows == settings_rows(english.read_text("utf-8"))


def settings_rows(text: str) -> list[tuple[str, str]]:
    """Return each heading of a section, and the name and default of each setting, in order."""
    return re.findall(r"^(?:## (?=\[)|\| )(\[.+|`\w+`)(?: \| (.*?) \|.*)?$", text, re.MULTILINE)


def figures(text: str) -> list[list[str]]:
    """Return the figures of each row of the tables on how well it finds; word order may differ."""
    rows = re.findall(r"^\| [\w-]+ \| \d.*$|^\|.* · .*$", FENCE.sub("", text), re.MULTILINE)
    return [sorted(FIGURE.findall(row)) for row in rows]


@pytest.mark.parametrize("path", WITH_FIGURES, ids=lambda path: path.name)
def test_figures_of_replays_are_those_of_the_last_run(path: Path) -> None:
    """`scripts/benchmark --write` puts them there."""
    text = path.read_text(encoding="utf-8")
    assert with_figures(text, read_results()) == text


def test_a_row_takes_the_figures_of_its_recording_by_the_headings() -> None:
    delay = {"mean": 17.4, "median": 13.6}
    result = {"scored": 83, "recall": 1.0, "delay_minutes": delay, "announced": 86, "false_new": 1}
    rows = (
        "| recording | recall | delay, mean (median), min | kind | false new |",
        "| --- | --- | --- | --- | --- |",
        "| kubaik | .9 | 20 (10) | weblog | 0 of 86 |",
        "| other | .8 | 1 (1) | shop | 0 of 9 |",
        "",
        "| kubaik | .9 |",
    )
    text = "\n".join(rows)
    written = text.replace(".9 | 20 (10) | weblog | 0 of", "1.000 | 17 (14) | weblog | 1 of")
    assert with_figures(text, {"kubaik": result}) == written
