"""Training of the content machine and of the cascade over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from classifier.hub import svm
from classifier.hub.cascade import Cascade, ContentMachine, fit_cascade
from classifier.hub.folds import folds_of
from classifier.hub.scaling import LinearScale, Sigmoid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

FOLDS = 5
COST = 3.0
GAMMA = 0.005
"""Chosen among 1-10 and 0.002-0.02 by domain-folded F1."""


@dataclass(frozen=True, slots=True)
class TrainedContent:
    """Content machine, cascade, and what the content machine said of held-out pages."""

    machine: ContentMachine
    cascade: Cascade
    held_out: NDArray[np.float64]


def train_content(
    rows: NDArray[np.float64],
    hubs: NDArray[np.bool_],
    domains: Sequence[str],
    url_log_odds: NDArray[np.float64],
) -> TrainedContent:
    """Train on rows of content features; ``url_log_odds`` come from held-out URL machines."""
    folds = folds_of(domains, FOLDS)
    values = np.zeros(len(hubs))
    for fold in range(FOLDS):
        inside = folds != fold
        if inside.all():
            continue
        scale, machine = _fit(rows[inside], hubs[inside])
        values[~inside] = machine.decide(scale.apply(rows[~inside]))
    sigmoid = Sigmoid.fit(values, hubs)
    held_out = sigmoid.log_odds(values)
    scale, machine = _fit(rows, hubs)
    cascade = fit_cascade(url_log_odds, held_out, hubs)
    return TrainedContent(ContentMachine(scale, machine, sigmoid), cascade, held_out)


def _fit(rows: NDArray[np.float64], hubs: NDArray[np.bool_]) -> tuple[LinearScale, svm.RbfMachine]:
    scale = LinearScale.standard(rows)
    return scale, svm.train(scale.apply(rows), hubs, cost=COST, gamma=GAMMA)
