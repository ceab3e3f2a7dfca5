"""Paper 000: a topic's centre from a few pages, moved by every page that is near enough to one of them.

::

    seeds -> tf vectors (stop words out, most frequent terms) -> centre M = their mean
    page v: priority = cosine(v, M);  when max over seeds of cosine(v, seed) > threshold:
            M' = (M (n + k) + v) / (n + k + 1)      n seeds, k updates so far

Weights are plain term frequencies: with a handful of pages there is no document frequency to speak
of (the paper's own argument). As in the paper nothing guards against drift; ``guarded`` counts a
page only when it is near the present centre as well, counts it by half, and keeps the seeds at
half of the centre for ever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from classifier.topic.errors import TopicModelError
from classifier.topic.vectors import Vector, cosine, mean, truncated, unit

UPDATE_THRESHOLD: Final = 0.35
"""Cosine to a seed above which a page moves the centre; the paper names none."""
MAX_FEATURES: Final = 1_000
"""Terms of a centre (the paper's feature reduction by term frequency)."""
MIN_SEED_SHARE: Final = 0.5
"""Of the guarded centre that stays with the seeds."""
_GUARDED_WEIGHT: Final = 0.5
_FORMAT: Final = 1


class AdaptiveCentre:
    """The paper's topic model. Vectors are of length 1, so that long pages weigh no more."""

    def __init__(
        self,
        seeds: Sequence[Mapping[str, float]],
        *,
        threshold: float = UPDATE_THRESHOLD,
        guarded: bool = False,
    ) -> None:
        self.threshold = threshold
        self.guarded = guarded
        self.seeds = [unit(truncated(seed, MAX_FEATURES)) for seed in seeds]
        self.updates = 0.0
        """k: pages that moved the centre; guarded, each is half a page."""
        self.centre = truncated(mean(self.seeds), MAX_FEATURES)

    def similarity(self, terms: Mapping[str, float]) -> float:
        """Return the cosine of a page's terms to the centre: the priority of its links."""
        return cosine(terms, self.centre)

    def observe(self, terms: Mapping[str, float]) -> bool:
        """Move the centre when the page is near enough to a seed; returns whether it did."""
        page = unit(terms)
        if max((cosine(page, seed) for seed in self.seeds), default=0.0) <= self.threshold:
            return False
        weight = 1.0
        if self.guarded:
            weight = _GUARDED_WEIGHT
            if self.similarity(page) <= self.threshold or self._is_full(weight):
                return False
        self._move(page, weight)
        return True

    def _is_full(self, weight: float) -> bool:
        moved = self.updates + weight
        return len(self.seeds) < MIN_SEED_SHARE * (len(self.seeds) + moved)

    def _move(self, page: Vector, weight: float) -> None:
        before = len(self.seeds) + self.updates
        after = before + weight
        moved = {term: value * before / after for term, value in self.centre.items()}
        for term, value in page.items():
            moved[term] = moved.get(term, 0.0) + value * weight / after
        self.centre = truncated(moved, MAX_FEATURES)
        self.updates += weight

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "format": _FORMAT,
            "threshold": self.threshold,
            "guarded": self.guarded,
            "seeds": self.seeds,
            "updates": self.updates,
            "centre": self.centre,
        }

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Read what :meth:`to_json` gave; raises TopicModelError when it is not that."""
        if not isinstance(data, dict) or data.get("format") != _FORMAT:
            raise TopicModelError("adaptive centre", str(data)[:80], "is none of this version")
        try:
            read = cls(data["seeds"], threshold=data["threshold"], guarded=data["guarded"])
            read.updates = float(data["updates"])
            read.centre = {str(term): float(value) for term, value in data["centre"].items()}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise TopicModelError("adaptive centre", str(error), "is damaged") from error
        return read
