"""Training of the content machine and of the cascade over it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from classifier.hub import svm
from classifier.hub.model import (
    Cascade,
    ContentMachine,
    joint_rows,
    scale_joined,
)
from classifier.hub.scaling import LinearScale, Sigmoid
from classifier.hub.svm import Pair
from classifier.hub.updating import folds_of
from lab.hub.fits import fit_sigmoid, standard_scale
from lab.hub.folded import FoldedRows, compared
from lab.hub.url_training import Choose

Apply = Callable[[LinearScale, NDArray[np.float64]], NDArray[np.float64]]

FOLDS = 5


@dataclass(frozen=True, slots=True)
class PageRows:
    """Training data of content and cascade; every field has one entry per page."""

    features: NDArray[np.float64]
    page_bytes: NDArray[np.float64]
    hubs: NDArray[np.bool_]
    domains: Sequence[str]
    url_log_odds: NDArray[np.float64]
    """From URL machines that never saw the page's domain."""


@dataclass(frozen=True, slots=True)
class TrainedContent:
    """Content machine and cascade, and what they said of held-out pages."""

    machine: ContentMachine
    cascade: Cascade
    held_out: NDArray[np.float64]
    """Log-odds by content alone."""
    held_out_cascade: NDArray[np.float64]
    """Log-odds by the cascade; only its zone of doubt was chosen with these pages in sight."""


def train_content(pages: PageRows, choose: Choose, choose_joint: Choose) -> TrainedContent:
    """Train both machines, each with a C and gamma of its own.

    Raises:
        TrainingError: there are too few domains.
    """
    url = pages.url_log_odds
    both = joint_rows(pages.features, url, pages.page_bytes)
    machine, held_out = _Bench(pages.features, pages, LinearScale.apply).train(choose)
    joint, joined = _Bench(both, pages, scale_joined).train(choose_joint)
    sure = narrowest_zone(url, joined, pages.hubs)
    cascaded = np.where(np.abs(url) >= sure, url, joined)
    return TrainedContent(machine, Cascade(sure, joint), held_out, cascaded)


@dataclass(frozen=True, slots=True)
class _Bench:
    """Training data of one machine."""

    rows: NDArray[np.float64]
    pages: PageRows
    apply: Apply

    def train(self, choose: Choose) -> tuple[ContentMachine, NDArray[np.float64]]:
        """Return the machine, and calibrated log-odds of each row while it was held out."""
        hubs, domains = self.pages.hubs, self.pages.domains
        folded = FoldedRows.build(self.rows, hubs, folds_of(domains, FOLDS), self._learn_scale)
        pair = choose(folded, domains)
        values = folded.held_out(pair)
        sigmoid = fit_sigmoid(values, hubs)
        return self._machine(pair, sigmoid), sigmoid.log_odds(values)

    def _machine(self, pair: Pair, sigmoid: Sigmoid) -> ContentMachine:
        scale = standard_scale(self.rows)
        scaled = self.apply(scale, self.rows)
        machine = svm.train(scaled, self.pages.hubs, cost=pair.cost, gamma=pair.gamma)
        return ContentMachine(scale, machine, sigmoid)

    def _learn_scale(
        self, rows: NDArray[np.float64]
    ) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        return partial(self.apply, standard_scale(rows))


# F1 that the zone of doubt may cost: a wider zone parses more pages for next to nothing.
LOSS_ALLOWED: Final = 0.001


def narrowest_zone(
    url: NDArray[np.float64], joined: NDArray[np.float64], hubs: NDArray[np.bool_]
) -> float:
    """Return the smallest ``sure`` whose F1 is nearly the best, on held-out log-odds."""
    zones = np.arange(0.0, 12.1, 0.25)
    said = (np.where(np.abs(url) >= zone, url, joined) > 0 for zone in zones)
    scores = [compared(one, hubs)["f1"] for one in said]
    enough = max(scores) - LOSS_ALLOWED
    return float(next(zone for zone, f1 in zip(zones, scores, strict=True) if f1 >= enough))
