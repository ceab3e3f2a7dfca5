"""Content and cascade: when the URL is not sure and the page is at hand, content decides.

The cascade is paper 003's open question (its last paragraph): URL features are cheap and fail
where a site's URLs say nothing, so only those pages pay for parsing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from classifier.hub.content_features import CONTENT_FEATURE_NAMES
from classifier.hub.scaling import LinearScale, Sigmoid
from classifier.hub.svm import RbfMachine

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ContentMachine:
    """The content SVM with its scaling and calibration."""

    scale: LinearScale
    machine: RbfMachine
    sigmoid: Sigmoid

    def log_odds(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return calibrated log-odds for rows of content features."""
        return self.sigmoid.log_odds(self.machine.decide(self.scale.apply(rows)))

    def to_json(self) -> dict[str, Any]:
        """Return everything but the machine, which has its own file."""
        return {
            "features": list(CONTENT_FEATURE_NAMES),
            "scale": self.scale.to_json(),
            "sigmoid": [self.sigmoid.slope, self.sigmoid.offset],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], machine_text: str) -> Self:
        """Read :meth:`to_json` and libsvm's text; ValueError when they are of another version."""
        if tuple(data["features"]) != CONTENT_FEATURE_NAMES:
            raise ValueError("its content features are not those of this version")
        return cls(
            LinearScale.from_json(data["scale"]),
            RbfMachine.from_text(machine_text, len(CONTENT_FEATURE_NAMES)),
            Sigmoid(*data["sigmoid"]),
        )


@dataclass(frozen=True, slots=True)
class Cascade:
    """The rule that joins both: ``|url log-odds| >= sure`` decides alone, else a weighted sum."""

    sure: float
    url_weight: float
    content_weight: float
    offset: float

    def needs_content(self, url_log_odds: float) -> bool:
        """Tell whether the URL leaves doubt."""
        return abs(url_log_odds) < self.sure

    def join(self, url_log_odds: float, content_log_odds: float) -> float:
        """Return the log-odds of a page whose URL left doubt."""
        joined = self.url_weight * url_log_odds + self.content_weight * content_log_odds
        return float(np.clip(joined + self.offset, -12.0, 12.0))

    def join_all(
        self, url: NDArray[np.float64], content: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the cascade's log-odds of many pages; content counts only where the URL doubts."""
        joined = self.url_weight * url + self.content_weight * content + self.offset
        return np.where(np.abs(url) >= self.sure, url, np.clip(joined, -12.0, 12.0))

    def to_json(self) -> list[float]:
        """Return the four numbers."""
        return [self.sure, self.url_weight, self.content_weight, self.offset]


def fit_cascade(
    url: NDArray[np.float64], content: NDArray[np.float64], hubs: NDArray[np.bool_]
) -> Cascade:
    """Fit on log-odds of pages that neither machine was trained on.

    The zone of doubt is the narrowest whose F1 is within 0.003 of the best: a wider one parses
    more pages for nothing.
    """
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - heavy

    fitted = LogisticRegression(C=1.0).fit(np.stack([url, content], axis=1), hubs)
    weights = [float(weight) for weight in fitted.coef_[0]]
    joined = url * weights[0] + content * weights[1] + float(fitted.intercept_[0])
    zones = np.arange(0.0, 8.1, 0.25)
    scores = [_f1(np.where(np.abs(url) >= zone, url, joined) > 0, hubs) for zone in zones]
    sure = next(zone for zone, f1 in zip(zones, scores, strict=True) if f1 >= max(scores) - 0.003)
    return Cascade(float(sure), weights[0], weights[1], float(fitted.intercept_[0]))


def _f1(predicted: NDArray[np.bool_], hubs: NDArray[np.bool_]) -> float:
    return float(2 * (predicted & hubs).sum() / max(predicted.sum() + hubs.sum(), 1))
