"""Paper 000: the centre of a few seed pages, moved by each relevant page that is near one of them.

::

    seeds -> tf vectors (stop words out, most frequent terms) -> centre M = their mean
    page v: priority = cosine(v, M);  when max over seeds of cosine(v, seed) > threshold:
            M' = (M (n + k) + v) / (n + k + 1)      n seeds, k updates so far

Like the paper's, the plain centre may drift. ``guarded`` counts a page by half, only if it is near the
current centre too, and keeps the seeds' share at half or more.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from typing import Final, Self

from classifier.papers.rankers import Fitted, Scores, shared_terms
from classifier.words.batch import PageBatch, Terms, np_array
from classifier.words.evidence import Evidence
from classifier.words.vectors import Vector, cosine, mean, truncated, unit

# Cosine to a seed above which a page moves the centre; the paper gives no value.
UPDATE_THRESHOLD: Final = 0.35
# Terms of a centre (the paper's feature reduction by term frequency).
MAX_FEATURES: Final = 1_000
# The seeds' least share of the guarded centre.
MIN_SEED_SHARE: Final = 0.5
_GUARDED_WEIGHT: Final = 0.5


@dataclass(slots=True)
class AdaptiveCentre(Fitted):
    """The paper's topic model; unit vectors, so that long pages weigh no more."""

    # Plain term frequencies: a handful of pages has no meaningful document frequencies (the paper's
    # argument).
    seeds: Sequence[Terms]
    _: KW_ONLY
    threshold: float = UPDATE_THRESHOLD
    guarded: bool = False
    rejected: Sequence[Terms] = ()
    updates: float = 0.0
    """k: pages that moved the centre; each counts half if guarded."""
    centre: Vector = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin with the seeds, unless a stored centre is read."""
        if not self.centre:
            self.seeds = [unit(truncated(seed, MAX_FEATURES)) for seed in self.seeds]
            self.rejected = [unit(truncated(page, MAX_FEATURES)) for page in self.rejected]
            self.centre = truncated(mean(self.seeds), MAX_FEATURES)

    @classmethod
    def fit(cls, seeds: Sequence[Terms], evidence: Evidence, *, guarded: bool) -> Self:
        """Start from the seeds, then observe the pages judged relevant so far."""
        centre = cls(seeds, guarded=guarded, rejected=evidence.irrelevant)
        for page in evidence.judged:
            centre.observe(page)
        return centre

    def similarity(self, terms: Terms) -> float:
        """Return a page's cosine to the centre: the priority of its links."""
        return cosine(terms, self.centre)

    def observe(self, terms: Terms) -> bool:
        """Move the centre by a relevant page near enough to a seed; returns whether it moved."""
        page = unit(terms)
        # The paper has no corrections. Here pages that the user rejected, or that are more like a rejected
        # page than like any seed, do not move the centre.
        nearest = _nearest(page, self.seeds)
        if nearest <= max(self.threshold, _nearest(page, self.rejected)):
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

    def moved_by(self, terms: Terms) -> Self | None:
        """Return a copy moved by the page; None if it would not move."""
        moved = copy(self)
        return moved if moved.observe(terms) else None

    def scores(self, batch: PageBatch) -> Scores:
        """Return cosines to the centre."""
        return np_array([self.similarity(page) for page in batch.pages])

    def terms(self, page: Terms, count: int) -> list[tuple[str, float]]:
        """Return the shared terms."""
        return shared_terms(unit(page), unit(self.centre), count)


def _nearest(page: Vector, others: Sequence[Terms]) -> float:
    return max((cosine(page, other) for other in others), default=0.0)
