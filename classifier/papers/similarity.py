"""Paper 002's similarity: ``Sim(T, W) = (cosine + semantic) / 2`` (formula 9).

``semantic(T, W) = sum_ij t_i w_j s_ij / sum_ij t_i w_j`` (our reading of formula 8, which the scan lost):
the mean likeness of the topic's terms to the page's, weighted by both. Without a tree two terms have
likeness 1 or 0, and a note says so.

The vector space model is the paper's rival: the cosine alone (formula 4) of term frequencies weighted by
position (formula 3) and rarity.

``Score = delta * Sim(T, V) + (1 - delta) * mean of Sim(T, v_i)`` over the m valid of n child links
(formula 10) is what a page passes on to its links.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from classifier.papers.semantic_tree import SemanticTree
from classifier.papers.word_similarity import TopicAffinity
from classifier.words.background import Background
from classifier.words.evidence import Evidence
from classifier.words.keywords import Keywords
from classifier.words.values import Note
from classifier.words.vectors import Vector, dot, mean, norm, truncated, unit

# Terms of a topic's vector; an example's other terms are not the topic's.
MAX_TOPIC_TERMS: Final = 100
# Weight of the key words beside examples.
KEYWORD_SHARE: Final = 0.5


@dataclass(frozen=True, slots=True)
class VsmSimilarity:
    """Plain cosine."""

    topic: Vector
    """Of length 1."""
    notes: tuple[Note, ...] = ()

    def of(self, vector: Mapping[str, float]) -> float:
        """Return the cosine; 0 for a vector without terms."""
        length = norm(vector)
        return min(dot(vector, self.topic) / length, 1.0) if length else 0.0

    def terms(self, vector: Mapping[str, float], count: int = 10) -> list[tuple[str, float]]:
        """Return the shared terms, with their parts of the cosine."""
        length = norm(vector) or 1.0
        parts = {
            term: weight * self.topic[term] / length
            for term, weight in vector.items()
            if term in self.topic
        }
        return sorted(parts.items(), key=lambda part: (-part[1], part[0]))[:count]


def topic_vector(evidence: Evidence, background: Background) -> Vector:
    """Return the topic as a vector of length 1: the mean of its pages, and its key words."""
    pages = [background.vector(page) for page in evidence.positives]
    from_pages = truncated(mean(pages), MAX_TOPIC_TERMS)
    from_words = Keywords(evidence.keywords).vector(background)
    if not from_pages or not from_words:
        return unit(from_pages or from_words)
    shared = {term: (1 - KEYWORD_SHARE) * weight for term, weight in unit(from_pages).items()}
    for term, weight in from_words.items():
        shared[term] = shared.get(term, 0.0) + KEYWORD_SHARE * weight
    return unit(shared)


NO_TREE: Final = Note("no_tree")
# Formula 9 takes the plain mean.
COSINE_SHARE: Final = 0.5


class SemanticSimilarity:
    """Formula 9 for one topic and one tree."""

    def __init__(self, topic: Vector, tree: SemanticTree | None) -> None:
        self._cosine = VsmSimilarity(topic)
        self._affinity = TopicAffinity(topic, tree) if tree is not None else None
        total = sum(topic.values()) or 1.0
        self._exact = {term: weight / total for term, weight in topic.items()}
        self.notes: tuple[Note, ...] = () if tree is not None else (NO_TREE,)

    def of(self, vector: Mapping[str, float]) -> float:
        """Return the similarity of a tf-idf vector to the topic, 0 to 1."""
        cosine = self._cosine.of(vector)
        return COSINE_SHARE * cosine + (1 - COSINE_SHARE) * self.semantic(vector)

    def semantic(self, vector: Mapping[str, float]) -> float:
        """Return formula 8, 0 to 1; 0 for a vector without terms."""
        total = sum(vector.values())
        if not total:
            return 0.0
        # For one topic formula 8 is a weighted mean of one number per word, so a page costs as much as its
        # cosine.
        return sum(weight * self._near(term) for term, weight in vector.items()) / total

    def terms(self, vector: Mapping[str, float], count: int = 10) -> list[tuple[str, float]]:
        """Return the terms that add most: the topic's own, and those near them in the tree."""
        parts = dict(self._cosine.terms(vector, len(vector)))
        total = sum(vector.values()) or 1.0
        joined = {
            term: COSINE_SHARE * parts.get(term, 0.0)
            + (1 - COSINE_SHARE) * weight * self._near(term) / total
            for term, weight in vector.items()
        }
        best = sorted(joined.items(), key=lambda part: (-part[1], part[0]))[:count]
        return [(term, part) for term, part in best if part > 0]

    def _near(self, term: str) -> float:
        if self._affinity is not None:
            return self._affinity(term)
        return self._exact.get(term, 0.0)


# The paper's weight of the page itself.
DELTA: Final = 0.8
# The paper names three cases without numbers; our reading: if most links are valid, the others are dropped;
# if few are, links do not count; else all count.
MOST_VALID: Final = 0.7
FEW_VALID: Final = 0.3


def link_score(own: float, children: Sequence[float], valid_from: float) -> float:
    """Return formula 10 for a page of similarity ``own`` and its links' similarities ``children``.

    A link is valid from similarity ``valid_from`` on. A page without links has its own similarity.
    """
    valid = [child for child in children if child >= valid_from]
    share = len(valid) / len(children) if children else 0.0
    if share < FEW_VALID or not children:
        return own
    counted = valid if share > MOST_VALID else children
    return DELTA * own + (1.0 - DELTA) * sum(counted) / len(counted)


Similarity = VsmSimilarity | SemanticSimilarity
"""Compares a page or a link with the topic."""
