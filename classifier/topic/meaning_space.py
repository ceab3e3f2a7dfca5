"""The vector space of a sample: nearest pages, and a topic's linear discriminant.

::

    vectors - the mean of their language, scaled to length 1  removes what all pages share
    direction = (S + RIDGE * I)^-1 (centre - m)             where other pages vary little
        m, S: mean and covariance of the sample without the twentieth that is nearest to the centre

The second is the linear discriminant (Fisher 1936) with a ridge, S divided by its mean variance. It reduces
the weight of directions common to most pages, which a centre of five pages contains as well. It is fitted on
unlabelled pages: the nearest twentieth is left out because it contains the topic's own.
"""

from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from classifier.embedding.embedder import Vectors
from classifier.topic.everyday import everyday_vectors
from classifier.topic.language_means import Languages
from classifier.words.batch import PageBatch

Scores = NDArray[np.float64]

NEIGHBOURS: Final = 20
# The weight of a neighbour: nearness to this power.
_NEARNESS_POWER: Final = 4
# Fewest pages with a vector, of the sample and everyday ones together, to estimate typical values.
MIN_PAGES: Final = 30
# With this many pages of the crawl, half of the everyday pages still count; with twice as many a third.
EVERYDAY_HALVED: Final = 30
# With this many pages of the crawl, similar pages have half of their weight.
FEW_PAGES: Final = 30
# A page with a higher cosine is the page itself.
SAME: Final = 0.9995
# Of the covariance's mean variance. Values from 1 to 5 were equal on labelled headlines and articles.
RIDGE: Final = 2.0
_LEFT_OUT: Final = 0.05
# A covariance of more dimensions takes seconds to solve; the centre is used instead.
MAX_SOLVED: Final = 2_048
_TINY: Final = 1e-9
# Pages compared at once, to bound memory.
_ROWS: Final = 500


@dataclass(frozen=True, slots=True)
class Space:
    """The sample's pages in one space, ready for all topics; immutable."""

    name: str
    languages: Languages
    pages: Vectors
    """Centred unit vectors: the sample's, then everyday pages; 0 for a page without a vector."""
    known: NDArray[np.bool_]
    near: NDArray[np.int64]
    """Numbers of each page's nearest, shape (pages, neighbours)."""
    weights: Scores
    """Of :attr:`near`; rows of sum 1 or 0."""
    products: Vectors
    """``pages.T @ pages``; of shape (0, 0) with more than :data:`MAX_SOLVED` dimensions."""
    depths: Scores
    """Of :attr:`pages`, as :attr:`~classifier.words.batch.PageBatch.depths`; 0 for everyday pages."""
    sample: int
    """Number of :attr:`pages` that are the sample's."""
    own: int
    """Number of those with a vector."""

    @property
    def trust(self) -> float:
        """Weight of similar pages, 0 to 1: among few pages the nearest are not near."""
        return self.own / (self.own + FEW_PAGES)

    @classmethod
    def of(cls, sample: PageBatch) -> Self | None:
        """Prepare the sample; None if too few of its pages have a vector."""
        rows = sample.meanings
        own = int(rows.any(axis=1).sum())
        general = everyday_vectors(sample.background.meanings.space)
        if general is not None and rows.shape[1] in {1, general.shape[1]}:
            empty = np.zeros((len(rows), general.shape[1]), dtype=np.float32)
            count = round(len(general) / (1 + own / EVERYDAY_HALVED))
            rows = np.concatenate([empty if rows.shape[1] == 1 else rows, general[:count]])
        known: NDArray[np.bool_] = np.asarray(rows.any(axis=1), dtype=np.bool_)
        if int(known.sum()) < MIN_PAGES:
            return None
        name = sample.background.meanings.space
        languages = Languages.of(rows[known], name, own)
        pages = languages.centred(rows)
        near, weights = nearest(pages, pages)
        solved = pages.shape[1] <= MAX_SOLVED
        products = pages.T @ pages if solved else np.zeros((0, 0), dtype=np.float32)
        depths = np.zeros(len(rows))
        depths[: len(sample)] = sample.depths
        return cls(
            name,
            languages,
            pages,
            known,
            near,
            weights,
            products,
            depths,
            len(sample),
            own,
        )

    def placed(self, batch: PageBatch) -> Vectors:
        """Return centred unit vectors of pages; 0 for those without one."""
        rows = batch.meanings
        if rows.shape[1] != self.pages.shape[1]:
            return np.zeros((len(batch), self.pages.shape[1]), dtype=np.float32)
        return self.languages.centred(rows)

    def turned(self, centre: Vectors, weight: float) -> Vectors:
        """Return the unit vector between a centre (0) and its discriminant (1)."""
        if not len(self.products):
            return centre
        known = self.pages[self.known]
        count = int(_LEFT_OUT * len(known))
        topic = known[np.argpartition(-(known @ centre), count)[:count]]
        others = len(known) - count
        mean = (known.sum(axis=0) - topic.sum(axis=0)) / others
        spread = (self.products - topic.T @ topic) / others - np.outer(mean, mean)
        variance = float(np.trace(spread)) / len(spread)
        # Identical pages have no variance.
        if variance <= _TINY:
            return centre
        spread[np.diag_indices(len(spread))] += RIDGE * variance
        found = unit(np.linalg.solve(spread, centre - mean))
        return unit((1 - weight) * centre + weight * found)


def space_of(sample: PageBatch) -> Space | None:
    """Return the prepared space of a sample, made once; None = too few of its pages have a vector."""
    if not sample.background.meanings.space:
        return None
    if sample.space is None:
        sample.space = (Space.of(sample),)
    found: Space | None = sample.space[0]
    return found


def unit(vector: Vectors) -> Vectors:
    """Return one vector with length 1; the zero vector stays one."""
    return (vector / (float(np.linalg.norm(vector)) or 1.0)).astype(np.float32)


def nearest(pages: Vectors, others: Vectors) -> tuple[NDArray[np.int64], Scores]:
    """Return each page's nearest others and their weights: of sum 1, less where hardly any is near."""
    count = min(NEIGHBOURS, len(others))
    near = np.zeros((len(pages), count), dtype=np.int64)
    weights = np.zeros((len(pages), count))
    for start in range(0, len(pages), _ROWS):
        part = slice(start, start + _ROWS)
        alike = pages[part] @ others.T
        alike[alike > SAME] = 0.0
        near[part], weights[part] = neighbours(alike, count, _NEARNESS_POWER)
    return near, weights


def neighbours(alike: NDArray[Any], most: int, power: int) -> tuple[NDArray[np.int64], Scores]:
    """Return each row's *most* columns of the highest cosines, and those to a power as weights of sum 1.

    Of less, where hardly any cosine is above 0.
    """
    count = min(most, alike.shape[1])
    near = np.argpartition(-alike, count - 1, axis=1)[:, :count]
    found = np.take_along_axis(alike, near, axis=1).clip(0.0).astype(np.float64) ** power
    return near, found / (found.sum(axis=1, keepdims=True) + _TINY)
