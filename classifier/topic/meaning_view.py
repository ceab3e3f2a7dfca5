"""Judging by embeddings, in addition to words.

::

    examples -> centre                                      in a space: see meaning_space.py
        the sample's nearest pages move it                  (pseudo-relevance feedback, as for words)
        pages marked irrelevant move it away
        turned to its discriminant, more so with more examples
    b(page) = cosine to the centre + WORDS * depth * score by words     each in the sample's deviations
    r(page) = (1 - SPREAD) * b(page) + SPREAD * mean r of its nearest pages in the sample

Words are weighted by the page's depth, terms / (terms + FEW_TERMS): a headline has too few. The last
line spreads scores over similar pages (personalised PageRank on the graph of nearest pages: Page et al.
1999, section 2.6; Zhou et al. 2004, "Learning with local and global consistency", eq. 4). A page without a
vector gets its score by words, at the same scale.

:class:`Presence` says whether a crawl has pages on a topic at all: how near they are to it beside everyday
pages.

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

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from classifier.embedding.embedder import Vectors
from classifier.embedding.meaning import Meaning
from classifier.embedding.packing import unpacked
from classifier.topic.everyday import everyday_vectors
from classifier.topic.fusion import (
    FEEDBACK_PAGES,
    FEEDBACK_ROUNDS,
    feedback_weight,
    wrong_weight,
)
from classifier.topic.language_means import Languages
from classifier.topic.meaning_space import MIN_PAGES, SAME, Space, nearest, unit
from classifier.words.batch import PageBatch
from classifier.words.errors import reading

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


Scores = NDArray[np.float64]

# Weight of the score by words against that by vector, on a page with many words.
WORDS: Final = 1.1
SPREAD: Final = 0.7
_SPREAD_ROUNDS: Final = 8
# With this many examples, the centre is turned halfway to its discriminant.
TURN_HALVED: Final = 0.5
_REACH: Final = 6.0
# Deviation of sites' means, in everyday pages' deviations: news in English and sentences in Chinese are
# about two nearer to a topic of their own than everyday pages.
SITES_APART: Final = 1.8


@dataclass(frozen=True, slots=True)
class MeaningView:
    """A topic's place in a space, fitted; immutable."""

    space: Space
    centre: Vectors
    """Unit vector."""
    trust: float
    """Weight of words, 0 to 1: the share of examples in a language of the sample."""
    means: tuple[float, float]
    """Of the cosines and of the scores by words, over the sample."""
    deviations: tuple[float, float]
    sample_scores: Scores
    """The :meth:`scores` of the space's pages."""
    presence: Presence | None = None
    """None = unknown, or a view that was stored."""

    @classmethod
    def fit(  # noqa: PLR0913 - the evidence, and what it is compared with
        cls,
        examples: Vectors,
        wrong: Vectors,
        space: Space,
        words: Scores,
        *,
        trust: float = 1.0,
        presence: Presence | None = None,
    ) -> Self | None:
        """Learn from the centred vectors of examples and rejected pages; None without an example.

        *words* are the sample's scores by words, *trust* how far they count; *presence* says how many
        of its pages may move the centre.
        """
        examples, wrong = examples[examples.any(axis=1)], wrong[wrong.any(axis=1)]
        if not len(examples):
            return None
        own = unit(examples.mean(axis=0))
        if len(wrong):
            own = unit(own - wrong_weight(len(wrong)) * unit(wrong.mean(axis=0)))
        # Everyday pages are never on topic.
        free = space.known & (np.arange(len(space.pages)) < space.sample)
        if len(wrong):
            free &= (space.pages @ wrong.T).max(axis=1) < SAME
        most = min(FEEDBACK_PAGES, presence.moving) if presence is not None else FEEDBACK_PAGES
        centre = own
        for _ in range(FEEDBACK_ROUNDS):
            cosines = np.where(free, space.pages @ centre, -2.0)
            moving = (-cosines).argsort(kind="stable")[:most]
            moving = moving[free[moving]]
            if len(moving):
                weight = feedback_weight(len(examples), len(moving), space.own) * space.trust
                centre = unit(own + weight * unit(space.pages[moving].mean(axis=0)))
        centre = space.turned(centre, len(examples) / (len(examples) + TURN_HALVED))
        return replace(cls.with_centre(centre, space, words, trust), presence=presence)

    @classmethod
    def with_centre(cls, centre: Vectors, space: Space, words: Scores, trust: float) -> Self:
        """Measure a centre on the space's pages."""
        cosines = (space.pages @ centre).astype(np.float64)
        # Everyday pages, which have no terms, count as average by words.
        padded = np.full(len(space.pages), float(words.mean()) if len(words) else 0.0)
        padded[: len(words)] = words
        measured = cosines[space.known]
        means = (float(measured.mean()), float(words.mean()) if len(words) else 0.0)
        deviations = (
            max(float(measured.std()), 1e-6),
            max(float(words.std()), 1e-6) if len(words) >= MIN_PAGES else 1.0,
        )
        own = _standard(cosines, means[0], deviations[0])
        own = own + WORDS * trust * space.depths * _standard(padded, means[1], deviations[1])
        spread, part = own, SPREAD * space.trust
        for _ in range(_SPREAD_ROUNDS):
            similar = _mean_of(spread, space.near, space.weights)
            spread = (1 - part) * own + part * similar
        return cls(space, centre, trust, means, deviations, np.where(space.known, spread, 0.0))

    def usual_scores(self) -> tuple[Scores, Scores]:
        """Return the scores of the sample's pages, and of everyday ones moved to where those are.

        All pages of a site are nearer to a topic of its genre than everyday pages are, by how much its
        first pages show: the fewer they are, the wider everyday pages are spread. Where the site is no
        nearer, everyday pages stay above it by as much as :attr:`presence` says.
        """
        end = self.space.sample
        own = self.sample_scores[:end][self.space.known[:end]]
        everyday = self.sample_scores[end:]
        if len(everyday):
            unknown = MOVING_PAGES / (len(own) + MOVING_PAGES)
            middle = np.median(everyday)
            moved = (1 - unknown) * (np.median(own) - middle) if len(own) else 0.0
            spread = math.sqrt(1 + unknown * SITES_APART**2)
            if self.presence is not None:
                moved += self.presence.below * everyday.std()
            everyday = middle + moved + spread * (everyday - middle)
        return own, everyday

    def scores(self, batch: PageBatch, words: Scores) -> Scores:
        """Return the scores of pages; *words* are their scores by words."""
        placed = self.space.placed(batch)
        known = placed.any(axis=1)
        by_words = _standard(words, self.means[1], self.deviations[1])
        own = self._by_meaning(placed) + WORDS * (self.trust * batch.depths) * by_words
        spread = self._spread(own, placed)
        measured = self.sample_scores[self.space.known]
        alone = (words - self.means[1]) / self.deviations[1] * measured.std() + measured.mean()
        return np.asarray(np.where(known, spread, alone), dtype=np.float64)

    def of_texts(self, meanings: Sequence[Meaning | None]) -> Scores:
        """Return the scores of texts by their vectors alone; NaN for a vector of another space.

        Their words count as usual; on the scale of :meth:`scores`.
        """
        placed = self.placed(meanings)
        own = self._by_meaning(placed)
        return np.where(placed.any(axis=1), self._spread(own, placed), np.nan)

    def _spread(self, own: Scores, placed: Vectors) -> Scores:
        """Mix scores with those of the nearest pages."""
        near, weights = nearest(placed, self.space.pages)
        part = SPREAD * self.space.trust
        return (1 - part) * own + part * _mean_of(self.sample_scores, near, weights)

    def nearest_of(self, placed: Vectors, examples: PageBatch) -> list[tuple[int, float]]:
        """Return for each centred vector the number of the nearest example, and the cosine; -1 = unknown."""
        known = self.space.placed(examples)
        cosines = np.where(known.any(axis=1), placed @ known.T, -1.0)
        if not cosines.shape[1]:
            return [(-1, 0.0)] * len(placed)
        found = zip(cosines.argmax(axis=1).tolist(), cosines.max(axis=1).tolist(), strict=True)
        return [(number, alike) if alike > 0 else (-1, 0.0) for number, alike in found]

    def placed(self, meanings: Sequence[Meaning | None]) -> Vectors:
        """Return centred unit vectors; 0 for a text without one of this space."""
        size = self.space.pages.shape[1]
        rows = np.zeros((len(meanings), size), dtype=np.float32)
        for row, one in zip(rows, meanings, strict=True):
            if one is not None and one.space == self.space.name and len(one.packed) == size:
                row[:] = unpacked([one.packed])[0]
        return self.space.languages.centred(rows)

    def _by_meaning(self, placed: Vectors) -> Scores:
        cosines = (placed @ self.centre).astype(np.float64)
        return _standard(cosines, self.means[0], self.deviations[0])

    def to_json(self) -> dict[str, Any]:
        """Return plain data; the rest is measured again."""
        centre = [round(float(x), 5) for x in self.centre]
        return {"space": self.space.name, "centre": centre, "trust": self.trust}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], space: Space, words: Scores) -> Self | None:
        """Read the form of :meth:`to_json`; None if it is of another space. Raises TopicModelError."""
        with reading("meaning"):
            centre = np.asarray(data["centre"], dtype=np.float32)
            name, trust = str(data["space"]), float(data["trust"])
        if name != space.name or centre.shape != space.pages.shape[1:]:
            return None
        return cls.with_centre(centre, space, words, trust)


def _standard(scores: Scores, mean: float, deviation: float) -> Scores:
    return np.asarray(((scores - mean) / deviation).clip(-_REACH, _REACH), dtype=np.float64)


def _mean_of(scores: Scores, near: NDArray[np.int64], weights: Scores) -> Scores:
    return np.asarray((scores[near] * weights).sum(axis=1), dtype=np.float64)
