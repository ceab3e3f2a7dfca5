"""Training of the content machine and of the cascade over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from classifier.hub import svm
from classifier.hub.cascade import (
    Cascade,
    ContentMachine,
    narrowest_zone,
    scale_joined,
    with_url,
)
from classifier.hub.folds import folds_of
from classifier.hub.scaling import LinearScale, Sigmoid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

FOLDS = 5
COST = 3.0
GAMMA = 0.005
"""Chosen among 1-10 and 0.001-0.02 by domain-folded F1, for both machines."""


@dataclass(frozen=True, slots=True)
class TrainedContent:
    """Content machine and cascade, and what they said of held-out pages."""

    machine: ContentMachine
    cascade: Cascade
    held_out: NDArray[np.float64]
    """Log-odds by content alone."""
    held_out_cascade: NDArray[np.float64]
    """Log-odds by the cascade; only its zone of doubt was chosen with these pages in sight."""


def train_content(
    rows: NDArray[np.float64],
    hubs: NDArray[np.bool_],
    domains: Sequence[str],
    url_log_odds: NDArray[np.float64],
) -> TrainedContent:
    """Train on rows of content features; ``url_log_odds`` come from held-out URL machines."""
    folds = folds_of(domains, FOLDS)
    machine, held_out = _train(rows, hubs, folds, LinearScale.apply)
    joint, joined = _train(with_url(rows, url_log_odds), hubs, folds, scale_joined)
    sure = narrowest_zone(url_log_odds, joined, hubs)
    cascaded = np.where(np.abs(url_log_odds) >= sure, url_log_odds, joined)
    return TrainedContent(machine, Cascade(sure, joint), held_out, cascaded)


def _train(
    rows: NDArray[np.float64],
    hubs: NDArray[np.bool_],
    folds: NDArray[np.int64],
    apply: Callable[[LinearScale, NDArray[np.float64]], NDArray[np.float64]],
) -> tuple[ContentMachine, NDArray[np.float64]]:
    """Train one machine; also return calibrated log-odds of each row while it was held out."""
    values = np.zeros(len(hubs))
    for fold in sorted(set(folds.tolist())):
        inside = folds != fold
        scale = LinearScale.standard(rows[inside])
        fitted = svm.train(apply(scale, rows[inside]), hubs[inside], cost=COST, gamma=GAMMA)
        values[~inside] = fitted.decide(apply(scale, rows[~inside]))
    sigmoid = Sigmoid.fit(values, hubs)
    scale = LinearScale.standard(rows)
    machine = svm.train(apply(scale, rows), hubs, cost=COST, gamma=GAMMA)
    return ContentMachine(scale, machine, sigmoid), sigmoid.log_odds(values)
