"""A semantic tree: words, their senses and broader senses, behind a small interface (paper 002).

::

    word --senses--> sense --parents--> broader senses --...--> a root (depth 0)

``trees.py`` reads WordNet, or a table, into a ``CompactTree``. Senses may have several parents
(WordNet's have); only cycles are refused.
"""

from __future__ import annotations

import hashlib
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from classifier.words.errors import TopicError
from classifier.words.segmentation import tokens

# Of one tree; the largest known thesauri have a tenth of it.
MAX_SENSES = 4_000_000
MAX_WORDS = 10_000_000
# Edges to a root; WordNet has 20.
MAX_DEPTH = 300
_UNREACHED = -1
_HASH_BYTES = 8


class TreeError(TopicError):
    """A semantic tree cannot be read; names the file, the line (0 = the whole) and the remedy."""

    def __init__(self, path: Path | str, line: int, problem: str) -> None:
        self.path = path
        self.line = line
        super().__init__("semantic tree", f"{path}, line {line}" if line else str(path), problem)


class SemanticTree(Protocol):
    """The tree interface that paper 002 needs; senses are numbers private to the tree."""

    def senses(self, word: str) -> Sequence[int]:
        """Return a word's senses, most common first if the source orders them; empty = unknown."""

    def parents(self, sense: int) -> Sequence[int]:
        """Return the next broader senses; none = a root."""

    def depth(self, sense: int) -> int:
        """Return the edges to the nearest root."""


def plain_word(word: str) -> str:
    """Normalise a word for look-up: NFKC, lower case, single spaces."""
    if word.isalpha() and word.isascii():
        return word.lower()
    return " ".join(unicodedata.normalize("NFKC", word).casefold().replace("_", " ").split())


def term_of(word: str, language: str) -> str:
    """Return a word's term in texts of a language; empty = none, or several."""
    # Chinese words have none: texts are split in context.
    if not word.isalpha() or (language.startswith("zh") and not word.isascii()):
        return ""
    terms = tokens(word, language)
    return terms[0] if len(terms) == 1 else ""


def _key(word: str) -> int:
    """Return a stable hash of a word."""
    # Of 64 bits: any of 10^7 words collide with a probability of 3 in a million.
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=_HASH_BYTES).digest(), "big")


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of integers of unequal length, concatenated."""

    starts: NDArray[np.int32]
    values: NDArray[np.int32]

    def __getitem__(self, row: int) -> list[int]:
        # A list of ints: numpy's integers are slow to iterate.
        return list(map(int, self.values[self.starts[row] : self.starts[row + 1]]))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @classmethod
    def of_pairs(cls, rows: Sequence[int], values: Sequence[int], count: int) -> Self:
        """Group (row, value) pairs by row, stable."""
        row = np.asarray(rows, dtype=np.int32)
        order = np.argsort(row, kind="stable")
        starts = np.zeros(count + 1, dtype=np.int32)
        np.cumsum(np.bincount(row, minlength=count), out=starts[1:])
        return cls(starts, np.asarray(values, dtype=np.int32)[order])

    def inverse(self) -> Rows:
        """Return the rows with row and value exchanged."""
        rows = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.starts))
        return Rows.of_pairs(list(self.values), list(rows), len(self))


# Arrays of integers, and hashes of the words: so a WordNet of 230,000 words takes a few megabytes.
@dataclass(frozen=True, slots=True)
class CompactTree:
    """A tree as arrays; made by ``TreeBuilder.build``."""

    _parents: Rows
    _depths: NDArray[np.int16]
    # Sorted hashes of the words.
    _keys: NDArray[np.uint64]
    _senses: Rows

    def senses(self, word: str) -> Sequence[int]:
        """Return the senses of a word in any case; none = unknown."""
        key = np.uint64(_key(plain_word(word)))
        place = int(np.searchsorted(self._keys, key))
        if place == len(self._keys) or self._keys[place] != key:
            return ()
        return self._senses[place]

    def parents(self, sense: int) -> Sequence[int]:
        """Return the next broader senses; none = a root."""
        return self._parents[sense]

    def depth(self, sense: int) -> int:
        """Return the edges to the nearest root."""
        return int(self._depths[sense])

    def __len__(self) -> int:
        return len(self._depths)


@dataclass(slots=True)
class TreeBuilder:
    """Collects a reader's senses, words and parents, then checks and packs them.

    A word is known as written and by its term (:func:`term_of`), which has the senses of all its words.
    """

    path: Path | str
    # Sense number by the source's own identifier.
    _numbers: dict[str, int] = field(default_factory=dict)
    # First line that names each sense; 0 = unknown.
    _lines: list[int] = field(default_factory=list)
    _defined: bytearray = field(default_factory=bytearray)
    _edges: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    _words: dict[str, list[int]] = field(default_factory=dict)
    _stems: dict[tuple[str, str], str] = field(default_factory=dict)

    def sense(self, identifier: str, line: int = 0) -> int:
        """Define a sense unless it is defined, and return its number."""
        number = self._number(identifier, line)
        self._defined[number] = True
        return number

    def parent(self, child: int, identifier: str, line: int = 0) -> None:
        """Add a sense broader than ``child``; it may be defined later."""
        children, parents = self._edges
        children.append(child)
        parents.append(self._number(identifier, line))

    def word(self, word: str, sense: int, line: int = 0, *, language: str = "") -> None:
        """Add a word of ``sense``; empty words are ignored, without a language it gets no stem."""
        plain = plain_word(word)
        if plain:
            self._add_word(plain, sense)
            stemmed = self._stem_of(plain, language)
            if stemmed and stemmed != plain:
                self._add_word(stemmed, sense)
        if len(self._words) > MAX_WORDS:
            raise TreeError(
                self.path, line, f"has more than {MAX_WORDS} words; name a smaller tree"
            )

    def build(self) -> CompactTree:
        """Check and pack; raises TreeError for no words, an undefined parent or a cycle."""
        self._check_whole()
        count = len(self._lines)
        parents = Rows.of_pairs(*self._edges, count)
        children = parents.inverse()
        depths = _depths(parents, children)
        if (lost := np.flatnonzero(depths == _UNREACHED)).size:
            raise self._cycle(parents, depths, int(lost[0]))
        if depths.max() > MAX_DEPTH:
            raise TreeError(
                self.path, 0, f"is deeper than {MAX_DEPTH} senses; is it a tree of words?"
            )
        self._drop_isolated(np.diff(parents.starts) + np.diff(children.starts) == 0)
        keys = np.fromiter(map(_key, self._words), dtype=np.uint64, count=len(self._words))
        order = np.argsort(keys)
        packed = _pack_senses(list(self._words.values()), order)
        return CompactTree(parents, depths.astype(np.int16), keys[order], packed)

    def _add_word(self, word: str, sense: int) -> None:
        senses = self._words.setdefault(word, [])
        if sense not in senses:
            senses.append(sense)

    def _stem_of(self, plain: str, language: str) -> str:
        if not language or " " in plain:
            return ""
        stemmed = self._stems.get((plain, language))
        if stemmed is None:
            stemmed = self._stems[plain, language] = term_of(plain, language)
        return stemmed

    def _number(self, identifier: str, line: int) -> int:
        number = self._numbers.setdefault(identifier, len(self._lines))
        if number == len(self._lines):
            if number == MAX_SENSES:
                raise TreeError(self.path, line, f"has more than {MAX_SENSES} senses")
            self._lines.append(line)
            self._defined.append(False)
        return number

    def _drop_isolated(self, isolated: NDArray[np.bool_]) -> None:
        """Drop words whose senses have no edges."""
        # WordNet's adjectives, for example, have no neighbours.
        self._words = {
            word: kept
            for word, senses in self._words.items()
            if (kept := [sense for sense in senses if not isolated[sense]])
        }

    def _check_whole(self) -> None:
        if not self._words:
            raise TreeError(self.path, 0, "holds no word; is it a semantic tree, and whole?")
        missing = self._defined.find(0)
        if missing >= 0:
            identifier = next(key for key, number in self._numbers.items() if number == missing)
            raise TreeError(
                self.path,
                self._lines[missing],
                f"names {identifier} as broader, which the file does not hold; is the file whole?",
            )

    def _cycle(self, parents: Rows, depths: NDArray[np.int32], start: int) -> TreeError:
        seen: list[int] = []
        place = start
        while place not in seen:
            seen.append(place)
            place = next(one for one in parents[place] if depths[one] == _UNREACHED)
        circle = seen[seen.index(place) :]
        names = {number: identifier for identifier, number in self._numbers.items()}
        shown = " -> ".join(names[one] for one in [*circle[:6], circle[0]])
        return TreeError(
            self.path,
            self._lines[circle[0]],
            f"has a cycle of broader senses: {shown}; remove one of these links",
        )


def _pack_senses(senses: list[list[int]], order: NDArray[np.int64]) -> Rows:
    starts = np.zeros(len(senses) + 1, dtype=np.int32)
    np.cumsum([len(senses[place]) for place in order], out=starts[1:])
    values = [sense for place in order for sense in senses[place]]
    return Rows(starts, np.asarray(values, dtype=np.int32))


def _depths(parents: Rows, children: Rows) -> NDArray[np.int32]:
    """Return each sense's edges to the nearest root; -1 = on or below a cycle."""
    # A sense is reached after all its parents (Kahn's order), so cycles are never entered.
    waiting = np.diff(parents.starts)
    depths = np.full(len(parents), _UNREACHED, dtype=np.int32)
    nearest = np.full(len(parents), np.iinfo(np.int32).max, dtype=np.int32)
    level = np.flatnonzero(waiting == 0)
    nearest[level] = 0
    while level.size:
        depths[level] = nearest[level]
        counts = children.starts[level + 1] - children.starts[level]
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        below = children.values[np.repeat(children.starts[level], counts) + offsets]
        np.minimum.at(nearest, below, np.repeat(depths[level], counts) + 1)
        np.subtract.at(waiting, below, 1)
        level = np.unique(below[waiting[below] == 0])
    return depths


class Forest:
    """Several trees; each tree's senses are numbered after those before it."""

    def __init__(self, trees: Sequence[CompactTree]) -> None:
        self._trees = tuple(trees)
        self._starts = [0, *accumulate(len(tree) for tree in self._trees)]

    def senses(self, word: str) -> Sequence[int]:
        """Return the senses of a word, tree by tree."""
        return [
            start + sense
            for start, tree in zip(self._starts, self._trees, strict=False)
            for sense in tree.senses(word)
        ]

    def parents(self, sense: int) -> Sequence[int]:
        """Return the next broader senses; none = a root."""
        tree, start = self._home(sense)
        return [start + parent for parent in tree.parents(sense - start)]

    def depth(self, sense: int) -> int:
        """Return the edges to the nearest root of its own tree."""
        tree, start = self._home(sense)
        return tree.depth(sense - start)

    def _home(self, sense: int) -> tuple[CompactTree, int]:
        place = bisect_right(self._starts, sense) - 1
        return self._trees[place], self._starts[place]


def joined(trees: Sequence[CompactTree]) -> SemanticTree | None:
    """Return one tree for any number of trees; None for none."""
    if len(trees) > 1:
        return Forest(trees)
    return trees[0] if trees else None
