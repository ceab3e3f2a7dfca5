"""The fused method's centre: one judgement from terms, concepts, feedback and other evidence.

::

    examples, key words -> centre (terms; concepts at four widths)
        the sample's nearest pages    -> move the centre, less so with more examples
        pages marked irrelevant       -> move it away, and give no feedback
    page -> cosine in each view -> standardised by the sample's mean and deviation -> weighted sum
            (fused.py adds further views, trained separately: key words, the tree, ...)

The sample holds fetched pages of no known topic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from classifier.words.batch import PageBatch, np_array
from classifier.words.vectors import Vector, mean, truncated, unit

Scores = NDArray[np.float64]

MAX_CENTRE_TERMS: Final = 300
# Pages of the sample that move the centre (pseudo-relevance feedback).
FEEDBACK_PAGES: Final = 20
# Divided by the number of examples, at most 1: the weight of the feedback of as many pages.
FEEDBACK_STRENGTH: Final = 2.5
FEEDBACK_ROUNDS: Final = 2
# Weight of the irrelevant examples' mean against the relevant ones' (Rocchio). On labelled abstracts of
# eight fields, the six highest pages rejected and three confirmed: average precision .354, F1 .245;
# with 0.5: .312 and .182.
_WRONG_WEIGHT: Final = 0.25
# With this many rejected pages, half of it: two may be outliers.
_WRONG_HALVED: Final = 3.0
# A sample page with at least this cosine is the rejected one; its stored text may be shorter.
_SAME: Final = 0.9
MIN_SAMPLE: Final = 30
_USUAL_MEAN: Final = 0.03
# Of cosines.
_USUAL_DEVIATION: Final = 0.05
# Without a sample to measure, usual values count as so many pages.
_USUAL_PAGES: Final = 3
_LEAST_DEVIATION: Final = 1e-6
# Fewer pages get no scale of their own.
_FEW: Final = 10


@dataclass(frozen=True, slots=True)
class Centre:
    """A topic's place in every view, not normalised."""

    terms: Vector
    places: tuple[NDArray[np.float64], ...]
    """By width of the concepts; () without concepts."""

    @classmethod
    def of(cls, batch: PageBatch, chosen: Sequence[int] | NDArray[np.int64]) -> Self:
        """Return the mean of some pages of a batch."""
        terms = mean([batch.vectors[index] for index in chosen])
        return cls(terms, tuple(view[list(chosen)].mean(axis=0) for view in batch.places))

    def moved(self, other: Centre, weight: float) -> Centre:
        """Return this centre plus *weight* of another; terms below 0 are dropped."""
        terms = dict(self.terms)
        for term, value in other.terms.items():
            terms[term] = terms.get(term, 0.0) + weight * value
        kept = truncated(
            {term: value for term, value in terms.items() if value > 0}, MAX_CENTRE_TERMS
        )
        pairs = zip(self.places, other.places, strict=True)
        return Centre(kept, tuple(mine + weight * theirs for mine, theirs in pairs))

    def views(self, batch: PageBatch) -> NDArray[np.float64]:
        """Return the cosines of the pages, shape (views, pages): terms first, then each width."""
        rows = [batch.cosines(unit(self.terms))]
        for view, place in zip(batch.places, self.places, strict=True):
            rows.append(view @ (place / (np.linalg.norm(place) or 1.0)))
        return np.array(rows)


@dataclass(frozen=True, slots=True)
class Scale:
    """Mean and deviation of each view over the sample."""

    means: NDArray[np.float64]
    deviations: NDArray[np.float64]

    @classmethod
    def measured(cls, views: NDArray[np.float64]) -> Self:
        """Measure the sample's views, shape (views, pages); few pages are joined by usual ones."""
        count = views.shape[1]
        if count >= MIN_SAMPLE:
            return cls.of(views)
        means = (views.sum(axis=1) + _USUAL_PAGES * _USUAL_MEAN) / (count + _USUAL_PAGES)
        squares = np.square(views - means[:, None]).sum(axis=1)
        squares += _USUAL_PAGES * (_USUAL_DEVIATION**2 + np.square(means - _USUAL_MEAN))
        return cls(means, np.sqrt(squares / (count + _USUAL_PAGES)))

    @classmethod
    def of(cls, views: NDArray[np.float64]) -> Self:
        """Measure views, however few pages they are of."""
        return cls(views.mean(axis=1), np.maximum(views.std(axis=1), _LEAST_DEVIATION))

    def standardised(self, views: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return deviations from the mean, in standard deviations."""
        # Sums of these keep how far ahead a page is, which ranks lose: on labelled texts they beat
        # reciprocal ranks. And 0 is an average page, in any language and of any length.
        return np_array((views - self.means[:, None]) / self.deviations[:, None])


@dataclass(frozen=True, slots=True)
class Scales:
    """Two scales: of the pages that concepts were computed from, and of all others.

    Concepts overfit their own pages: among the concepts of two hundred articles a new page is nearer to
    everything, by two deviations.
    """

    learned: Scale
    fresh: Scale

    @classmethod
    def measured(cls, views: NDArray[np.float64], fresh: NDArray[np.bool_]) -> Self:
        """Measure the sample's views, shape (views, pages); *fresh* as in :class:`PageBatch`."""
        if min(int(fresh.sum()), int((~fresh).sum())) < _FEW:
            whole = Scale.measured(views)
            return cls(whole, whole)
        return cls(Scale.of(views[:, ~fresh]), Scale.of(views[:, fresh]))

    def standardised(
        self, views: NDArray[np.float64], fresh: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Return each page's views on its own scale, as :meth:`Scale.standardised`."""
        return np.where(fresh, self.fresh.standardised(views), self.learned.standardised(views))


def wrong_weight(count: int) -> float:
    """Return the weight of the mean of this many rejected pages against that of the relevant ones."""
    return _WRONG_WEIGHT * count / (count + _WRONG_HALVED)


def feedback_weight(examples: int, pages: int, sample: int) -> float:
    """Return the weight of the mean of the nearest pages against that of the examples."""
    return min(1.0, FEEDBACK_STRENGTH / examples) * pages / min(FEEDBACK_PAGES, sample)


@dataclass(frozen=True, slots=True)
class FusedCentre:
    """A fitted fusion over terms and concepts; immutable."""

    centre: Centre
    scale: Scales

    @classmethod
    def fit(
        cls,
        examples: PageBatch,
        sample: PageBatch,
        wrong: PageBatch,
        most: int = FEEDBACK_PAGES,
    ) -> Self:
        """Learn from the examples; *sample* and *wrong* (irrelevant ones) may be empty.

        *most* pages of the sample move the centre.
        """
        own = Centre.of(examples, range(len(examples)))
        if len(wrong):
            own = own.moved(Centre.of(wrong, range(len(wrong))), -wrong_weight(len(wrong)))
        centre, scale = own, Scales.measured(own.views(sample), sample.fresh)
        rounds = FEEDBACK_ROUNDS if len(sample) >= MIN_SAMPLE else 0
        free = _not_rejected(sample, wrong)
        for _ in range(rounds):
            scores = scale.standardised(centre.views(sample), sample.fresh).sum(axis=0)
            nearest = [one for one in (-scores).argsort(kind="stable") if free[one]][:most]
            if not nearest:
                break
            weight = feedback_weight(len(examples), len(nearest), len(sample))
            centre = own.moved(Centre.of(sample, nearest), weight)
            scale = Scales.measured(centre.views(sample), sample.fresh)
        return cls(centre, scale)

    def scores(self, batch: PageBatch) -> Scores:
        """Return the mean of the standardised views; 0 is the sample's mean."""
        views = self.scale.standardised(self.centre.views(batch), batch.fresh)
        return np_array(views.mean(axis=0))


def _not_rejected(sample: PageBatch, wrong: PageBatch) -> NDArray[np.bool_]:
    """Return the pages of the sample that may move the centre: all but rejected ones."""
    if not len(wrong):
        return np.ones(len(sample), dtype=np.bool_)
    free: NDArray[np.bool_] = sample.likeness(wrong.vectors).max(axis=1) < _SAME
    return free
