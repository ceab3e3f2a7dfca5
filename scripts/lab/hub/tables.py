"""The value tables as they are fitted: one regression over the buckets of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix, hstack

from classifier.hub.evidence import LinkEvidence, UrlParts
from classifier.hub.tables import TABLE_SIZES, ValueTables, hash_views


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
