"""Cilin, the Chinese thesaurus of five levels: ``Aa01A01= word word ...`` in each line.

The code is the path: letter, letter, two digits, letter, two digits. Its last mark relates the line's
words: ``=`` synonyms, ``#`` of a kind, ``@`` a single word.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from classifier.topic.semantic_tree import CompactTree, TreeBuilder, TreeError
from classifier.topic.trees.sources import read_lines

_CODE: Final = re.compile(r"[A-Za-z](?:[a-z](?:\d\d(?:[A-Z](?:\d\d[=#@]?)?)?)?)?")
_LEVEL_ENDS: Final = (1, 2, 4, 5, 7)
_LEAF_CHARS: Final = 7


def is_cilin_line(line: str) -> bool:
    """Whether a line begins with a code of Cilin."""
    return _CODE.fullmatch(line.split(maxsplit=1)[0] if line.strip() else "") is not None


def read_cilin(path: Path) -> CompactTree:
    """Read the thesaurus; raises TreeError that names the line."""
    builder = TreeBuilder(path)
    for number, line in read_lines(path):
        code, *words = line.split() or [""]
        if not code:
            continue
        if not _CODE.fullmatch(code):
            raise TreeError(path, number, f"{code[:20]!r} is not a Cilin code such as Aa01A01=")
        # Lines of higher levels are headings; their words are no senses.
        if len(code) >= _LEAF_CHARS:
            _add_words(builder, number, code, words)
    return builder.build()


def _add_words(builder: TreeBuilder, number: int, code: str, words: list[str]) -> None:
    place = code[0].upper() + code[1:_LEAF_CHARS]
    leaf = _add_place(builder, place, number)
    for word in words:
        # Words of a kind are siblings, not synonyms.
        if code.endswith("#"):
            own = builder.sense(f"{place}#{word}", number)
            builder.parent(own, place, number)
            builder.word(word, own, number)
        else:
            builder.word(word, leaf, number)


def _add_place(builder: TreeBuilder, place: str, line: int) -> int:
    """Define a place and those above it, each once."""
    if builder.has(place):
        return builder.sense(place)
    sense = builder.sense(place, line)
    above = next((place[:end] for end in reversed(_LEVEL_ENDS) if end < len(place)), "")
    if above:
        _add_place(builder, above, line)
        builder.parent(sense, above, line)
    return sense
