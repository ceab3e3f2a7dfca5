"""PageRank of a graph by power iteration over a sparse matrix: a ranking in paper 001, a rival in 004."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

DAMPING: Final = 0.85
# The iteration ends when the ranks' total change is below this.
TOLERANCE: Final = 1e-9
MAX_ITERATIONS: Final = 200


def pagerank(
    sources: Sequence[int] | NDArray[np.int32],
    targets: Sequence[int] | NDArray[np.int32],
    count: int,
    *,
    damping: float = DAMPING,
) -> NDArray[np.float64]:
    """Return the rank of each of ``count`` nodes, summing to 1; a link given twice counts twice.

    ValueError if damping is not in [0, 1), or a link leaves the nodes.
    """
    # With 1 the iteration may never converge.
    if not 0.0 <= damping < 1.0:
        raise ValueError(f"damping is {damping}, must be from 0 to below 1")
    if not count:
        return np.zeros(0)
    matrix, dangling = _transition(np.asarray(sources), np.asarray(targets), count)
    ranks = np.full(count, 1.0 / count)
    for _ in range(MAX_ITERATIONS):
        # Pages without links, fetched or not, spread their rank over all, so that the ranks sum to 1.
        lent = damping * float(ranks[dangling].sum()) + 1.0 - damping
        following: NDArray[np.float64] = damping * (matrix @ ranks) + lent / count
        change = float(np.abs(following - ranks).sum())
        ranks = following
        if change < TOLERANCE:
            break
    total: float = ranks.sum()
    return ranks / total


def _transition(
    sources: NDArray[np.int32], targets: NDArray[np.int32], count: int
) -> tuple[Any, NDArray[np.bool_]]:
    """Return the transition matrix, and which nodes have no links."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415 - heavy

    if (
        len(sources)
        and not 0
        <= min(sources.min(), targets.min())
        <= (max(sources.max(), targets.max()))
        < count
    ):
        raise ValueError(f"a link begins or ends outside the {count} nodes")
    out = np.bincount(sources.astype(np.int64), minlength=count)
    shares = 1.0 / out[sources] if len(sources) else np.zeros(0)
    return csr_matrix((shares, (targets, sources)), shape=(count, count)), out == 0
