"""Many rankings made one: the combined function of paper 001, formula (8), and reciprocal ranks.

Both know of scores only their order. Equal scores share the mean of the positions they fill, so that
the order in which pages happened to come decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

ALPHA = 0.2
"""Weight of the PageRank position, as in the paper."""
RECIPROCAL_OFFSET = 60.0
"""Cormack, Clarke and Büttcher, SIGIR 2009: damps the first few places."""


def positions(scores: Sequence[float] | Floats) -> Floats:
    """Return the position of each score, 1 = the highest; equals share the mean of theirs.

    Not-a-number ranks last.
    """
    given = np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=-np.inf, posinf=np.inf)
    distinct, inverse, counts = np.unique(-given, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean: Floats = last - (counts - 1) / 2.0
    return mean[inverse] if len(distinct) else np.zeros(0)


def combined_function(
    rankings: Sequence[Sequence[float] | Floats],
    pagerank: Sequence[float] | Floats | None = None,
    *,
    alpha: float = ALPHA,
) -> Floats:
    """Return formula (8) for each page, smaller is better: (1 - alpha) mean position + alpha PageRank's.

    *rankings* hold one score for each page, higher is better. Without *pagerank* (a crawl too young for
    one) only the mean counts.

    Raises:
        ValueError: no ranking, rankings of unequal length, alpha outside 0 to 1.
    """
    if not rankings or len({len(one) for one in rankings}) != 1:
        raise ValueError("give one or more rankings, each with a score for every page")
    if not 0.0 <= alpha <= 1.0:
        raise ValueError(f"alpha is {alpha}, must be from 0 to 1")
    mean: Floats = np.mean([positions(one) for one in rankings], axis=0)
    if pagerank is None:
        return mean
    return (1.0 - alpha) * mean + alpha * positions(pagerank)


def reciprocal_rank(
    rankings: Sequence[Sequence[float] | Floats], *, offset: float = RECIPROCAL_OFFSET
) -> Floats:
    """Return the sum of 1 / (offset + position) over the rankings, larger is better."""
    total: Floats = np.sum([1.0 / (offset + positions(one)) for one in rankings], axis=0)
    return total
