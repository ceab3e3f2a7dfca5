"""Paper 003's parameter search: cross-validation over C and gamma, coarse, then fine.

::

    folds of a sample ── coarse pairs ── best ─┐
    folds of all rows ── fine pairs around it ─┴─ best ── pairs around that, until it has no untried
    neighbour ── winner, and both grids

Each pair is trained and judged on every fold; the folds are made by whoever searches, of whole
domains for the machines that ship. Trainings are independent of each other, so they run on as many
processes as are given, and the result is the same for any number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
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


Scores = dict[Exponents, list[float]]
"""The F1 of each fold, by pair."""


def _best(tried: Scores) -> Exponents:
    """Return the best pair; among equals that of the smaller C, then gamma."""
    return max(tried, key=lambda pair: (fmean(tried[pair]), -pair[0], -pair[1]))


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
) -> dict[str, Any]:
    """Return what a manifest keeps of the machine called *name*: C and gamma, and every pair of both grids.

    Raises:
        TrainingError: libsvm refuses.
    """
    sample = how.sample(rows, domains)
    coarse = _tried(f"{name}, coarse grid", sample, plan.coarse(), how)
    fine: Scores = {}
    best = _best(coarse)
    for step in range(1, MAX_STEPS + 1):
        wanted = [pair for pair in plan.around(best) if pair not in fine]
        if not wanted:
            break
        fine |= _tried(f"{name}, fine grid, step {step}", rows, wanted, how)
        best = _best(fine)
    return {
        "cost": 2.0 ** best[0],
        "gamma": 2.0 ** best[1],
        "measure": "F1 of hubs",
        "columns": ["C", "gamma", "mean", "deviation"],
        "coarse": _kept(coarse, sample),
        "fine": _kept(fine, rows),
    }


# Times that the fine grid is continued around a best that lies at its edge.
MAX_STEPS: Final = 6


def _kept(tried: Scores, rows: FoldedRows) -> dict[str, Any]:
    points = [
        [2.0**cost, 2.0**gamma, round(fmean(scores), 5), round(stdev(scores), 5)]
        for (cost, gamma), scores in sorted(tried.items())
    ]
    return {"folds": len(rows.folds), "rows": rows.size, "points": points}


def _tried(name: str, rows: FoldedRows, pairs: Sequence[Exponents], how: Search) -> Scores:
    from joblib import Parallel, delayed, parallel_config  # noqa: PLC0415 - training only

    folds = rows.folds
    tasks = [(pair, fold) for pair in pairs for fold in folds]
    # Each process has a core; numpy would take all of them for each.
    with parallel_config("loky", inner_max_num_threads=1):
        run = Parallel(how.processes, return_as="generator")
        done = run(delayed(_score)(fold, pair) for pair, fold in tasks)
        scores = list(track(done, name, len(tasks), console=Console(stderr=True)))
    starts = range(0, len(tasks), len(folds))
    return {pair: scores[at : at + len(folds)] for pair, at in zip(pairs, starts, strict=True)}


def _score(fold: Fold, pair: Exponents) -> float:
    return fold.score(Pair(2.0 ** pair[0], 2.0 ** pair[1]))
