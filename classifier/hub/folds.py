"""Folds by domain: a domain's rows are all on one side of every split, so nothing leaks."""

from __future__ import annotations

from collections import Counter
from hashlib import md5
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

ROWS_PER_DOMAIN = 10
"""Rows of one domain and label that are used, in file order (the evaluation contract's cap)."""


def fold_of(domain: str, folds: int, salt: str = "") -> int:
    """Return the fold of a domain; stable across machines and runs."""
    return int(md5(f"{salt}{domain}".encode(), usedforsecurity=False).hexdigest()[:8], 16) % folds


def folds_of(domains: Iterable[str], folds: int, salt: str = "") -> NDArray[np.int64]:
    """Return the fold of each domain."""
    return np.array([fold_of(domain, folds, salt) for domain in domains], dtype=np.int64)


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
