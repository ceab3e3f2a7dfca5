"""A semantic tree: words, their senses and broader senses (paper 002).

::

    word --senses--> sense --parents--> broader senses --...--> a root (depth 0)

``trees.py`` reads WordNet, or a table, with a ``TreeBuilder``. Senses may have several parents
(WordNet's have); only cycles are refused.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from classifier.words.errors import TopicError
from classifier.words.segmentation import tokens

# Edges to a root; WordNet has 20.
MAX_DEPTH = 300


class TreeError(TopicError):
    """A semantic tree cannot be read; names the file, the line (0 = the whole) and the remedy."""

    def __init__(self, path: Path | str, line: int, problem: str) -> None:
        self.path = path
        self.line = line
        super().__init__("semantic tree", f"{path}, line {line}" if line else str(path), problem)


@dataclass(frozen=True, slots=True)
class SemanticTree:
    """Senses are numbers private to the tree; made by ``TreeBuilder.build``."""

    _words: dict[str, list[int]]
    _parents: list[list[int]]
    _depths: list[int]

    def senses(self, word: str) -> Sequence[int]:
        """Return a word's senses, most common first if the source orders them; empty = unknown."""
        return self._words.get(plain_word(word), [])

    def parents(self, sense: int) -> Sequence[int]:
        """Return the next broader senses; none = a root."""
        return self._parents[sense]

    def depth(self, sense: int) -> int:
        """Return the edges to the nearest root."""
        return self._depths[sense]

    def add(self, other: SemanticTree) -> None:
        """Add another tree, whose senses are numbered after those that are here."""
        start = len(self._depths)
        for word, senses in other._words.items():
            self._words.setdefault(word, []).extend(start + sense for sense in senses)
        self._parents.extend([start + above for above in parents] for parents in other._parents)
        self._depths.extend(other._depths)


def joined(trees: Sequence[SemanticTree]) -> SemanticTree | None:
    """Return one tree for any number of trees; None for none."""
    if len(trees) <= 1:
        return trees[0] if trees else None
    whole = SemanticTree({}, [], [])
    for tree in trees:
        whole.add(tree)
    return whole


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


@dataclass(slots=True)
class TreeBuilder:
    """Collects a reader's senses, words and parents, then checks and packs them.

    A word is known as written and by its term (:func:`term_of`), which has the senses of all its words.
    """

    path: Path | str
    _numbers: dict[str, int] = field(default_factory=dict)
    _lines: list[int] = field(default_factory=list)
    """Where each sense is named first."""
    _defined: set[int] = field(default_factory=set)
    _parents: list[list[int]] = field(default_factory=list)
    _words: dict[str, list[int]] = field(default_factory=dict)

    def sense(self, identifier: str, line: int = 0) -> int:
        """Define a sense unless it is defined, and return its number."""
        number = self._number(identifier, line)
        self._defined.add(number)
        return number

    def parent(self, child: int, identifier: str, line: int = 0) -> None:
        """Add a sense broader than ``child``; it may be defined later."""
        self._parents[child].append(self._number(identifier, line))

    def word(self, word: str, sense: int, *, language: str = "") -> None:
        """Add a word of ``sense``; empty words are ignored, without a language it gets no stem."""
        plain = plain_word(word)
        stemmed = term_of(plain, language) if language else ""
        for form in filter(None, {plain: 0, stemmed: 0}):
            senses = self._words.setdefault(form, [])
            if sense not in senses:
                senses.append(sense)

    def build(self) -> SemanticTree:
        """Check, and return the tree; raises TreeError for no words, an undefined parent or a cycle."""
        self._check_whole()
        depths = self._depths()
        if max(depths) > MAX_DEPTH:
            raise TreeError(
                self.path, 0, f"is deeper than {MAX_DEPTH} senses; is it a tree of words?"
            )
        # WordNet's adjectives stand alone: exact terms say all that they could.
        linked = {sense for child, up in enumerate(self._parents) if up for sense in (child, *up)}
        words = {
            word: kept
            for word, senses in self._words.items()
            if (kept := [sense for sense in senses if sense in linked])
        }
        return SemanticTree(words, self._parents, depths)

    def _number(self, identifier: str, line: int) -> int:
        number = self._numbers.setdefault(identifier, len(self._lines))
        if number == len(self._lines):
            self._lines.append(line)
            self._parents.append([])
        return number

    def _check_whole(self) -> None:
        if not self._words:
            raise TreeError(self.path, 0, "holds no word; is it a semantic tree, and whole?")
        for identifier, number in self._numbers.items():
            if number not in self._defined:
                raise TreeError(
                    self.path,
                    self._lines[number],
                    f"names {identifier} as broader, which the file does not hold; is the file whole?",
                )

    def _depths(self) -> list[int]:
        """Return each sense's edges to the nearest root."""
        depths = [0] * len(self._parents)
        try:
            for sense in TopologicalSorter(dict(enumerate(self._parents))).static_order():
                above = self._parents[sense]
                depths[sense] = min((depths[parent] + 1 for parent in above), default=0)
        except CycleError as error:
            names, circle = list(self._numbers), error.args[1][::-1]
            shown = " -> ".join(names[one] for one in circle[:7])
            problem = f"has a cycle of broader senses: {shown}; remove one of these links"
            raise TreeError(self.path, self._lines[circle[0]], problem) from error
        return depths
