"""Paper 003's parameter search: ten-fold cross-validation over C and gamma, coarse, then fine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from classifier.hub import svm
from classifier.hub.folds import fold_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

SEARCH_ROWS: Final = 3000
"""Rows a search looks at; the chosen pair is then fitted once on all."""

_COARSE_COSTS: Final = (-2, 1, 4, 7, 10)
_COARSE_GAMMAS: Final = (-8, -5, -2, 1)
_FINE_STEPS: Final = (-1.0, 0.0, 1.0)
"""Exponents of 2 around the coarse best."""


@dataclass(frozen=True, slots=True)
class GridPoint:
    """One pair that was tried."""

    cost: float
    gamma: float
    accuracy: float


def search(
    rows: NDArray[np.float64],
    hubs: NDArray[np.bool_],
    *,
    folds: int = 10,
    progress: Callable[[int, int, GridPoint], None] | None = None,
) -> GridPoint:
    """Return the best pair on scaled rows; among equals the smaller C, then gamma.

    ``progress`` hears of (done, total, point) after every pair.
    """
    total = len(_COARSE_COSTS) * len(_COARSE_GAMMAS) + len(_FINE_STEPS) ** 2 - 1
    tried: dict[tuple[float, float], GridPoint] = {}

    def run(exponents: Iterable[tuple[float, float]]) -> GridPoint:
        for exponent in exponents:
            if exponent not in tried:
                tried[exponent] = _try(rows, hubs, exponent, folds)
                if progress:
                    progress(len(tried), total, tried[exponent])
        return max(tried.values(), key=lambda point: (point.accuracy, -point.cost, -point.gamma))

    best = run((float(cost), float(gamma)) for cost in _COARSE_COSTS for gamma in _COARSE_GAMMAS)
    centre = (np.log2(best.cost), np.log2(best.gamma))
    return run(
        (float(centre[0] + cost), float(centre[1] + gamma))
        for cost in _FINE_STEPS
        for gamma in _FINE_STEPS
    )


def _try(
    rows: NDArray[np.float64],
    hubs: NDArray[np.bool_],
    exponent: tuple[float, float],
    folds: int,
) -> GridPoint:
    cost, gamma = 2.0 ** exponent[0], 2.0 ** exponent[1]
    return GridPoint(
        cost, gamma, svm.cross_validate(rows, hubs, cost=cost, gamma=gamma, folds=folds)
    )


def balanced_sample(
    hubs: NDArray[np.bool_], domains: Sequence[str], size: int, salt: str = ""
) -> list[int]:
    """Return places of ``size`` rows, half of them hubs, spread over domains; repeatable.

    The paper takes equally from each type of website; our rows do not tell the type, so domains
    are dealt one row each in turn.
    """
    chosen: list[int] = []
    for wanted in (True, False):
        places = [place for place in range(len(hubs)) if bool(hubs[place]) is wanted]
        turns: dict[str, int] = {}
        keys = []
        for place in places:
            domain = domains[place]
            turns[domain] = turns.get(domain, 0) + 1
            keys.append((turns[domain], fold_of(domain, 1 << 30, salt), place))
        chosen += [place for _, _, place in sorted(keys)[: size // 2]]
    return sorted(chosen)
