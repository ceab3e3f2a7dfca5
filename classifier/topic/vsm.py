"""The vector space model: a topic as one vector of weighted terms, a page's cosine to it (paper 002).

Weighted term frequencies by position (formula 3), times how rare a term is, and the cosine
(formula 4). ``semantic`` adds the tree to it; this one stands beside it as the paper's rival.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from classifier.topic.background import Background
from classifier.topic.evidence import Evidence
from classifier.topic.keywords import Keywords
from classifier.topic.vectors import Vector, dot, mean, norm, truncated, unit

MAX_TOPIC_TERMS: Final = 100
"""Terms of a topic's vector; the rest of an example is its own, not the topic's."""
KEYWORD_SHARE: Final = 0.5
"""What the key words weigh beside examples."""


class Similarity(Protocol):
    """What compares a page or a link with the topic."""

    @property
    def name(self) -> str:
        """The method's name."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of it."""

    def of(self, vector: Mapping[str, float]) -> float:
        """Return the similarity of a tf-idf vector to the topic, 0 to 1."""

    def terms(self, vector: Mapping[str, float], count: int = 10) -> list[tuple[str, float]]:
        """Return the vector's terms that speak most for the topic, with their parts of the score."""


@dataclass(frozen=True, slots=True)
class VsmSimilarity:
    """Plain cosine."""

    topic: Vector
    """Of length 1."""
    name: str = "vsm"
    notes: tuple[str, ...] = ()

    def of(self, vector: Mapping[str, float]) -> float:
        """Return the cosine; 0 for a vector without terms."""
        length = norm(vector)
        return min(dot(vector, self.topic) / length, 1.0) if length else 0.0

    def terms(self, vector: Mapping[str, float], count: int = 10) -> list[tuple[str, float]]:
        """Return the terms that both share, with their parts of the cosine."""
        length = norm(vector) or 1.0
        parts = {
            term: weight * self.topic[term] / length
            for term, weight in vector.items()
            if term in self.topic
        }
        return sorted(parts.items(), key=lambda part: (-part[1], part[0]))[:count]


def topic_vector(
    evidence: Evidence, background: Background, max_terms: int = MAX_TOPIC_TERMS
) -> Vector:
    """Return the topic as a vector of length 1: the mean of what is on it, and its key words.

    Empty when neither holds a word. Paper 002 allows both ways, by hand or from first pages.
    """
    pages = [background.vector(page) for page in evidence.positives]
    from_pages = truncated(mean(pages), max_terms)
    from_words = Keywords(evidence.keywords).vector(background)
    if not from_pages or not from_words:
        return unit(from_pages or from_words)
    shared = {term: (1 - KEYWORD_SHARE) * weight for term, weight in unit(from_pages).items()}
    for term, weight in from_words.items():
        shared[term] = shared.get(term, 0.0) + KEYWORD_SHARE * weight
    return unit(shared)
