"""Several semantic trees as one: a word has the senses of all of them, and no sense joins two trees."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from classifier.topic.semantic_tree import CompactTree, SemanticTree


class Forest:
    """Trees side by side; senses of the second are numbered on after those of the first."""

    def __init__(self, trees: Sequence[CompactTree]) -> None:
        self._trees = tuple(trees)
        self._starts = [0, *accumulate(len(tree) for tree in self._trees)]

    @property
    def name(self) -> str:
        """The names of all, for explanations."""
        return ", ".join(tree.name for tree in self._trees)

    def senses(self, word: str) -> Sequence[int]:
        """Return the senses of a word in every tree, tree by tree."""
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

    def neighbours(self, sense: int) -> Sequence[int]:
        """Return the senses one edge away: parents, then children."""
        tree, start = self._home(sense)
        return [start + other for other in tree.neighbours(sense - start)]

    def _home(self, sense: int) -> tuple[CompactTree, int]:
        place = bisect_right(self._starts, sense) - 1
        return self._trees[place], self._starts[place]


def joined(trees: Sequence[CompactTree]) -> SemanticTree | None:
    """Return one tree for several: itself when it is the only one, None for none."""
    if len(trees) > 1:
        return Forest(trees)
    return trees[0] if trees else None
