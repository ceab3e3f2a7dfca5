"""Scaling of features and calibration of decision values, as plain numbers for JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_REACH = 3.0
"""Standard deviations after which a feature counts as extreme and no further."""

_CONSTANT = 1e-6
"""A feature that varies less is constant: rounding alone makes a deviation of about 1e-17."""


@dataclass(frozen=True, slots=True)
class LinearScale:
    """``(x - centre) / width``, cut off at ``reach`` on both sides."""

    centre: NDArray[np.float64]
    width: NDArray[np.float64]
    reach: float

    @classmethod
    def standard(cls, rows: NDArray[np.float64]) -> Self:
        """Mean 0 and deviation 1 on the training rows; constant features become 0."""
        width = rows.std(axis=0)
        width[width < _CONSTANT] = 1.0
        return cls(rows.mean(axis=0), width, _REACH)

    @classmethod
    def to_unit_range(cls, rows: NDArray[np.float64]) -> Self:
        """[-1, 1] on the training rows, as svm-scale does (paper 003, section 2.3)."""
        low, high = rows.min(axis=0), rows.max(axis=0)
        width = (high - low) / 2
        width[width < _CONSTANT] = 1.0
        return cls((high + low) / 2, width, 1.0)

    def apply(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scale rows; three decimals, so that a saved machine is small and equal to the live one."""
        scaled = np.clip((rows - self.centre) / self.width, -self.reach, self.reach)
        rounded: NDArray[np.float64] = np.round(scaled, 3)
        return rounded

    def to_json(self) -> dict[str, object]:
        """Return lists of rounded numbers."""
        return {
            "centre": [round(float(x), 6) for x in self.centre],
            "width": [round(float(x), 6) for x in self.width],
            "reach": self.reach,
        }

    @classmethod
    def from_json(cls, data: dict[str, object]) -> Self:
        """Read what :meth:`to_json` wrote."""
        centre = np.array(data["centre"], dtype=np.float64)
        width = np.array(data["width"], dtype=np.float64)
        return cls(centre, width, float(str(data["reach"])))


@dataclass(frozen=True, slots=True)
class Sigmoid:
    """Platt's calibration: probability = 1 / (1 + exp(-(slope * value + offset)))."""

    slope: float
    offset: float

    @classmethod
    def fit(cls, values: NDArray[np.float64], hubs: NDArray[np.bool_]) -> Self:
        """Fit on decision values of rows that the machine was not trained on."""
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - heavy

        fitted = LogisticRegression(C=1e3).fit(values[:, None], hubs)
        return cls(float(fitted.coef_[0][0]), float(fitted.intercept_[0]))

    def log_odds(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return calibrated log-odds, cut off at +-12 (nothing is surer than 1 in 160,000)."""
        return np.clip(self.slope * values + self.offset, -12.0, 12.0)

    def probability(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return calibrated probabilities."""
        return to_probability(self.log_odds(values))


def to_probability(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn log-odds into probabilities."""
    probabilities: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-log_odds))
    return probabilities


def to_log_odds(probability: float) -> float:
    """Turn one probability into log-odds, cut off as in :meth:`Sigmoid.log_odds`."""
    bounded = min(max(probability, 6.2e-6), 1 - 6.2e-6)
    return float(np.log(bounded / (1 - bounded)))
