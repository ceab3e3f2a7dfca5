"""Pages prepared for scoring: unit tf-idf vectors, and unit places among the concepts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from classifier.embedding.embedder import Vectors, units
from classifier.embedding.meaning import Meaning
from classifier.words.background import Background
from classifier.words.concepts import SCALES, Concepts
from classifier.words.sample import MAX_TERMS_PER_PAGE, page_key
from classifier.words.vectors import Vector, Vocabulary

Terms = Mapping[str, float]
"""Weighted term counts of one page, as :func:`classifier.words.text.weighted_terms` gives them."""

# Distinct terms with which a page's words count by half beside its vector: a headline has about seven,
# an abstract fifty, an article more than the sample keeps.
FEW_TERMS: Final = 30


class PageBatch:
    """Pages in order; everything is computed on first use."""

    def __init__(
        self,
        pages: Sequence[Terms],
        background: Background,
        like: PageBatch | None = None,
        own: Sequence[Meaning | None] = (),
    ) -> None:
        self.pages = pages
        # Vectors of these pages, in their order; without one a page has that which the background knows.
        self._own = own
        # A sample with the weights of these pages' neighbours in it; see :mod:`.fused`.
        self.near: tuple[PageBatch, Any] | None = None
        # The sample's space by :mod:`.meaning_space`, once computed, or None.
        self.space: tuple[Any] | None = None
        self.space_mark = background.meanings.mark
        self.background = background
        # A topic keeps the concepts it was trained with, or none, although the background may have newer
        # ones.
        self.concepts: Concepts | None = background.concepts if like is None else like.concepts

    def __len__(self) -> int:
        return len(self.pages)

    @cached_property
    def vectors(self) -> list[Vector]:
        """Unit tf-idf vectors; a page without terms has the empty one."""
        return [self.background.vector(page) for page in self.pages]

    @cached_property
    def meanings(self) -> Vectors:
        """Unit vectors of the pages, shape (pages, dimension); 0 for pages without one."""
        return self.background.meanings.rows(self.pages, self._own)

    @cached_property
    def depths(self) -> NDArray[np.float64]:
        """Reliability of each page's words, 0 to 1: half at :data:`FEW_TERMS` terms."""
        counts = np.array([min(len(page), MAX_TERMS_PER_PAGE) for page in self.pages], dtype=float)
        return np.asarray(counts / (counts + FEW_TERMS))

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The terms of these pages."""
        return Vocabulary.of(self.pages)

    @cached_property
    def rows(self) -> Any:  # noqa: ANN401 - scipy has no types
        """:attr:`vectors` as a CSR matrix over :attr:`vocabulary`."""
        return self.vocabulary.rows(self.vectors)

    @cached_property
    def places(self) -> tuple[NDArray[np.float64], ...]:
        """Unit places, shape (pages, width), one per :data:`SCALES`; () without concepts."""
        if self.concepts is None:
            return ()
        return scaled(self.rows @ self.concepts.of_terms(self.vocabulary))

    @cached_property
    def fresh(self) -> NDArray[np.bool_]:
        """Pages held out of the concepts; none without concepts."""
        if self.concepts is None:
            return np.zeros(len(self), dtype=np.bool_)
        return np.array([page_key(page) not in self.concepts.learned for page in self.pages], bool)

    def cosines(self, centre: Vector) -> NDArray[np.float64]:
        """Return each page's inner product with a vector over terms."""
        return np.asarray(self.rows @ self.vocabulary.dense(centre), dtype=np.float64)

    def likeness(self, vectors: Sequence[Terms]) -> NDArray[np.float64]:
        """Return each page's inner product with each of some vectors, shape (pages, vectors)."""
        if not vectors or not len(self.vocabulary):
            return np.zeros((len(self), len(vectors)))
        others = self.vocabulary.rows(vectors)
        return np.asarray((self.rows @ others.T).todense(), dtype=np.float64)


# Of the background's sample, pages that a topic is measured on.
SAMPLE_PAGES: Final = 5_000
# The sample is prepared again when the background has grown by a tenth.
_STALE: Final = 1.1


def sample_of(background: Background) -> PageBatch:
    """Return the background's prepared sample."""
    # Cached: every topic is measured on it, and preparing costs far more than scoring.
    pages, ready = background.ready
    grown = background.pages > pages * _STALE
    stale = isinstance(ready, PageBatch) and background.meanings.outgrew(ready.space_mark)
    if (
        not isinstance(ready, PageBatch)
        or ready.concepts is not background.concepts
        or grown
        or stale
    ):
        ready = PageBatch(background.sample.pages[:SAMPLE_PAGES], background)
        background.ready = (background.pages, ready)
    return ready


def scaled(places: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """Return places cut to each scale's dimensions, every row of length 1 or 0."""
    return tuple(units(places[:, :width]) for width in SCALES)


def np_array(values: Any) -> NDArray[np.float64]:  # noqa: ANN401 - whatever numpy takes
    """Return an array of float64."""
    return np.asarray(values, dtype=np.float64)
