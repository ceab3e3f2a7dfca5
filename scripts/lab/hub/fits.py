"""Fitted to training rows besides the machines: scaling, calibration, and the value tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix, hstack

from classifier.hub.evidence import LinkEvidence, UrlParts
from classifier.hub.scaling import LinearScale, Sigmoid
from classifier.hub.tables import TABLE_SIZES, ValueTables, hash_views

# Standard deviations after which a feature counts as extreme and no further.
_REACH: Final = 3.0
# A feature that varies less is constant: rounding alone makes a deviation of about 1e-17.
_CONSTANT: Final = 1e-6


def standard_scale(rows: NDArray[np.float64]) -> LinearScale:
    """Mean 0 and deviation 1 on the training rows; constant features become 0."""
    width = rows.std(axis=0)
    width[width < _CONSTANT] = 1.0
    return LinearScale(rows.mean(axis=0), width, _REACH)


def unit_range_scale(rows: NDArray[np.float64]) -> LinearScale:
    """[-1, 1] on the training rows, as svm-scale does (paper 003, section 2.3)."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    width = (high - low) / 2
    width[width < _CONSTANT] = 1.0
    return LinearScale((high + low) / 2, width, 1.0)


def fit_sigmoid(values: NDArray[np.float64], hubs: NDArray[np.bool_]) -> Sigmoid:
    """Fit on decision values of rows that the machine was not trained on."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - heavy

    fitted = LogisticRegression(C=1e3).fit(values[:, None], hubs)
    return Sigmoid(float(fitted.coef_[0][0]), float(fitted.intercept_[0]))


def count_matrix(links: Sequence[LinkEvidence], parts: Sequence[UrlParts]) -> csr_matrix:
    """Return the sparse matrix links x all buckets that the tables are fitted on.

    Each view's counts are divided by the root of how many n-grams the link has there.
    """
    blocks = []
    for hashed, size in zip(hash_views(links, parts), TABLE_SIZES, strict=True):
        shares = 1.0 / hashed.roots[hashed.rows]
        blocks.append(
            coo_matrix((shares, (hashed.rows, hashed.buckets)), shape=(len(links), size)).tocsr()
        )
    return hstack(blocks).tocsr()


def tables_of(coefficients: NDArray[np.float64]) -> ValueTables:
    """Cut the coefficients of one regression over all buckets into tables."""
    step = float(np.abs(coefficients).max()) / 127 or 1.0
    numbers = np.round(coefficients / step).astype(np.int8)
    return ValueTables(step, tuple(np.split(numbers, np.cumsum(TABLE_SIZES)[:-1])))


def sum_by_table(matrix: csr_matrix, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what :meth:`ValueTables.sums` does, from a count matrix and unrounded weights."""
    ends = np.cumsum((0, *TABLE_SIZES))
    columns = [
        matrix[:, start:end] @ coefficients[start:end] for start, end in pairwise(ends.tolist())
    ]
    columns.append(np.sum(columns, axis=0))
    sums: NDArray[np.float64] = np.stack(columns, axis=1)
    return sums
