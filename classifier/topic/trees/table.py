"""WordNet as one table: ``id pos hypernyms zh en``, tab-separated, words and parents between bars."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from classifier.topic.semantic_tree import CompactTree, TreeBuilder, TreeError
from classifier.topic.trees.sources import read_lines

# The first columns; each further one holds the words of one language.
COLUMNS: Final = ("id", "pos", "hypernyms")


def read_table(path: Path) -> CompactTree:
    """Read the table; raises TreeError that names the line."""
    lines = read_lines(path)
    languages = _languages(path, lines)
    builder = TreeBuilder(path)
    for number, line in lines:
        if not line:
            continue
        identifier, _, hypernyms, *words = _fields(path, number, line, len(languages))
        sense = builder.sense(identifier, number)
        for parent in filter(None, hypernyms.split("|")):
            builder.parent(sense, parent, number)
        for language, column in zip(languages, words, strict=True):
            for word in column.split("|"):
                builder.word(word, sense, number, language=language)
    return builder.build()


def _languages(path: Path, lines: Iterator[tuple[int, str]]) -> tuple[str, ...]:
    _, header = next(lines, (0, ""))
    columns = tuple(header.split("\t"))
    if columns[: len(COLUMNS)] != COLUMNS or len(columns) == len(COLUMNS):
        raise TreeError(path, 1, "must name the columns: id, pos, hypernyms, then languages")
    return columns[len(COLUMNS) :]


def _fields(path: Path, number: int, line: str, languages: int) -> list[str]:
    fields = line.split("\t")
    expected = len(COLUMNS) + languages
    if len(fields) != expected or not fields[0]:
        raise TreeError(
            path, number, f"has {len(fields)} fields, not {expected} with an id; is it cut off?"
        )
    return fields
