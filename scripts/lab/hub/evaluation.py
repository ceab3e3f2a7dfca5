"""Scores of a two-class classifier: precision, recall, F1, and an interval over domains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Outcome:
    """Counts of a comparison; hub is the positive class."""

    true_hubs: int
    false_hubs: int
    missed_hubs: int
    n: int

    @property
    def precision(self) -> float:
        """Share of the predicted hubs that are hubs; 0 when none was predicted."""
        return self.true_hubs / max(self.true_hubs + self.false_hubs, 1)

    @property
    def recall(self) -> float:
        """Share of the hubs that were predicted; 0 when there is none."""
        return self.true_hubs / max(self.true_hubs + self.missed_hubs, 1)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return 2 * self.true_hubs / max(2 * self.true_hubs + self.false_hubs + self.missed_hubs, 1)


def confusion(predicted: NDArray[np.bool_], hubs: NDArray[np.bool_]) -> Outcome:
    """Count a prediction against the truth."""
    return Outcome(
        true_hubs=int((predicted & hubs).sum()),
        false_hubs=int((predicted & ~hubs).sum()),
        missed_hubs=int((~predicted & hubs).sum()),
        n=len(hubs),
    )


def f1_interval(
    predicted: NDArray[np.bool_],
    hubs: NDArray[np.bool_],
    domains: Sequence[str],
    *,
    draws: int = 1000,
    seed: int = 3,
) -> tuple[float, float]:
    """Return the 95 % interval of F1 by bootstrap over domains, not rows.

    Rows of one site are alike: drawing rows would make the interval far too narrow.
    """
    _, numbers = np.unique(np.array(domains, dtype=object).astype(str), return_inverse=True)
    count = int(numbers.max()) + 1 if len(numbers) else 0
    if not count:
        return 0.0, 0.0
    kinds = (predicted & hubs, predicted & ~hubs, ~predicted & hubs)
    by_domain = np.stack([np.bincount(numbers[kind], minlength=count) for kind in kinds])
    rng = np.random.default_rng(seed)
    # Counting how often each domain is drawn is one multinomial draw.
    weights = rng.multinomial(count, np.full(count, 1 / count), size=draws)
    true, false, missed = (by_domain @ weights.T).astype(np.float64)
    f1 = 2 * true / np.maximum(2 * true + false + missed, 1)
    low, high = np.quantile(f1, [0.025, 0.975])
    return float(low), float(high)
