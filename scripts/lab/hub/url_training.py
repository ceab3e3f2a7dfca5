"""Training of the URL machine: tables out of fold, then the SVM, then its calibration.

::

    links ─┬─ dense features ──────────────┐            C, gamma (grid search)
           └─ n-grams ─ tables (out of fold) ┴─ scale ──┴─ SVM ─ decision values (out of fold) ─ sigmoid

A table's sum for a training row comes from tables fitted without that row's fold of domains;
otherwise the SVM would trust the tables more than they deserve on unseen sites.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classifier.hub import svm
from classifier.hub.errors import TrainingError
from classifier.hub.evidence import LinkEvidence, split_url
from classifier.hub.scaling import LinearScale, Sigmoid
from classifier.hub.svm import Pair
from classifier.hub.tables import TABLE_NAMES, ValueTables
from classifier.hub.updating import folds_of
from classifier.hub.url_features import describe
from classifier.hub.url_machine import CheckRows, UrlMachine, scale_features
from lab.hub.fits import count_matrix, fit_sigmoid, standard_scale, sum_by_table, tables_of
from lab.hub.folded import Fold, FoldedRows, balanced_sample

Choose = Callable[[FoldedRows, Sequence[str]], Pair]
"""From rows in folds, and the domain of each, to C and gamma: a search, or what one found before."""

FOLDS = 5
# Half of them hubs, each of another domain as far as there are enough: one row in 600 is 0.17 %.
CHECK_ROWS = 600
# Inverse strength of the tables' L2 penalty (smoothing); with views scaled to unit length, 2 to 50
# gave the tables alone F1 0.9445 to 0.9472.
_TABLE_COST = 3.0


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """Training data of the URL machine; every field has one entry per row."""

    links: Sequence[LinkEvidence]
    hubs: NDArray[np.bool_]
    domains: Sequence[str]


@dataclass(frozen=True, slots=True)
class TrainedUrlMachine:
    """The machine, and what it said of each training row while it was held out."""

    machine: UrlMachine
    held_out: NDArray[np.float64]
    """Calibrated log-odds of each training row, from machines that never saw its domain."""
    probed: NDArray[np.float64]
    """The same for the probes."""
    checks: CheckRows


@dataclass(frozen=True, slots=True)
class Probes:
    """Links that are not learned from, to be judged by machines that never saw their domain."""

    links: Sequence[LinkEvidence]
    domains: Sequence[str]


def train_url_machine(
    rows: TrainingRows,
    choose: Choose,
    *,
    probes: Probes,
    report: Callable[[str], None],
) -> TrainedUrlMachine:
    """Train on all rows; a minute of one core for 12,000, and what ``choose`` takes.

    ``report`` hears of each step. Raises TrainingError when there are too few domains.
    """
    bench = _Bench.build(rows)
    folded, fits = _folded(bench, report)
    pair = choose(folded, rows.domains)
    probe_folds = folds_of(probes.domains, FOLDS)
    values, probed = np.zeros(len(rows.hubs)), np.zeros(len(probe_folds))
    for number, (fold, fit) in enumerate(zip(folded.folds, fits, strict=True)):
        report(f"held-out fold {number + 1} of {FOLDS}")
        machine = fold.train(pair)
        values[bench.folds == number] = machine.decide(fold.held_rows)
        here = np.flatnonzero(probe_folds == number).tolist()
        probed[here] = fit.values(machine, [probes.links[place] for place in here])
    sigmoid = fit_sigmoid(values, rows.hubs)
    report("all rows")
    fit = bench.fit(np.ones(len(rows.hubs), dtype=bool))
    learned = svm.train(fit.features, rows.hubs, cost=pair.cost, gamma=pair.gamma)
    machine_of_all = UrlMachine(fit.tables, fit.scale, learned, sigmoid)
    checked = balanced_sample(rows.hubs, rows.domains, CHECK_ROWS)
    checks = CheckRows(fit.features[checked], rows.hubs[checked])
    return TrainedUrlMachine(
        machine_of_all, sigmoid.log_odds(values), sigmoid.log_odds(probed), checks
    )


def _folded(bench: _Bench, report: Callable[[str], None]) -> tuple[FoldedRows, list[_Fitted]]:
    """Return the rows in folds as the SVM sees them, and the tables and scale of each fold."""
    folds, fits = [], []
    for number in range(FOLDS):
        report(f"tables of fold {number + 1} of {FOLDS}")
        inside = bench.folds != number
        fit = bench.fit(inside)
        # The fold's own sums come from tables of the other folds alone.
        outside = np.hstack([bench.dense[~inside], bench.sums_for(~inside, inside)])
        held = scale_features(fit.scale, outside)
        folds.append(Fold(fit.features, bench.hubs[inside], held, bench.hubs[~inside]))
        fits.append(fit)
    return FoldedRows(tuple(folds), bench.folds), fits


@dataclass(frozen=True, slots=True)
class _Fitted:
    scale: LinearScale
    tables: ValueTables
    features: NDArray[np.float64]
    """Scaled features of the rows it was fitted on."""

    def values(self, machine: svm.RbfMachine, links: Sequence[LinkEvidence]) -> NDArray[np.float64]:
        """Return decision values, uncalibrated: the calibration needs all folds first."""
        canonical_key = UrlMachine(self.tables, self.scale, machine, Sigmoid(1.0, 0.0))
        return machine.decide(scale_features(self.scale, canonical_key.features(links)))


@dataclass
class _Bench:
    """Features and folds of all rows, and the table fits made so far."""

    dense: NDArray[np.float64]
    counts: Any  # a scipy csr_matrix; scipy has no types
    compact: Any
    """The counts without the buckets that no row uses, which only slow the fit down."""
    used: NDArray[np.int64]
    hubs: NDArray[np.bool_]
    folds: NDArray[np.int64]
    fits: dict[frozenset[int], NDArray[np.float64]]

    @classmethod
    def build(cls, rows: TrainingRows) -> _Bench:
        folds = folds_of(rows.domains, FOLDS)
        classes_by_fold = {
            (int(fold), bool(hub)) for fold, hub in zip(folds, rows.hubs, strict=True)
        }
        if len(classes_by_fold) < 2 * FOLDS:
            raise TrainingError(
                f"too few domains: each of the {FOLDS} folds of domains needs hubs and topics"
            )
        parts = [split_url(link.url) for link in rows.links]
        dense = describe(rows.links, parts)
        counts = count_matrix(rows.links, parts)
        used = np.flatnonzero(counts.getnnz(axis=0))
        return cls(dense, counts, counts[:, used], used, rows.hubs, folds, {})

    def fit(self, inside: NDArray[np.bool_]) -> _Fitted:
        """Fit tables and scale on the rows inside."""
        sums = np.zeros((len(self.hubs), len(TABLE_NAMES) + 1))
        for fold in sorted(set(self.folds[inside].tolist())):
            here = inside & (self.folds == fold)
            sums[here] = self.sums_for(here, inside & ~here)
        features = np.hstack([self.dense, sums])[inside]
        scale = standard_scale(features)
        tables = tables_of(self._coefficients(inside))
        return _Fitted(scale, tables, scale_features(scale, features))

    def sums_for(self, rows: NDArray[np.bool_], learned: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the table sums of some rows, by tables learned from others."""
        return sum_by_table(self.counts[rows], self._coefficients(learned))

    def _coefficients(self, inside: NDArray[np.bool_]) -> NDArray[np.float64]:
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - heavy

        key = frozenset(self.folds[inside].tolist())
        if key not in self.fits:
            # The dual is ten times as quick where there are far more buckets than rows.
            fitted = LogisticRegression(
                C=_TABLE_COST,
                solver="liblinear",
                dual=True,
                tol=0.01,
                max_iter=1000,
                random_state=0,
            )
            coefficients = np.zeros(self.counts.shape[1])
            coefficients[self.used] = fitted.fit(self.compact[inside], self.hubs[inside]).coef_[0]
            self.fits[key] = coefficients
        return self.fits[key]
