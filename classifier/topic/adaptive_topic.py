"""Paper 000's centre as a method: fitted to a topic's evidence, and moved by the pages that come.

::

    examples, confirmed pages   the seeds
    pages judged relevant       pass the centre in their order (equation 8)
    rejected pages              move nothing
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from classifier.topic.adaptive import AdaptiveCentre
from classifier.topic.batch import PageBatch, Terms
from classifier.topic.evidence import Evidence
from classifier.topic.rankers import array_of, shared_terms
from classifier.topic.vectors import unit

if TYPE_CHECKING:
    from classifier.topic.rankers import Scores


@dataclass(frozen=True, slots=True)
class AdaptiveTopic:
    """A fitted centre; never changes: a page that moves it makes another one."""

    centre: AdaptiveCentre
    notes: tuple[str, ...] = ()

    @classmethod
    def fit(cls, seeds: list[Terms], evidence: Evidence, *, guarded: bool) -> Self:
        """Start from the seeds, then let what was judged relevant pass by."""
        centre = AdaptiveCentre(seeds, guarded=guarded, rejected=evidence.irrelevant)
        for page in evidence.judged:
            centre.observe(page)
        return cls(centre)

    def moved_by(self, page: Terms) -> AdaptiveTopic | None:
        """Return what a page that was judged relevant makes of it; None = it is too far from all seeds."""
        moved = self.centre.moved_by(page)
        return None if moved is None else AdaptiveTopic(moved)

    def scores(self, batch: PageBatch) -> Scores:
        """Return cosines to the centre."""
        return array_of([self.centre.similarity(page) for page in batch.pages])

    def terms(self, page: Terms, count: int) -> list[tuple[str, float]]:
        """Return the shared terms."""
        return shared_terms(unit(page), unit(self.centre.centre), count)

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return self.centre.to_json()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read what :meth:`to_json` gave; raises TopicModelError when it is not that."""
        return cls(AdaptiveCentre.from_json(data))
