"""Sparse term vectors: dicts for single pages, CSR matrices over a fixed vocabulary for batches."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A page has a few hundred terms, a link context a dozen: for one page a dict is faster than a matrix, for a
# thousand pages slower.
Vector = dict[str, float]
"""Term -> weight; a missing term weighs 0."""


def dot(left: Mapping[str, float], right: Mapping[str, float]) -> float:
    """Return the inner product, in time linear in the shorter vector."""
    if len(right) < len(left):
        left, right = right, left
    return sum(weight * right[term] for term, weight in left.items() if term in right)


def norm(vector: Mapping[str, float]) -> float:
    """Return the Euclidean length."""
    return math.sqrt(math.fsum(weight * weight for weight in vector.values()))


def unit(vector: Mapping[str, float]) -> Vector:
    """Return the vector with length 1; empty for an empty or zero vector."""
    length = norm(vector)
    if not length or not math.isfinite(length):
        return {}
    return {term: weight / length for term, weight in vector.items()}


def cosine(left: Mapping[str, float], right: Mapping[str, float]) -> float:
    """Return the cosine; 0 if either is empty. Non-negative weights give 0 to 1."""
    lengths = norm(left) * norm(right)
    return min(dot(left, right) / lengths, 1.0) if lengths else 0.0


def mean(vectors: Sequence[Mapping[str, float]]) -> Vector:
    """Return the arithmetic mean; empty for no vectors."""
    total: Vector = {}
    for vector in vectors:
        for term, weight in vector.items():
            total[term] = total.get(term, 0.0) + weight
    return {term: weight / len(vectors) for term, weight in total.items()}


def top(vector: Mapping[str, float], count: int) -> list[tuple[str, float]]:
    """Return the heaviest terms, heaviest first; ties alphabetically."""
    return sorted(vector.items(), key=lambda item: (-item[1], item[0]))[:count]


def truncated(vector: Mapping[str, float], count: int) -> Vector:
    """Return the vector cut to its *count* heaviest terms."""
    return dict(vector) if len(vector) <= count else dict(top(vector, count))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A fixed numbering of terms; terms outside it are dropped."""

    columns: dict[str, int]

    @classmethod
    def of(cls, pages: Iterable[Mapping[str, float]]) -> Vocabulary:
        """Return a numbering of all terms, in sorted order."""
        terms = sorted(set().union(*pages))
        return cls({term: column for column, term in enumerate(terms)})

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms in the order of their columns."""
        return tuple(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def rows(self, vectors: Iterable[Mapping[str, float]]) -> Any:  # noqa: ANN401 - scipy has no types
        """Return a CSR matrix of float64, a row for each vector."""
        from scipy.sparse import csr_matrix  # noqa: PLC0415 - heavy

        data: list[float] = []
        indices: list[int] = []
        starts = [0]
        for vector in vectors:
            for term, weight in vector.items():
                column = self.columns.get(term)
                if column is not None:
                    indices.append(column)
                    data.append(weight)
            starts.append(len(indices))
        shape = (len(starts) - 1, len(self.columns))
        parts = (np.array(data, dtype=np.float64), np.array(indices, np.int32), np.array(starts))
        matrix = csr_matrix(parts, shape=shape)
        matrix.sort_indices()
        return matrix

    def dense(self, vector: Mapping[str, float]) -> NDArray[np.float64]:
        """Return a vector as an array over the vocabulary."""
        array = np.zeros(len(self.columns))
        for term, weight in vector.items():
            if term in self.columns:
                array[self.columns[term]] = weight
        return array
