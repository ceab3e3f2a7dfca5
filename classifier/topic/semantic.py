"""Paper 002's similarity: ``Sim(T, W) = (cosine + semantic) / 2``, with a semantic tree at hand.

``semantic(T, W) = sum_ij t_i w_j s_ij / sum_ij t_i w_j`` (our reading of formula 8, which the scan lost):
the mean likeness of the topic's terms to the page's, weighted by both. For one topic this is a
weighted mean of one number per word, ``TopicAffinity``, so a page costs what its cosine costs.

Without a tree the likeness of two terms is 1 or 0: the method says so and goes on with exact terms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from classifier.topic.semantic_tree import SemanticTree
from classifier.topic.vectors import Vector
from classifier.topic.vsm import VsmSimilarity
from classifier.topic.word_similarity import ALPHA, FLOOR, TopicAffinity

NO_TREE: Final = (
    "no semantic tree is set: only exact terms count; set a WordNet, Cilin or SKOS file"
)
COSINE_SHARE: Final = 0.5
"""Formula 9 takes the plain mean."""


class SemanticSimilarity:
    """Formula 9 for one topic and one tree."""

    name = "semantic"

    def __init__(
        self,
        topic: Vector,
        tree: SemanticTree | None,
        *,
        alpha: float = ALPHA,
        floor: float = FLOOR,
        cosine_share: float = COSINE_SHARE,
    ) -> None:
        self._cosine = VsmSimilarity(topic)
        self._affinity = TopicAffinity(topic, tree, alpha, floor) if tree is not None else None
        self._cosine_share = cosine_share
        total = sum(topic.values()) or 1.0
        self._exact = {term: weight / total for term, weight in topic.items()}
        self.notes: tuple[str, ...] = () if tree is not None else (NO_TREE,)

    def of(self, vector: Mapping[str, float]) -> float:
        """Return the similarity of a tf-idf vector to the topic, 0 to 1."""
        cosine = self._cosine.of(vector)
        return self._cosine_share * cosine + (1 - self._cosine_share) * self.semantic(vector)

    def semantic(self, vector: Mapping[str, float]) -> float:
        """Return formula 8, 0 to 1; 0 for a vector without terms."""
        total = sum(vector.values())
        if not total:
            return 0.0
        return sum(weight * self._near(term) for term, weight in vector.items()) / total

    def terms(self, vector: Mapping[str, float], count: int = 10) -> list[tuple[str, float]]:
        """Return the terms that speak most for the topic: the same, and such as are near in the tree."""
        parts = dict(self._cosine.terms(vector, len(vector)))
        total = sum(vector.values()) or 1.0
        joined = {
            term: self._cosine_share * parts.get(term, 0.0)
            + (1 - self._cosine_share) * weight * self._near(term) / total
            for term, weight in vector.items()
        }
        best = sorted(joined.items(), key=lambda part: (-part[1], part[0]))[:count]
        return [(term, part) for term, part in best if part > 0]

    def _near(self, term: str) -> float:
        if self._affinity is not None:
            return self._affinity(term)
        return self._exact.get(term, 0.0)
