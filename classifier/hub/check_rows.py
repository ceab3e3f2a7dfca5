"""Rows of the full training by which an update is checked for what it forgets.

A user has the shipped model, not the rows it was trained on. So the model carries a few hundred of
them along, as the URL machine sees them: numbers, no addresses. Their table sums are out of fold,
as in training. The machine learned them, so the share it judges rightly is no score on unseen
sites; it is the height from which an update must not fall (:mod:`classifier.hub.registry`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from classifier.hub.svm import RbfMachine

CHECK_ROWS: Final = 600
"""Half of them hubs, each of another domain as far as there are enough: one row in 600 is 0.17 %."""


@dataclass(frozen=True, slots=True)
class CheckRows:
    """Scaled features and labels, one entry a row."""

    features: NDArray[np.float64]
    hubs: NDArray[np.bool_]

    def right(self, machine: RbfMachine) -> float:
        """Return the share of the rows that a machine judges rightly."""
        return float(np.mean((machine.decide(self.features) > 0) == self.hubs))

    def to_json(self) -> dict[str, Any]:
        """Return thousandths, whole numbers: scaled features have three decimals."""
        thousandths = np.round(self.features * 1000).astype(int)
        return {"hubs": self.hubs.astype(int).tolist(), "thousandths": thousandths.tolist()}

    @classmethod
    def from_json(cls, data: dict[str, Any], width: int) -> Self:
        """Read :meth:`to_json`; ValueError when the rows have another width or there are none."""
        features = np.array(data["thousandths"], dtype=np.float64) / 1000
        hubs = np.array(data["hubs"], dtype=np.bool_)
        if features.shape != (len(hubs), width) or not len(hubs):
            raise ValueError("its check rows do not fit its features")
        return cls(features, hubs)
