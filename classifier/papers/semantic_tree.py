"""A semantic tree: words, their senses and broader senses (paper 002).

::

    word --senses--> sense --parents--> broader senses --...--> a root (depth 0)

``trees.py`` reads WordNet, or a table. Senses may have several parents
(WordNet's have); only cycles are refused.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from classifier.words.errors import TopicError
from classifier.words.segmentation import tokens


class TreeError(TopicError):
    """A semantic tree cannot be read; names its source and the remedy."""

    def __init__(self, source: Path | str, problem: str) -> None:
        super().__init__("semantic tree", str(source), problem)


@dataclass(frozen=True, slots=True)
class SemanticTree:
    """Senses are numbers private to the tree; made by :func:`tree_of`."""

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


def tree_of(
    source: Path | str,
    parents: Mapping[str, Sequence[str]],
    words: Iterable[tuple[str, str, str]],
) -> SemanticTree:
    """Return the tree of senses with their broader senses, and of (word, sense, language).

    A word is known as written and by its term (:func:`term_of`), which has the senses of all its words;
    without a language it has no term. Raises TreeError for no words, an undefined parent or a cycle.
    """
    numbers = {identifier: number for number, identifier in enumerate(parents)}
    for above in parents.values():
        for one in above:
            if one not in numbers:
                problem = f"names {one} as broader, which it does not hold; is it whole?"
                raise TreeError(source, problem)
    # WordNet's adjectives stand alone: exact terms say all that they could.
    linked = {one for child, above in parents.items() if above for one in (child, *above)}
    found: dict[str, dict[int, None]] = {}
    for word, sense, language in words:
        plain = plain_word(word)
        for form in (plain, term_of(plain, language) if language else ""):
            senses = found.setdefault(form, {})
            if sense in linked:
                senses[numbers[sense]] = None
    if not any(found):
        raise TreeError(source, "holds no word; is it a semantic tree, and whole?")
    depths = _depths(source, parents)
    return SemanticTree(
        {form: [*senses] for form, senses in found.items() if form and senses},
        [[numbers[one] for one in above] for above in parents.values()],
        [depths[identifier] for identifier in parents],
    )


def _depths(source: Path | str, parents: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return each sense's edges to the nearest root."""
    depths: dict[str, int] = {}
    try:
        for sense in TopologicalSorter(parents).static_order():
            depths[sense] = min((depths[one] + 1 for one in parents[sense]), default=0)
    except CycleError as error:
        shown = " -> ".join(error.args[1][::-1][:7])
        problem = f"has a cycle of broader senses: {shown}; remove one of these links"
        raise TreeError(source, problem) from error
    return depths
