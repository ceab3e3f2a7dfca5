"""The methods that paper 003 and we compare with: old URL rule, courlan, heuristic Bayes, content.

The trained ones travel with the model as files that the crawler never reads (:attr:`HubModel.rivals`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from classifier.hub import svm
from classifier.hub.content_features import CONTENT_FEATURE_NAMES
from classifier.hub.errors import ModelError
from classifier.hub.evidence import split_url
from classifier.hub.model import HubModel, compact
from lab.hub.paper import PaperMachine, apply_known, scale_known

PAPER_MACHINES: Final = ("paper_url", "paper_content")


@dataclass(frozen=True, slots=True)
class Rivals:
    """The trained ones."""

    paper_url: PaperMachine
    paper_content: PaperMachine
    heuristic: HeuristicBayes

    @classmethod
    def of(cls, model: HubModel) -> Self:
        """Read a model's rivals; raises ModelError."""
        try:
            data = {k: json.loads(v) for k, v in model.rivals.items() if k.endswith(".json")}
            url, content = (
                PaperMachine.from_json(data[f"{name}.json"], model.rivals[f"{name}.svm"])
                for name in PAPER_MACHINES
            )
            return cls(url, content, HeuristicBayes.from_json(data["heuristic.json"]))
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(Path(model.version), f"its rivals cannot be read ({error})") from error

    def to_files(self) -> dict[str, str]:
        """Return the files that travel with a model."""
        files = {"heuristic.json": compact(self.heuristic.to_json())}
        for name in PAPER_MACHINES:
            machine: PaperMachine = getattr(self, name)
            files[f"{name}.json"] = compact(machine.to_json())
            files[f"{name}.svm"] = machine.machine.text
        return files


_RULE_NAMES = ("index", "class", "default")


def rule_says_hub(url: str) -> bool:
    """Apply the oldest rule (Meng et al., paper 003 section 1): home page, index, class, default."""
    parts = split_url(url)
    if parts.is_root:
        return True
    return any(name in parts.stem.lower() for name in _RULE_NAMES)


def courlan_test() -> Callable[[str], bool] | None:
    """Return courlan's navigation test, or None when courlan is not installed (extra ``bench``)."""
    try:
        from courlan import is_navigation_page  # noqa: PLC0415 - optional
    except ImportError:
        return None

    def is_hub(url: str) -> bool:
        return bool(is_navigation_page(url))

    return is_hub


_PLACE: Final = {name: place for place, name in enumerate(CONTENT_FEATURE_NAMES)}
# Paper 003, section 3.2 (2). Depth, cycle and new URLs need history: unknown on one capture.
_PAPER_CONTENT: Final = (
    "page_depth",
    "update_cycle",
    "anchor_characters",
    "text_characters",
    "anchor_text_ratio",
    "urls",
    "new_urls",
    "new_url_share",
)


def paper_content_rows(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rival's eight features from content features; NaN = needs a history."""
    anchors = np.expm1(rows[:, _PLACE["link_characters"]])
    text = np.expm1(rows[:, _PLACE["plain_characters"]])
    unknown = np.full(len(rows), np.nan)
    links = np.expm1(rows[:, _PLACE["links"]])
    return np.stack(
        [unknown, unknown, anchors, text, anchors / (text + 1), links, unknown, unknown], axis=1
    )


def train_paper_content(
    rows: NDArray[np.float64], hubs: NDArray[np.bool_], *, cost: float, gamma: float
) -> PaperMachine:
    """Train the content rival on rows of :func:`paper_content_rows`."""
    scale = scale_known(rows)
    machine = svm.train(apply_known(scale, rows), hubs, cost=cost, gamma=gamma)
    return PaperMachine(scale, machine, {})


_BINS = 8
_HEURISTIC: Final = ("plain_characters", "punctuation", "link_share")


@dataclass(frozen=True, slots=True)
class HeuristicBayes:
    """The multi-feature rule (Ali et al., paper 003 section 3.2 (1)).

    Each of three features supports *topic* by P(topic | its bin) - P(hub | its bin), by Bayes with
    equal priors; a page is a hub when the mean support is below a threshold, which is searched
    between -0.2 and 0.6 as in the paper. How supports are joined is our reading; the paper is silent.
    """

    edges: NDArray[np.float64]
    """Inner bin borders, one row a feature."""
    support: NDArray[np.float64]
    """Support of topic by feature and bin."""
    threshold: float

    def decide(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return threshold minus support of rows of content features (positive: hub)."""
        return self.threshold - _support_of(_columns(rows), self.edges, self.support)

    @classmethod
    def fit(cls, rows: NDArray[np.float64], hubs: NDArray[np.bool_]) -> Self:
        """Count the bins, then take the threshold of the best accuracy."""
        columns = _columns(rows)
        steps = np.linspace(0, 1, _BINS + 1)[1:-1]
        edges = np.quantile(columns, steps, axis=0).T
        support = np.stack(
            [_bin_support(columns[:, i], edges[i], hubs) for i in range(columns.shape[1])]
        )
        found = _support_of(columns, edges, support)
        thresholds = np.round(np.arange(-0.2, 0.601, 0.02), 2)
        accuracies = [np.mean((found < threshold) == hubs) for threshold in thresholds]
        return cls(edges, support, float(thresholds[int(np.argmax(accuracies))]))

    def to_json(self) -> dict[str, Any]:
        """Return lists and the threshold."""
        return {
            "edges": self.edges.tolist(),
            "support": self.support.tolist(),
            "threshold": self.threshold,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read what :meth:`to_json` wrote."""
        return cls(np.array(data["edges"]), np.array(data["support"]), float(data["threshold"]))


def _columns(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return rows[:, [_PLACE[name] for name in _HEURISTIC]]


def _bin_support(
    column: NDArray[np.float64], edges: NDArray[np.float64], hubs: NDArray[np.bool_]
) -> NDArray[np.float64]:
    bins = np.digitize(column, edges)
    hub_share = (np.bincount(bins[hubs], minlength=_BINS) + 1) / (hubs.sum() + _BINS)
    topic_share = (np.bincount(bins[~hubs], minlength=_BINS) + 1) / ((~hubs).sum() + _BINS)
    difference: NDArray[np.float64] = (topic_share - hub_share) / (topic_share + hub_share)
    return difference


def _support_of(
    columns: NDArray[np.float64], edges: NDArray[np.float64], support: NDArray[np.float64]
) -> NDArray[np.float64]:
    parts = [
        support[place][np.digitize(columns[:, place], edges[place])]
        for place in range(columns.shape[1])
    ]
    mean: NDArray[np.float64] = np.mean(parts, axis=0)
    return mean
