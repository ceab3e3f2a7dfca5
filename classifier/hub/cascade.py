"""The cascade: where the URL leaves doubt, the page's content decides.

This answers paper 003's open question (its last paragraph): URL features are cheap and fail where
a site's URLs say nothing, so only those pages are parsed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from classifier.hub.content_features import CONTENT_FEATURE_NAMES
from classifier.hub.scaling import LinearScale, Sigmoid
from classifier.hub.svm import RbfMachine

_URL_REACH = 6.0
# Factor by which the URL's log-odds outweigh a content feature; 2 and 6 work equally well.
_URL_EMPHASIS = 4.0


@dataclass(frozen=True, slots=True)
class ContentMachine:
    """An SVM over content features, with its scaling and calibration."""

    scale: LinearScale
    machine: RbfMachine
    sigmoid: Sigmoid

    def log_odds(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return calibrated log-odds for rows of content features."""
        return self.sigmoid.log_odds(self.machine.decide(self.scale.apply(rows)))

    def to_json(self) -> dict[str, Any]:
        """All but the machine, which has its own file."""
        return {
            "features": list(CONTENT_FEATURE_NAMES),
            "scale": self.scale.to_json(),
            "sigmoid": [self.sigmoid.slope, self.sigmoid.offset],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], machine_text: str) -> Self:
        """Read :meth:`to_json` and libsvm's text; ValueError if another version wrote them."""
        if tuple(data["features"]) != CONTENT_FEATURE_NAMES:
            raise ValueError("its content features are not those of this version")
        scale = LinearScale.from_json(data["scale"])
        machine = RbfMachine.from_text(machine_text, len(scale.centre))
        return cls(scale, machine, Sigmoid(*data["sigmoid"]))


def joint_rows(
    rows: NDArray[np.float64],
    url_log_odds: NDArray[np.float64],
    page_bytes: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Content features, the logarithm of the page's size (NaN = unknown), the URL's log-odds."""
    # One SVM over both: a weighted sum of two scores reached F1 0.935 on held-out domains, this
    # 0.957. The size gained 0.004 to 0.010 here, and nothing significant in the content SVM
    # (docs/how-hubs-are-found.md, "Page size and crawl depth").
    reached = np.clip(url_log_odds, -_URL_REACH, _URL_REACH)
    return np.column_stack([rows, np.log1p(page_bytes), reached])


def scale_joined(scale: LinearScale, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of :func:`joint_rows` as the joint machine sees them."""
    # After scaling 0 is the mean, so an unknown size counts as an average one.
    scaled = np.nan_to_num(scale.apply(rows), nan=0.0)
    scaled[:, -1] *= _URL_EMPHASIS
    return scaled


@dataclass(frozen=True, slots=True)
class Cascade:
    """The URL decides alone where ``|log-odds| >= sure``, elsewhere the joint machine."""

    sure: float
    joint: ContentMachine

    def needs_content(self, url_log_odds: float) -> bool:
        """Whether the URL alone is inconclusive."""
        return abs(url_log_odds) < self.sure

    def join(
        self,
        url: NDArray[np.float64],
        rows: NDArray[np.float64],
        page_bytes: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Log-odds of pages; content and size (NaN = unknown) count where the URL leaves doubt."""
        joint = self.joint
        scaled = scale_joined(joint.scale, joint_rows(rows, url, page_bytes))
        joined = joint.sigmoid.log_odds(joint.machine.decide(scaled))
        return np.where(np.abs(url) >= self.sure, url, joined)
