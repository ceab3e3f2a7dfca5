"""Judging by meaning: what sentence embeddings add to the words of a topic.

::

    vectors - the sample's mean, again of length 1          what all pages share says nothing
    examples -> centre
        the sample's nearest pages move it                  (pseudo-relevance feedback, as of the words)
        what the user marked irrelevant moves it away
    b(page) = cosine to the centre + WORDS * score by words         each in the sample's deviations
    r(page) = (1 - SPREAD) * b(page) + SPREAD * mean r of its nearest pages in the sample

The last line spreads scores along similar pages (personalised PageRank on the graph of nearest pages:
Page et al. 1999, section 2.6; Zhou et al. 2004, "Learning with local and global consistency", eq. 4). A page
without a vector gets its score by words, at the same scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from classifier.embedding.embedder import Vectors
from classifier.embedding.meaning import Meaning
from classifier.embedding.packing import unpacked
from classifier.topic.batch import PageBatch
from classifier.topic.errors import reading
from classifier.topic.everyday import everyday_vectors

Scores = NDArray[np.float64]

# The score by words against that by meaning.
WORDS: Final = 0.75
SPREAD: Final = 0.65
_SPREAD_ROUNDS: Final = 8
NEIGHBOURS: Final = 15
FEEDBACK_PAGES: Final = 20
# Divided by the number of examples, at most 1: the weight of the feedback.
FEEDBACK_STRENGTH: Final = 2.5
_FEEDBACK_ROUNDS: Final = 2
_WRONG_WEIGHT: Final = 0.25
# Pages with a vector, of the sample and everyday ones together, below which nothing is known of the usual.
MIN_PAGES: Final = 30
# With so many pages of the crawl, half of the everyday pages stand beside them; with twice as many a third.
EVERYDAY_HALVED: Final = 30
# With so many pages of the crawl, similar pages have half of their weight.
FEW_PAGES: Final = 30
# A cosine above it: the page itself.
_SAME: Final = 0.9995
_REACH: Final = 6.0
_TINY: Final = 1e-9
# Pages compared at once, to bound memory.
_ROWS: Final = 500


@dataclass(frozen=True, slots=True)
class Space:
    """The sample's pages in one space, ready for all topics; immutable."""

    name: str
    mean: Vectors
    pages: Vectors
    """Centred unit vectors: the sample's, then everyday pages; 0 for a page without a vector."""
    known: NDArray[np.bool_]
    near: NDArray[np.int64]
    """Numbers of each page's nearest, shape (pages, neighbours)."""
    weights: Scores
    """Of :attr:`near`; rows of sum 1 or 0."""
    sample: int
    """How many of :attr:`pages` are the sample's."""
    own: int
    """How many of those have a vector."""

    @property
    def spread(self) -> float:
        """The weight of similar pages: among few pages the nearest are not near."""
        return SPREAD * self.own / (self.own + FEW_PAGES)

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
        mean = rows[known].mean(axis=0)
        pages = _centred(rows, mean)
        near, weights = _nearest(pages, pages)
        name = sample.background.meanings.space
        return cls(name, mean, pages, known, near, weights, len(sample), own)

    def placed(self, batch: PageBatch) -> Vectors:
        """Return centred unit vectors of pages; 0 for those without one."""
        rows = batch.meanings
        if rows.shape[1] != len(self.mean):
            return np.zeros((len(batch), len(self.mean)), dtype=np.float32)
        return _centred(rows, self.mean)


def space_of(sample: PageBatch) -> Space | None:
    """Return the prepared space of a sample, made once; None = too few of its pages have a vector."""
    if not sample.background.meanings.space:
        return None
    if sample.space is None:
        sample.space = (Space.of(sample),)
    found: Space | None = sample.space[0]
    return found


@dataclass(frozen=True, slots=True)
class MeaningView:
    """A topic's place in a space, fitted; immutable."""

    space: Space
    centre: Vectors
    """Unit vector."""
    means: tuple[float, float]
    """Of the cosines and of the scores by words, over the sample."""
    deviations: tuple[float, float]
    sample_scores: Scores
    """What :meth:`scores` says of the space's pages."""

    @classmethod
    def fit(cls, examples: Vectors, wrong: Vectors, space: Space, words: Scores) -> Self | None:
        """Learn from the centred vectors of examples and rejected pages; None without an example.

        *words* are the sample's scores by words.
        """
        examples, wrong = examples[examples.any(axis=1)], wrong[wrong.any(axis=1)]
        if not len(examples):
            return None
        own = _unit(examples.mean(axis=0))
        if len(wrong):
            own = _unit(own - _WRONG_WEIGHT * _unit(wrong.mean(axis=0)))
        # Everyday pages are of no topic.
        free = space.known & (np.arange(len(space.pages)) < space.sample)
        if len(wrong):
            free &= (space.pages @ wrong.T).max(axis=1) < _SAME
        weight = min(1.0, FEEDBACK_STRENGTH / len(examples)) * space.spread / SPREAD
        centre = own
        for _ in range(_FEEDBACK_ROUNDS):
            cosines = np.where(free, space.pages @ centre, -2.0)
            nearest = (-cosines).argsort(kind="stable")[:FEEDBACK_PAGES]
            nearest = nearest[free[nearest]]
            if len(nearest):
                centre = _unit(own + weight * _unit(space.pages[nearest].mean(axis=0)))
        return cls.with_centre(centre, space, words)

    @classmethod
    def with_centre(cls, centre: Vectors, space: Space, words: Scores) -> Self:
        """Measure a centre on the space's pages."""
        cosines = (space.pages @ centre).astype(np.float64)
        # Everyday pages, which have no terms, count as usual by words.
        padded = np.full(len(space.pages), float(words.mean()) if len(words) else 0.0)
        padded[: len(words)] = words
        measured = cosines[space.known]
        means = (float(measured.mean()), float(words.mean()) if len(words) else 0.0)
        deviations = (
            max(float(measured.std()), 1e-6),
            max(float(words.std()), 1e-6) if len(words) >= MIN_PAGES else 1.0,
        )
        own = _base(cosines, padded, means, deviations)
        spread = own
        for _ in range(_SPREAD_ROUNDS):
            similar = _mean_of(spread, space.near, space.weights)
            spread = (1 - space.spread) * own + space.spread * similar
        return cls(space, centre, means, deviations, np.where(space.known, spread, 0.0))

    def scores(self, batch: PageBatch, words: Scores) -> Scores:
        """Return the scores of pages; *words* are their scores by words."""
        placed = self.space.placed(batch)
        known = placed.any(axis=1)
        own = _base((placed @ self.centre).astype(np.float64), words, self.means, self.deviations)
        near, weights = _nearest(placed, self.space.pages)
        part = self.space.spread
        spread = (1 - part) * own + part * _mean_of(self.sample_scores, near, weights)
        measured = self.sample_scores[self.space.known]
        alone = (words - self.means[1]) / self.deviations[1] * measured.std() + measured.mean()
        return np.asarray(np.where(known, spread, alone), dtype=np.float64)

    def of_texts(self, meanings: Sequence[Meaning | None]) -> Scores:
        """Return the scores of texts of which nothing but the vector is known; NaN for one of another space.

        Their words count as usual; on the scale of :meth:`scores`.
        """
        placed = self._placed(meanings)
        own = self._by_meaning((placed @ self.centre).astype(np.float64))
        near, weights = _nearest(placed, self.space.pages)
        part = self.space.spread
        spread = (1 - part) * own + part * _mean_of(self.sample_scores, near, weights)
        return np.where(placed.any(axis=1), spread, np.nan)

    def nearest_of(
        self, meanings: Sequence[Meaning | None], examples: PageBatch
    ) -> list[tuple[int, float]]:
        """Return for each text the number of the nearest example, and the cosine; -1 = nobody can say."""
        placed, known = self._placed(meanings), self.space.placed(examples)
        cosines = np.where(known.any(axis=1), placed @ known.T, -1.0)
        if not cosines.shape[1]:
            return [(-1, 0.0)] * len(meanings)
        found = zip(cosines.argmax(axis=1).tolist(), cosines.max(axis=1).tolist(), strict=True)
        return [(number, alike) if alike > 0 else (-1, 0.0) for number, alike in found]

    def _placed(self, meanings: Sequence[Meaning | None]) -> Vectors:
        """Return centred unit vectors; 0 for a text without one of this space."""
        size = len(self.space.mean)
        rows = np.zeros((len(meanings), size), dtype=np.float32)
        for row, one in zip(rows, meanings, strict=True):
            if one is not None and one.space == self.space.name and len(one.packed) == size:
                row[:] = unpacked([one.packed])[0]
        return _centred(rows, self.space.mean)

    def _by_meaning(self, cosines: Scores) -> Scores:
        return np.asarray(((cosines - self.means[0]) / self.deviations[0]).clip(-_REACH, _REACH))

    def parts(self, batch: PageBatch, words: Scores) -> list[tuple[str, float]]:
        """Return what meaning, words and similar pages add to the first page's score; () = no vector."""
        placed = self.space.placed(batch)
        if not placed.any():
            return []
        cosine = float((placed @ self.centre)[0])
        meaning = float(np.clip((cosine - self.means[0]) / self.deviations[0], -_REACH, _REACH))
        part = self.space.spread
        by_words = float((words[0] - self.means[1]) / self.deviations[1])
        near, weights = _nearest(placed, self.space.pages)
        similar = float(_mean_of(self.sample_scores, near, weights)[0])
        return [
            ("meaning", (1 - part) * meaning),
            ("words", (1 - part) * WORDS * float(np.clip(by_words, -_REACH, _REACH))),
            ("similar pages", part * similar),
        ]

    def best(self, meanings: Sequence[Meaning | None], texts: Sequence[str]) -> str:
        """Return the text whose vector is nearest to the topic; empty if none has one."""
        known = [
            (one.packed, text)
            for one, text in zip(meanings, texts, strict=True)
            if one is not None and one.space == self.space.name
        ]
        if not known:
            return ""
        placed = _centred(unpacked([packed for packed, _ in known]), self.space.mean)
        return known[int((placed @ self.centre).argmax())][1]

    def to_json(self) -> dict[str, Any]:
        """Return plain data; the rest is measured again."""
        return {"space": self.space.name, "centre": [round(float(x), 5) for x in self.centre]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], space: Space, words: Scores) -> Self | None:
        """Read the form of :meth:`to_json`; None if it is of another space. Raises TopicModelError."""
        with reading("meaning"):
            centre = np.asarray(data["centre"], dtype=np.float32)
            name = str(data["space"])
        if name != space.name or centre.shape != space.mean.shape:
            return None
        return cls.with_centre(centre, space, words)


def _base(
    cosines: Scores, words: Scores, means: tuple[float, float], deviations: tuple[float, float]
) -> Scores:
    meaning = ((cosines - means[0]) / deviations[0]).clip(-_REACH, _REACH)
    by_words = ((words - means[1]) / deviations[1]).clip(-_REACH, _REACH)
    return np.asarray(meaning + WORDS * by_words, dtype=np.float64)


def _mean_of(scores: Scores, near: NDArray[np.int64], weights: Scores) -> Scores:
    return np.asarray((scores[near] * weights).sum(axis=1), dtype=np.float64)


def _centred(rows: Vectors, mean: Vectors) -> Vectors:
    known = rows.any(axis=1, keepdims=True)
    moved = np.where(known, rows - mean, 0.0)
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    units: Vectors = np.divide(moved, lengths, out=np.zeros_like(moved), where=lengths > 0)
    return units.astype(np.float32)


def _unit(vector: Vectors) -> Vectors:
    return (vector / (float(np.linalg.norm(vector)) or 1.0)).astype(np.float32)


def _nearest(pages: Vectors, others: Vectors) -> tuple[NDArray[np.int64], Scores]:
    """Return each page's nearest others and their weights, squared cosines of sum 1."""
    count = min(NEIGHBOURS, len(others))
    near = np.zeros((len(pages), count), dtype=np.int64)
    weights = np.zeros((len(pages), count))
    for start in range(0, len(pages), _ROWS):
        part = slice(start, start + _ROWS)
        alike = pages[part] @ others.T
        alike[alike > _SAME] = 0.0
        best = np.argpartition(-alike, count - 1, axis=1)[:, :count]
        found = np.square(np.take_along_axis(alike, best, axis=1).clip(0.0).astype(np.float64))
        near[part], weights[part] = best, found / (found.sum(axis=1, keepdims=True) + _TINY)
    return near, weights
