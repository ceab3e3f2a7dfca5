"""Fitted to training rows besides the machines: scaling, calibration, and the value tables."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix, hstack

from classifier.hub.evidence import LinkEvidence, UrlParts
from classifier.hub.scaling import LinearScale, Sigmoid
from classifier.hub.tables import (
    TABLE_SIZES,
    VIEWS,
    HashedRows,
    TableView,
    ValueTables,
    hash_tokens,
    mixed,
)

# Standard deviations after which a feature counts as extreme and no further.
_REACH: Final = 3.0
# A feature that varies less is constant: rounding alone makes a deviation of about 1e-17.
_CONSTANT: Final = 1e-6


def standard_scale(rows: NDArray[np.float64]) -> LinearScale:
    """Mean 0 and deviation 1 on the training rows; constant features become 0."""
    width = rows.std(axis=0)
    width[width < _CONSTANT] = 1.0
    return LinearScale(rows.mean(axis=0), width, _REACH)


def fit_sigmoid(values: NDArray[np.float64], hubs: NDArray[np.bool_]) -> Sigmoid:
    """Fit on decision values of rows that the machine was not trained on."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - heavy

    fitted = LogisticRegression(C=1e3).fit(values[:, None], hubs)
    return Sigmoid(float(fitted.coef_[0][0]), float(fitted.intercept_[0]))


def hash_views(links: Sequence[LinkEvidence], parts: Sequence[UrlParts]) -> list[HashedRows]:
    """Return the hashed n-grams of each table, in the order of :data:`TABLE_NAMES`."""
    hashed = [
        _hash_texts([view.text(link, part) for link, part in zip(links, parts, strict=True)], view)
        for view in VIEWS
    ]
    return [*hashed, hash_tokens(parts)]


def _hash_texts(texts: list[str], view: TableView) -> HashedRows:
    # Whole batches in numpy: the characters of all links are one array, and the hash of an n-gram
    # extends that of the shorter one at the same place.
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    lengths = np.fromiter((len(text) for text in texts), dtype=np.int64, count=len(texts))
    rows = np.repeat(np.arange(len(texts)), lengths)
    counts = np.zeros(len(texts), dtype=np.int64)
    kept_rows, kept_buckets = [], []
    grown = np.zeros(len(codes), dtype=np.uint32)
    for size in range(1, view.longest + 1):
        count = len(codes) - size + 1
        if count <= 0:
            break
        grown = grown[:count] * np.uint32(0x01000193) + codes[size - 1 :] + np.uint32(size)
        if size < view.shortest:
            continue
        whole = rows[:count] == rows[size - 1 :]
        kept_rows.append(rows[:count][whole])
        buckets = mixed(grown[whole]) >> np.uint32(32 - view.bits)
        kept_buckets.append(buckets.astype(np.int64))
        counts += np.maximum(lengths - size + 1, 0)
    if not kept_rows:
        return HashedRows(np.zeros(0, np.int64), np.zeros(0, np.int64), counts)
    return HashedRows(np.concatenate(kept_rows), np.concatenate(kept_buckets), counts)


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
