"""The similarity of two words by their distance in a semantic tree (paper 002, formulas 5 to 7).

``similarity = alpha / (alpha + dist)`` with ``dist = d(X, P) + d(Y, P) + |depth X - depth Y|``, P the
nearest common ancestor of the senses X and Y (our reading: the scan lost formula 6). The best pair of
senses counts. Without a common ancestor similarity is 0; with itself it is 1, even for an unknown word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from classifier.papers.semantic_tree import SemanticTree

# Distance of similarity 0.5.
ALPHA: Final = 2.0
# Further senses of a word are rare.
MAX_SENSES_PER_WORD: Final = 8
# Of one sense; WordNet's have about forty at most.
MAX_ANCESTORS: Final = 500
_CACHED_WORDS: Final = 100_000
# Of one topic; each takes about a kilobyte.
_CACHED_SENSES: Final = 4_000
# No path: more edges than any tree has (``semantic_tree.MAX_DEPTH``).
_UNRELATED: Final = 30_000


def ancestors(tree: SemanticTree, sense: int) -> dict[int, int]:
    """Return the sense and all above it, each with the fewest edges to it."""
    steps = {sense: 0}
    level = [sense]
    edges = 0
    while level and len(steps) < MAX_ANCESTORS:
        edges += 1
        upper = dict.fromkeys(parent for one in level for parent in tree.parents(one))
        level = [one for one in upper if one not in steps]
        steps.update(dict.fromkeys(level, edges))
    return steps


class TopicAffinity:
    """A word's nearness to the whole topic: ``sum_i t_i s_ij / sum_i t_i`` for word j."""

    # Built once per topic: a matrix of the edges from each ancestor to each sense of the topic's terms. A new
    # word reads about ten of its rows (0.1 ms).

    def __init__(
        self,
        topic: Mapping[str, float],
        tree: SemanticTree,
        alpha: float = ALPHA,
    ) -> None:
        self._tree = tree
        self._alpha = alpha
        weights = np.array(list(topic.values()), dtype=np.float64)
        total = float(weights.sum())
        self._weights = weights / total if total else weights
        self._places = {term: place for place, term in enumerate(topic)}
        self._senses = _TopicSenses(tree, list(topic))
        self._affinity = lru_cache(maxsize=_CACHED_WORDS)(self._compute)

    def __call__(self, word: str) -> float:
        """Return the word's affinity, 0 to 1."""
        return self._affinity(word)

    def similarities(self, word: str) -> NDArray[np.float64]:
        """Return the word's similarity to each of the topic's terms, in their order."""
        similar = self._alpha / (self._alpha + self._senses.distances(word))
        if word in self._places:
            similar[self._places[word]] = 1.0
        return similar

    def _compute(self, word: str) -> float:
        return float(self.similarities(word) @ self._weights)


class _TopicSenses:
    """The senses of the topic's terms, and the edges from each of them over the nearest common ancestor.

    ``edges(Y) = min(own(Y), edges(parents of Y) + 1)``, own(Y) where Y itself is above a sense.
    """

    def __init__(self, tree: SemanticTree, terms: Sequence[str]) -> None:
        self._tree = tree
        self._terms = len(terms)
        senses = [(place, one) for place, term in enumerate(terms) for one in _senses(tree, term)]
        self._depths = np.array([tree.depth(one) for _, one in senses], dtype=np.int32)
        places = [place for place, _ in senses]
        self._known = np.array(sorted(set(places)), dtype=np.int64)
        self._starts = np.searchsorted(np.array(places), self._known)
        self._own = self._edges_upwards([one for _, one in senses])
        self._unrelated = np.full(len(senses), _UNRELATED, dtype=np.int32)
        self._edges = lru_cache(maxsize=_CACHED_SENSES)(self._compute_edges)

    def distances(self, word: str) -> NDArray[np.float64]:
        """Return the word's distance to each term; infinite = no common ancestor."""
        nearest = np.full(self._terms, np.inf)
        for sense in _senses(self._tree, word) if len(self._known) else ():
            total = self._edges(sense) + np.abs(self._depths - self._tree.depth(sense))
            best = np.minimum.reduceat(total, self._starts)
            related = best < _UNRELATED
            places = self._known[related]
            nearest[places] = np.minimum(nearest[places], best[related])
        return nearest

    def _edges_upwards(self, senses: Sequence[int]) -> dict[int, NDArray[np.int32]]:
        own: dict[int, NDArray[np.int32]] = {}
        for column, sense in enumerate(senses):
            for above, steps in ancestors(self._tree, sense).items():
                if above not in own:
                    own[above] = np.full(len(senses), _UNRELATED, dtype=np.int32)
                own[above][column] = steps
        return own

    def _compute_edges(self, sense: int) -> NDArray[np.int32]:
        # Cached: results for a broader sense serve all narrower ones.
        edges = self._own.get(sense, self._unrelated)
        for parent in self._tree.parents(sense):
            edges = np.minimum(edges, self._edges(parent) + 1)
        return edges


def _senses(tree: SemanticTree, word: str) -> Sequence[int]:
    return tree.senses(word)[:MAX_SENSES_PER_WORD]
