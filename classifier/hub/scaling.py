"""Scaling of features and calibration of decision values, as plain numbers for JSON."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class LinearScale:
    """``(x - centre) / width``, clipped to ``±reach``."""

    centre: NDArray[np.float64]
    width: NDArray[np.float64]
    reach: float

    def apply(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scale rows to three decimals."""
        scaled = np.clip((rows - self.centre) / self.width, -self.reach, self.reach)
        # Support vectors are scaled rows: rounded, a saved SVM is small and equals the one in memory.
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
        """Inverse of :meth:`to_json`."""
        centre = np.array(data["centre"], dtype=np.float64)
        width = np.array(data["width"], dtype=np.float64)
        return cls(centre, width, float(str(data["reach"])))


@dataclass(frozen=True, slots=True)
class Sigmoid:
    """Platt's calibration: probability = 1 / (1 + exp(-(slope * value + offset)))."""

    slope: float
    offset: float

    def log_odds(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return calibrated log-odds, clipped to ±12."""
        # No SVM is more certain than one error in 160,000.
        return np.clip(self.slope * values + self.offset, -12.0, 12.0)


def to_probability(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn log-odds into probabilities."""
    probabilities: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-log_odds))
    return probabilities


def to_log_odds(probability: float) -> float:
    """Turn one probability into log-odds, clipped as in :meth:`Sigmoid.log_odds`."""
    bounded = min(max(probability, 6.2e-6), 1 - 6.2e-6)
    return float(np.log(bounded / (1 - bounded)))
