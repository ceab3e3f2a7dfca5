"""Naive Bayes over weighted terms, by normal or by kernel densities (paper 004, section 2).

::

    {term: tf}  ->  w = (0.5 + 0.5 tf / max tf) * ln(|E| / df)  ->  log P(+|x) / P(-|x)

E are the examples of both classes, df the number that hold the term; a missing term weighs 0. Each
term's weight has a density per class: normal, or the mean of gaussians at the class's training values
with sigma ``1/sqrt(n)`` (John and Langley; the scan prints 1/n).
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from classifier.papers.rankers import Fitted, LinearRanker
from classifier.words.background import Background
from classifier.words.batch import PageBatch, Terms
from classifier.words.vectors import Vector, Vocabulary, top

MAX_TERMS_PER_EXAMPLE: Final = 200
# Terms of a model, those of the most examples; the paper takes all.
MAX_FEATURES: Final = 8_000
# Of a normal density: a term with identical weights has no deviation. The paper leaves this open.
FLOOR_DEVIATION: Final = 0.3
# Limit of one term's log-odds: far from all training values both densities are near 0 and their
# ratio is noise. Best of 2, 3 and 6 for both densities, on four topics other than those reported; at
# 6 the kernel's harvest was a tenth lower.
_MAX_VOTE: Final = 3.0


class Density(StrEnum):
    """The distribution of a term's weights in a class."""

    NORMAL = "normal"
    KERNEL = "kernel"


def weights_of(terms: Mapping[str, float]) -> Vector:
    """Return 0.5 + 0.5 tf / max tf of a text's heaviest terms."""
    heaviest = sorted(terms.items(), key=lambda item: -item[1])[:MAX_TERMS_PER_EXAMPLE]
    return {term: 0.5 + 0.5 * count / heaviest[0][1] for term, count in heaviest if count > 0}


@dataclass(frozen=True, slots=True)
class _ClassValues:
    """The non-zero weights of one class's examples, by term."""

    count: int
    """Number of examples."""
    starts: NDArray[np.int64]
    values: NDArray[np.float64]

    def log_densities(
        self, density: Density, columns: NDArray[np.int64], at: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the log density of each (term, weight) pair."""
        if density is Density.NORMAL:
            return self._normal(columns, at)
        return self._kernel(columns, at)

    def _normal(self, columns: NDArray[np.int64], at: NDArray[np.float64]) -> NDArray[np.float64]:
        features = len(self.starts) - 1
        owner = np.repeat(np.arange(features), np.diff(self.starts))
        means = np.bincount(owner, self.values, features) / self.count
        squares = np.bincount(owner, np.square(self.values), features) / self.count
        deviations = np.sqrt(np.maximum(squares - np.square(means), FLOOR_DEVIATION**2))[columns]
        normal: NDArray[np.float64] = -0.5 * np.square((at - means[columns]) / deviations)
        return normal - np.log(deviations)

    def _kernel(self, columns: NDArray[np.int64], at: NDArray[np.float64]) -> NDArray[np.float64]:
        sharpness = self.count / 2.0  # 1 / (2 sigma^2)
        held = np.diff(self.starts)[columns]
        offsets = np.arange(held.sum()) - np.repeat(np.cumsum(held) - held, held)
        values = self.values[np.repeat(self.starts[columns], held) + offsets]
        owner = np.repeat(np.arange(len(columns)), held)
        hills = np.exp(-sharpness * np.square(at[owner] - values))
        total = np.bincount(owner, hills, len(columns)).astype(np.float64)  # of nothing: integers
        total += (self.count - held) * np.exp(-sharpness * np.square(at))
        return np.log(np.maximum(total, 1e-300)) - 0.5 * math.log(self.count)


class BayesModel(Fitted):
    """A model fitted to texts of both classes; immutable. ValueError if a class has none."""

    def __init__(
        self,
        positives: Sequence[Mapping[str, float]],
        negatives: Sequence[Mapping[str, float]],
        density: Density,
    ) -> None:
        if not positives or not negatives:
            raise ValueError("each class needs an example")
        self._density = density
        held = Counter(term for text in (*positives, *negatives) for term in weights_of(text))
        common = dict(held.most_common(MAX_FEATURES))
        self._vocabulary = Vocabulary({term: column for column, term in enumerate(common)})
        counts = np.array(list(common.values()), dtype=np.float64)
        self._idf = np.log((len(positives) + len(negatives)) / counts)
        self._classes = (self._values(positives), self._values(negatives))
        every = np.arange(len(common))
        # Most weights are 0: all densities at 0 are summed once, and a text only changes those of its own
        # terms. So 200 links take milliseconds.
        self._at_zero = self._votes(every, np.zeros(len(common)))
        # The log-odds of a text without any known term.
        self._base = math.log(len(positives) / len(negatives)) + float(self._at_zero.sum())

    def scores(self, batch: PageBatch) -> NDArray[np.float64]:
        """Return log P(+|x) - log P(-|x) of each page."""
        rows = self._weighted(batch.pages)
        owners = np.repeat(np.arange(len(batch)), np.diff(rows.indptr))
        votes = self._clipped(rows.indices, rows.data)
        return np.asarray(self._base + np.bincount(owners, votes, len(batch)), dtype=np.float64)

    def terms(self, page: Terms, count: int) -> list[tuple[str, float]]:
        """Return the terms that add most to the log-odds."""
        return [(term, vote) for term, vote in top(self.votes(page), count) if vote > 0]

    def votes(self, text: Mapping[str, float]) -> Vector:
        """Return what each known term contributes to the log-odds, on top of a text without any."""
        row = self._weighted([text])
        terms = self._vocabulary.terms
        votes = self._clipped(row.indices, row.data).tolist()
        return {terms[column]: vote for column, vote in zip(row.indices, votes, strict=True)}

    def _clipped(
        self, columns: NDArray[np.int64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        votes = self._votes(columns, weights) - self._at_zero[columns]
        clipped: NDArray[np.float64] = np.clip(votes, -_MAX_VOTE, _MAX_VOTE)
        return clipped

    def _votes(self, columns: NDArray[np.int64], at: NDArray[np.float64]) -> NDArray[np.float64]:
        positive, negative = (
            values.log_densities(self._density, columns, at) for values in self._classes
        )
        return positive - negative

    def _weighted(self, texts: Sequence[Mapping[str, float]]) -> Any:  # noqa: ANN401 - scipy has no types
        """Return the weights of the known terms, CSR of shape (texts, terms)."""
        rows = self._vocabulary.rows(map(weights_of, texts))
        rows.data *= self._idf[rows.indices]
        return rows

    def _values(self, texts: Sequence[Mapping[str, float]]) -> _ClassValues:
        columns = self._weighted(texts).tocsc()
        return _ClassValues(len(texts), columns.indptr.astype(np.int64), columns.data)


def bayes(
    positives: Sequence[Terms],
    negatives: Sequence[Terms],
    background: Background,
    density: Density,
) -> Fitted:
    """Return a model fitted to both; without a page of either every page scores 0."""
    right, wrong = [page for page in positives if page], [page for page in negatives if page]
    return BayesModel(right, wrong, density) if right and wrong else LinearRanker(background, {})
