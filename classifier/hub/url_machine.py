"""The URL machine: scaled features and table sums, SVM, calibration."""

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

# Neither size nor depth of the page: both made the log-odds worse on sites that training had not seen.
ALL_FEATURE_NAMES: Final = (
    *FEATURE_NAMES,
    *(f"table_{name}" for name in TABLE_NAMES),
    "table_all",
)

# Factor by which a table sum outweighs a dense feature: ten sums compete with a hundred features,
# yet know more. With seven sums it raised domain-folded F1 from 0.954 to 0.956, without root pages
# from 0.926 to 0.929.
_TABLE_EMPHASIS = 2.5


def scale_features(scale: LinearScale, features: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return features as the machine sees them: scaled, table sums emphasised."""
    scaled = scale.apply(features)
    scaled[:, len(FEATURE_NAMES) :] *= _TABLE_EMPHASIS
    return scaled


@dataclass(frozen=True, slots=True)
class UrlMachine:
    """All that scoring a link by URL and anchor needs."""

    tables: ValueTables
    scale: LinearScale
    machine: RbfMachine
    sigmoid: Sigmoid

    def features(self, links: Sequence[LinkEvidence]) -> NDArray[np.float64]:
        """Return unscaled features, one row per link, in the order of ALL_FEATURE_NAMES."""
        parts = [split_url(link.url) for link in links]
        return np.hstack([describe(links, parts), self.tables.sums(links, parts)])

    def log_odds(self, links: Sequence[LinkEvidence]) -> NDArray[np.float64]:
        """Return the calibrated log-odds of each link being a hub."""
        values = self.machine.decide(scale_features(self.scale, self.features(links)))
        return self.sigmoid.log_odds(values)

    def to_json(self) -> dict[str, Any]:
        """All but the machine, which has its own file."""
        return {
            "features": list(ALL_FEATURE_NAMES),
            "scale": self.scale.to_json(),
            "sigmoid": [self.sigmoid.slope, self.sigmoid.offset],
            "tables": self.tables.to_json(),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], machine_text: str) -> Self:
        """Read :meth:`to_json` and libsvm's text; ValueError if another version wrote them."""
        tables = ValueTables.from_json(data["tables"])
        return cls(tables, *read_machine(data, machine_text, ALL_FEATURE_NAMES))


def read_machine(
    data: dict[str, Any], machine_text: str, names: Sequence[str]
) -> tuple[LinearScale, RbfMachine, Sigmoid]:
    """Read a machine with its scaling and calibration; ValueError if another version wrote them."""
    if data["features"] != list(names):
        raise ValueError("its features are not those of this version")
    scale = LinearScale.from_json(data["scale"])
    machine = RbfMachine.from_text(machine_text, len(scale.centre))
    return scale, machine, Sigmoid(*data["sigmoid"])


@dataclass(frozen=True, slots=True)
class CheckRows:
    """Training rows shipped with the model, to check that an update forgets nothing.

    The share that a machine gets right is the level from which an update must not fall
    (:mod:`classifier.hub.registry`); it learned these rows, so it is no score for unseen sites.
    """

    # Scaled, without addresses; the table sums are out of fold, as in training.
    features: NDArray[np.float64]
    hubs: NDArray[np.bool_]

    def right(self, machine: RbfMachine) -> float:
        """Return the share of the rows that a machine gets right."""
        return float(np.mean((machine.decide(self.features) > 0) == self.hubs))

    def to_json(self) -> dict[str, Any]:
        """Return integers in thousandths: scaled features have three decimals."""
        thousandths = np.round(self.features * 1000).astype(int)
        return {"hubs": self.hubs.astype(int).tolist(), "thousandths": thousandths.tolist()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read :meth:`to_json`; ValueError if the rows have another width or there are none."""
        features = np.array(data["thousandths"], dtype=np.float64) / 1000
        hubs = np.array(data["hubs"], dtype=np.bool_)
        if features.shape != (len(hubs), len(ALL_FEATURE_NAMES)) or not len(hubs):
            raise ValueError("the check rows do not fit the features")
        return cls(features, hubs)
