"""Whether a crawl has pages on a topic at all: how near they are to it beside everyday pages.

::

    standing(page) = (cosine to the evidence - mean of everyday pages') / deviation of those in its language
    median         = of the sample's standings, drawn to 0 while few pages were read
    near           = pages with a standing of NEAR or more beyond the median, or beyond 0 if that is higher
    moving         = near / TOPIC_NEAR, as many pages as the topic may have, or near if the median is below 0
    at most        = share of pages with a standing of NEAR or more / TOPIC_NEAR

All other scores are relative to the crawl, whose mean is subtracted from its pages: some are always the
nearest. Here vectors are less the shipped mean of their language, which no crawl changes, and a cosine of two
languages, which varies less, counts in the deviations of such. The median of a site of the topic's genre is
above 0, but its pages may be the topic's own: the share counts from 0, and only the pages that move a centre
are counted from the median. With the near ones alone, topics that a blog has lost a third of their pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from classifier.embedding.embedder import Vectors
from classifier.topic.everyday import everyday_vectors
from classifier.topic.language_means import Languages

NEAR: Final = 1.0
# Share of a topic's own pages that stand so near: half of them for a sentence, more for examples.
TOPIC_NEAR: Final = 0.5
# Before a page is read the share is USUAL, which weighs as many pages.
_USUAL: Final = 0.1
_USUAL_PAGES: Final = 10
# With this many pages of the crawl, its median counts by half.
MOVING_PAGES: Final = 2.0


@dataclass(frozen=True, slots=True)
class Presence:
    """Where the sample's pages stand; immutable."""

    moving: int
    """How many of the nearest pages may say more about the topic."""
    at_most: float
    """The largest share of pages that may be on topic."""
    below: float
    """How far the median lies below everyday pages, in their deviations; 0 if it is above."""

    @classmethod
    def of(cls, given: Vectors, pages: Vectors, space: str) -> Self | None:
        """Compare the sample's vectors with those of the evidence; None = no everyday pages are shipped."""
        everyday = everyday_vectors(space)
        known = pages.any(axis=1)
        if everyday is None or not given.any() or not known.any():
            return None
        languages = Languages.shipped(everyday, space)
        centre = languages.centred(given[given.any(axis=1)]).mean(axis=0)
        usual = languages.centred(everyday) @ centre
        spreads = languages.deviations(everyday, usual)[languages.of_each(pages)]
        standings = (languages.centred(pages) @ centre - usual.mean()) / spreads
        count = int(known.sum())
        median = float(np.median(standings[known])) * count / (count + MOVING_PAGES)
        near = int((standings[known] - max(0.0, median) >= NEAR).sum())
        close = int((standings[known] >= NEAR).sum()) / TOPIC_NEAR
        return cls(
            int(near / TOPIC_NEAR) if median >= 0 else near,
            min(1.0, (close + _USUAL * _USUAL_PAGES) / (count + _USUAL_PAGES)),
            max(0.0, -median),
        )
