"""The URL machine: features and table sums of a link, scaled, through the SVM, calibrated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from classifier.hub.evidence import LinkEvidence, split_url
from classifier.hub.scaling import LinearScale, Sigmoid
from classifier.hub.svm import RbfMachine
from classifier.hub.tables import TABLE_NAMES, ValueTables
from classifier.hub.url_features import FEATURE_NAMES, describe

ALL_FEATURE_NAMES: Final = (
    *FEATURE_NAMES,
    *(f"table_{name}" for name in TABLE_NAMES),
    "table_all",
)

# How much longer the axes of the table sums are than those of the dense features.  Ten sums stand
# against a hundred dense features, yet know more: when they were seven, domain-folded F1 rose from
# 0.954 to 0.956, without root pages from 0.926 to 0.929.
_TABLE_EMPHASIS = 2.5


def scale_features(scale: LinearScale, features: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return features as the machine sees them: scaled, the table sums emphasised."""
    scaled = scale.apply(features)
    scaled[:, len(FEATURE_NAMES) :] *= _TABLE_EMPHASIS
    return scaled


@dataclass(frozen=True, slots=True)
class UrlMachine:
    """All that judging a link by URL and anchor needs."""

    tables: ValueTables
    scale: LinearScale
    machine: RbfMachine
    sigmoid: Sigmoid

    def features(self, links: Sequence[LinkEvidence]) -> NDArray[np.float64]:
        """Return unscaled features, one row a link, in the order of ALL_FEATURE_NAMES."""
        parts = [split_url(link.url) for link in links]
        return np.hstack([describe(links, parts), self.tables.sums(links, parts)])

    def log_odds(self, links: Sequence[LinkEvidence]) -> NDArray[np.float64]:
        """Return the calibrated log-odds of each link being a hub."""
        values = self.machine.decide(scale_features(self.scale, self.features(links)))
        return self.sigmoid.log_odds(values)

    def to_json(self) -> dict[str, Any]:
        """Return everything but the machine, which has its own file."""
        return {
            "features": list(ALL_FEATURE_NAMES),
            "scale": self.scale.to_json(),
            "sigmoid": [self.sigmoid.slope, self.sigmoid.offset],
            "tables": self.tables.to_json(),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], machine_text: str) -> Self:
        """Read :meth:`to_json` and libsvm's text; ValueError when they are of another version."""
        if tuple(data["features"]) != ALL_FEATURE_NAMES:
            raise ValueError("its features are not those of this version")
        return cls(
            ValueTables.from_json(data["tables"]),
            LinearScale.from_json(data["scale"]),
            RbfMachine.from_text(machine_text, len(ALL_FEATURE_NAMES)),
            Sigmoid(*data["sigmoid"]),
        )


@dataclass(frozen=True, slots=True)
class CheckRows:
    """Rows of the full training by which an update is checked for what it forgets; one entry a row.

    A user has the shipped model, not the rows it was trained on. So the model carries a few hundred of
    them along, as the URL machine sees them: numbers, no addresses. Their table sums are out of fold, as
    in training. The machine learned them, so the share it judges rightly is no score on unseen sites; it
    is the height from which an update must not fall (:mod:`classifier.hub.registry`).
    """

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
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read :meth:`to_json`; ValueError when the rows have another width or there are none."""
        features = np.array(data["thousandths"], dtype=np.float64) / 1000
        hubs = np.array(data["hubs"], dtype=np.bool_)
        if features.shape != (len(hubs), len(ALL_FEATURE_NAMES)) or not len(hubs):
            raise ValueError("its check rows do not fit its features")
        return cls(features, hubs)
