"""The examples' opinion of pages by meaning, which does not drift with a topic's feedback.

::

    vector - mean of pages and everyday pages, again of length 1
    examples ── centre, or logistic regression against the far half of the pages
                and everyday pages, which fade ── cosine
    score(page) = (1 - SPREAD) * cosine + SPREAD * mean score of its nearest pages

As :mod:`.opinion`, with vectors in the place of words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from classifier.embedding.embedder import Vectors
from classifier.topic.meaning_space import unit

Scores = NDArray[np.float64]

# With this many pages, half of the everyday pages still count, for the mean and as negatives.
_MEAN_HALVED: Final = 30
_NEGATIVES_HALVED: Final = 100
# Below this only the centre is used: a page far from it may still be on topic.
MIN_PAGES: Final = 20
_FAR_SHARE: Final = 0.5
# Of logistic regression, divided by the number of negatives.
_LOOSENESS: Final = 10.0
SPREAD: Final = 0.5
NEIGHBOURS: Final = 10
_SPREAD_ROUNDS: Final = 4
_TINY: Final = 1e-9


@dataclass(frozen=True, slots=True)
class MeaningOpinion:
    """Fitted to one topic's examples and the pages of a crawl; immutable."""

    mean: Vectors
    """The mean of all pages."""
    centre: Vectors
    """Of the examples; unit length, centred."""
    direction: Vectors
    """Direction of relevant pages; unit length, centred."""
    pages: Vectors
    """Centred."""
    page_scores: Scores
    """Of :attr:`pages`."""

    @classmethod
    def fit(cls, examples: Vectors, wrong: Vectors, pages: Vectors, general: Vectors) -> Self:
        """Learn from unit vectors of examples, rejected pages, fetched pages and everyday pages.

        At least one example or page is needed; the others may have no row.
        """
        count = len(pages)
        around = np.concatenate([pages, general[: _fading(len(general), count, _MEAN_HALVED)]])
        mean = (around if len(around) else examples).mean(axis=0)
        placed, right = centred(pages, mean), centred(examples, mean)
        centre = unit(right.mean(axis=0))
        direction = centre
        if count >= MIN_PAGES:
            far = placed[np.argsort(placed @ centre, kind="stable")[: int(count * _FAR_SHARE)]]
            everyday = general[: _fading(len(general), count, _NEGATIVES_HALVED)]
            others = [far, centred(everyday, mean), centred(wrong, mean)]
            direction = _separating(right, np.concatenate(others))
        own = (placed @ direction).astype(np.float64)
        if count < MIN_PAGES:
            return cls(mean, centre, direction, placed, own)
        alike = placed @ placed.T
        np.fill_diagonal(alike, 0.0)
        near, weights = _nearest(alike)
        spread = own
        for _ in range(_SPREAD_ROUNDS):
            spread = (1 - SPREAD) * own + SPREAD * (spread[near] * weights).sum(axis=1)
        return cls(mean, centre, direction, placed, spread)

    def score(self, page: Vectors) -> float:
        """Return the score of one more page, on the scale of :attr:`page_scores`."""
        placed = centred(page[None, :], self.mean)
        own = float((placed @ self.direction)[0])
        if len(self.pages) < MIN_PAGES:
            return own
        near, weights = _nearest(placed @ self.pages.T)
        return (1 - SPREAD) * own + SPREAD * float((self.page_scores[near] * weights).sum())


def centred(rows: Vectors, mean: Vectors) -> Vectors:
    """Return rows less *mean*, scaled to length 1; a row of zeros stays zero."""
    moved = np.where(rows.any(axis=1, keepdims=True), rows - mean, 0.0)
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    units: Vectors = np.divide(moved, lengths, out=np.zeros_like(moved), where=lengths > 0)
    return units.astype(np.float32)


def _fading(available: int, pages: int, halved: int) -> int:
    return round(available / (1 + pages / halved))


def _separating(right: Vectors, others: Vectors) -> Vectors:
    """Return the direction that separates the examples from others, classes balanced."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - heavy

    labels = np.concatenate([np.ones(len(right)), np.zeros(len(others))])
    weights = np.where(labels > 0, len(others) / len(right), 1.0)
    machine = LogisticRegression(C=_LOOSENESS / len(others))
    machine.fit(np.concatenate([right, others]), labels, sample_weight=weights)
    return unit(machine.coef_[0])


def _nearest(alike: Vectors) -> tuple[NDArray[np.int64], Scores]:
    """Return each row's nearest and their weights, squared cosines of sum 1; *alike* has the cosines."""
    count = min(NEIGHBOURS, alike.shape[1])
    near = np.argpartition(-alike, count - 1, axis=1)[:, :count]
    found = np.square(np.take_along_axis(alike, near, axis=1).clip(0.0).astype(np.float64))
    return near, found / (found.sum(axis=1, keepdims=True) + _TINY)
