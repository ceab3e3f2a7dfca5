"""Training of the content machine and of the cascade over it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
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
from classifier.hub.folded import FoldedRows
from classifier.hub.folds import folds_of
from classifier.hub.scaling import LinearScale, Sigmoid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from classifier.hub.svm import Pair
    from classifier.hub.url_training import Choose

    Apply = Callable[[LinearScale, NDArray[np.float64]], NDArray[np.float64]]

FOLDS = 5


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
    choose: tuple[Choose, Choose],
) -> TrainedContent:
    """Train on rows of content features; ``url_log_odds`` come from held-out URL machines.

    ``choose`` gives C and gamma of the content machine and of the joint one. Raises TrainingError when
    there are too few domains.
    """
    alone = _Bench(rows, hubs, domains, LinearScale.apply)
    both = _Bench(with_url(rows, url_log_odds), hubs, domains, scale_joined)
    machine, held_out = alone.train(choose[0])
    joint, joined = both.train(choose[1])
    sure = narrowest_zone(url_log_odds, joined, hubs)
    cascaded = np.where(np.abs(url_log_odds) >= sure, url_log_odds, joined)
    return TrainedContent(machine, Cascade(sure, joint), held_out, cascaded)


@dataclass(frozen=True, slots=True)
class _Bench:
    """What one machine is trained on."""

    rows: NDArray[np.float64]
    hubs: NDArray[np.bool_]
    domains: Sequence[str]
    apply: Apply

    def train(self, choose: Choose) -> tuple[ContentMachine, NDArray[np.float64]]:
        """Return the machine, and calibrated log-odds of each row while it was held out."""
        folded = FoldedRows.build(
            self.rows, self.hubs, folds_of(self.domains, FOLDS), self._learn_scale
        )
        pair = choose(folded, self.domains)
        values = folded.held_out(pair)
        sigmoid = Sigmoid.fit(values, self.hubs)
        return self._machine(pair, sigmoid), sigmoid.log_odds(values)

    def _machine(self, pair: Pair, sigmoid: Sigmoid) -> ContentMachine:
        scale = LinearScale.standard(self.rows)
        scaled = self.apply(scale, self.rows)
        machine = svm.train(scaled, self.hubs, cost=pair.cost, gamma=pair.gamma)
        return ContentMachine(scale, machine, sigmoid)

    def _learn_scale(
        self, rows: NDArray[np.float64]
    ) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        return partial(self.apply, LinearScale.standard(rows))
