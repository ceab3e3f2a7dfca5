"""What topics expect of links: the order of verification fetches, and the worth of a hub. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from store.rules import COLUMNS
from store.values import SeenLink, TopicScore

# The most promising link counts as this many usual ones for its hub.
MAX_WORTH = 3.0


@dataclass(frozen=True, slots=True)
class Guesses:
    """What topics expect of links not fetched yet. Such a score only orders fetches."""

    scores: Mapping[str, tuple[TopicScore, ...]] = field(default_factory=dict)
    """By canonical key, one per topic."""
    contexts: Mapping[str, str] = field(default_factory=dict)
    """By canonical key, as :func:`incremental.topics.judging.to_context` writes them."""
    usual: float = 1.0
    """The score of a link about which nothing is known."""

    def expected(self, canonical_key: str) -> float | None:
        """Return the best score of a link by any topic; None = no guess."""
        return max((score.score for score in self.scores.get(canonical_key, ())), default=None)

    def expected_among(self, links: Iterable[SeenLink]) -> float:
        """Return how many usual links *links* are worth."""
        # Not how many are on topic: hubs that were never judged count as usual, and must not seem better
        # than those with one relevant page in five.
        parts = ((self.expected(link.canonical_key) or 0.0) / self.usual for link in links)
        return sum((min(part, MAX_WORTH) for part in parts), 0.0)

    def of_waiting(self, links: Iterable[SeenLink]) -> tuple[TopicScore, ...]:
        """Return the guesses for those of *links* that wait for verification."""
        waiting = (link for link in links if COLUMNS[link.fate].is_fetched)
        return tuple(score for link in waiting for score in self.scores.get(link.canonical_key, ()))
