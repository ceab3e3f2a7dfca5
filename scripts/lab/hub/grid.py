"""Paper 003's parameter search: cross-validation over C and gamma, coarse, then fine.

::

    folds of a sample ── coarse pairs ── best ─┐
    folds of all rows ── fine pairs around it ─┴─ best ── pairs around that, until it has no untried
    neighbour ── winner, and both grids

Each pair is trained and judged on every fold; the folds are made by whoever searches, of whole
domains for the machines that ship. Trainings are independent of each other, so they run on as many
processes as are given, and the result is the same for any number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import log2
from statistics import fmean, stdev
from typing import Any, Final

from rich.console import Console
from rich.progress import track

from classifier.hub.svm import Pair
from classifier.hub.updating import folds_of
from lab.hub.folded import Fold, FoldedRows

Exponents = tuple[int, int]
"""Of 2, for C and gamma: whole numbers, so that a pair is the same number on every machine."""


@dataclass(frozen=True, slots=True)
class GridPlan:
    """Which pairs are tried, as exponents of 2."""

    costs: tuple[int, ...]
    gammas: tuple[int, ...]
    fine: int
    """How far around the coarse best every whole exponent is tried."""

    def coarse(self) -> list[Exponents]:
        """Return the coarse pairs."""
        return [(cost, gamma) for cost in self.costs for gamma in self.gammas]

    def around(self, best: Exponents) -> list[Exponents]:
        """Return the fine pairs around one, itself among them."""
        steps = range(-self.fine, self.fine + 1)
        return [(best[0] + cost, best[1] + gamma) for cost in steps for gamma in steps]


# For a hundred features of deviation 1.
PLAN: Final = GridPlan(costs=(-2, 1, 4, 7), gammas=(-14, -11, -8, -5), fine=1)


@dataclass(frozen=True, slots=True)
class GridPoint:
    """One pair that was tried."""

    cost: float
    gamma: float
    score: float
    """Mean over the folds, 0 to 1."""
    deviation: float
    """Standard deviation of the folds' scores."""


@dataclass(frozen=True, slots=True)
class GridStage:
    """One grid: coarse or fine."""

    points: tuple[GridPoint, ...]
    """By C, then gamma."""
    folds: int
    rows: int
    """Rows that judged each pair."""

    def to_json(self) -> dict[str, Any]:
        """Return lists of rounded numbers."""
        points = [[p.cost, p.gamma, round(p.score, 5), round(p.deviation, 5)] for p in self.points]
        return {"folds": self.folds, "rows": self.rows, "points": points}


@dataclass(frozen=True, slots=True)
class GridResult:
    """Both grids and the pair that won."""

    coarse: GridStage
    fine: GridStage

    @property
    def best(self) -> GridPoint:
        """The winner: the best of the fine grid; among equals the smaller C, then gamma."""
        return _best(self.fine.points)

    @property
    def pair(self) -> Pair:
        """The winner's C and gamma."""
        return Pair(self.best.cost, self.best.gamma)

    def to_json(self) -> dict[str, Any]:
        """Return what a model's manifest keeps: the winner, how it was found, every pair."""
        return {
            "cost": self.best.cost,
            "gamma": self.best.gamma,
            "measure": "F1 of hubs",
            "columns": ["C", "gamma", "mean", "deviation"],
            "coarse": self.coarse.to_json(),
            "fine": self.fine.to_json(),
        }


def _best(points: Iterable[GridPoint]) -> GridPoint:
    return max(points, key=lambda point: (point.score, -point.cost, -point.gamma))


@dataclass(frozen=True, slots=True)
class Search:
    """How to search: what it may cost."""

    coarse_rows: int = 4000
    """The coarse grid looks at about so many rows or more, of whole domains; 0 = all. Time grows with the
    square of the rows, and the coarse grid has only to find the region."""
    processes: int = 1
    """Training processes; the result does not depend on their number."""

    def sample(self, rows: FoldedRows, domains: Sequence[str]) -> FoldedRows:
        """Return what the coarse grid looks at: always the same domains; all when a sample is too small."""
        share = rows.size // self.coarse_rows if self.coarse_rows else 1
        if share < 2:  # noqa: PLR2004 - all of them
            return rows
        sample = rows.only(folds_of(domains, share, "coarse") == 0)
        return sample if sample.usable else rows


def search(
    name: str,
    rows: FoldedRows,
    domains: Sequence[str],
    plan: GridPlan,
    how: Search,
) -> GridResult:
    """Return both grids of the machine called *name*; raises TrainingError when libsvm refuses."""
    run = partial(_stage, how=how)
    sample = how.sample(rows, domains)
    tried = run(f"{name}, coarse grid", sample, plan.coarse())
    coarse = GridStage(tuple(sorted(tried, key=_order)), len(sample.folds), sample.size)
    fine: list[GridPoint] = []
    best = _best(coarse.points)
    for step in range(1, MAX_STEPS + 1):
        wanted = [pair for pair in plan.around(_exponents(best)) if not _is_tried(pair, fine)]
        if not wanted:
            break
        fine += run(f"{name}, fine grid, step {step}", rows, wanted)
        best = _best(fine)
    stage = GridStage(tuple(sorted(fine, key=_order)), len(rows.folds), rows.size)
    return GridResult(coarse, stage)


# Times that the fine grid is continued around a best that lies at its edge.
MAX_STEPS: Final = 6


def _order(point: GridPoint) -> tuple[float, float]:
    return point.cost, point.gamma


def _exponents(point: GridPoint) -> Exponents:
    return round(log2(point.cost)), round(log2(point.gamma))


def _is_tried(pair: Exponents, points: Iterable[GridPoint]) -> bool:
    return any(_exponents(point) == pair for point in points)


def _stage(name: str, rows: FoldedRows, pairs: Sequence[Exponents], how: Search) -> list[GridPoint]:
    from joblib import Parallel, delayed, parallel_config  # noqa: PLC0415 - training only

    folds = rows.folds
    tasks = [(pair, fold) for pair in pairs for fold in folds]
    # Each process has a core; numpy would take all of them for each.
    with parallel_config("loky", inner_max_num_threads=1):
        run = Parallel(how.processes, return_as="generator")
        done = run(delayed(_score)(fold, pair) for pair, fold in tasks)
        scores = list(track(done, name, len(tasks), console=Console(stderr=True)))
    by_pair = [scores[place : place + len(folds)] for place in range(0, len(tasks), len(folds))]
    return [
        GridPoint(2.0 ** pair[0], 2.0 ** pair[1], fmean(found), stdev(found))
        for pair, found in zip(pairs, by_pair, strict=True)
    ]


def _score(fold: Fold, pair: Exponents) -> float:
    return fold.score(Pair(2.0 ** pair[0], 2.0 ** pair[1]))
