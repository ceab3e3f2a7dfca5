"""Which rows are learned from: so many of a domain, and balanced samples spread over domains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from classifier.hub.updating import fold_of, folds_of

__all__ = ["ROWS_PER_DOMAIN", "balanced_sample", "first_rows", "fold_of", "folds_of"]

ROWS_PER_DOMAIN = 10
"""Rows of one domain and label that are used, in file order (the evaluation contract's cap)."""


def first_rows(keys: Sequence[object], cap: int = ROWS_PER_DOMAIN) -> list[int]:
    """Return the places of the first ``cap`` rows of each key in order; 0 = all rows."""
    if cap <= 0:
        return list(range(len(keys)))
    seen: Counter[object] = Counter()
    places = []
    for place, key in enumerate(keys):
        seen[key] += 1
        if seen[key] <= cap:
            places.append(place)
    return places


def balanced_sample(
    hubs: NDArray[np.bool_], domains: Sequence[str], size: int, salt: str = ""
) -> list[int]:
    """Return places of ``size`` rows, half of them hubs, spread over domains; repeatable.

    Paper 003 takes equally from each type of website; our rows do not tell the type, so domains
    are dealt one row each in turn.
    """
    chosen: list[int] = []
    for wanted in (True, False):
        places = [place for place in range(len(hubs)) if bool(hubs[place]) is wanted]
        turns: Counter[str] = Counter()
        keys = []
        for place in places:
            domain = domains[place]
            turns[domain] += 1
            keys.append((turns[domain], fold_of(domain, 1 << 30, salt), place))
        chosen += [place for _, _, place in sorted(keys)[: size // 2]]
    return sorted(chosen)
