"""Paper 003, faithfully: ten URL features, text features by their share among hubs, RBF SVM.

Section 2.2 names the features, section 2.3 the method. Ours where the paper is silent: an
unknown feature (page size, crawl depth, anchor) is left out of the sparse row, which is the
middle of the scaled range, in training and in use alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from classifier.hub import svm
from classifier.hub.evidence import LinkEvidence, UrlParts, split_url
from classifier.hub.scaling import LinearScale
from classifier.hub.updating import folds_of
from classifier.hub.url_features import date_precision
from lab.hub.fits import unit_range_scale
from lab.hub.folded import FoldedRows

PAPER_FEATURE_NAMES: Final = (
    "anchor_length",
    "url_length",
    "date_in_url",
    "file_name",
    "file_type",
    "parameter_name",
    "parameter_count",
    "directory_depth",
    "page_size",
    "crawl_depth",
)
FOLDS: Final = 10
# Training hubs that the values of text features are counted on (section 2.2).
VALUE_SAMPLE: Final = 500

_LIST_NAMES = ("class", "index", "default", "list")
_ARTICLE_NAMES = ("article", "content")
_PROGRAMS = frozenset(["asp", "jsp", "aspx", "php"])
_DOCUMENTS = frozenset(["shtml", "html", "htm"])


def file_name_kind(parts: UrlParts) -> str:
    """Return the paper's class of a file name: empty, list, article or other."""
    name = "" if not parts.extension else parts.stem.lower()
    if not name:
        return "empty"
    if any(word in name for word in _LIST_NAMES):
        return "list"
    return "article" if any(word in name for word in _ARTICLE_NAMES) else "other"


def file_type_kind(parts: UrlParts) -> str:
    """Return the paper's class of a file type: empty, program, document or other."""
    if not parts.extension:
        return "empty"
    if parts.extension in _PROGRAMS:
        return "program"
    return "document" if parts.extension in _DOCUMENTS else "other"


def parameter_kind(parts: UrlParts) -> str:
    """Return the paper's class of parameter names: empty, id or other."""
    names = [pair.partition("=")[0].lower() for pair in parts.query.split("&") if pair]
    if not names:
        return "empty"
    return "id" if any("id" in name for name in names) else "other"


_TEXT_FEATURES: Final = {
    "file_name": file_name_kind,
    "file_type": file_type_kind,
    "parameter_name": parameter_kind,
}

TextValues = dict[str, dict[str, float]]
"""Feature -> class -> 100 x its share among the training hubs."""


def learn_values(hubs: Sequence[LinkEvidence]) -> TextValues:
    """Count the classes of text features among (at most 500) hubs."""
    parts = [split_url(link.url) for link in hubs[:VALUE_SAMPLE]]
    values: TextValues = {}
    for name, kind_of in _TEXT_FEATURES.items():
        kinds = [kind_of(part) for part in parts]
        values[name] = {kind: 100 * kinds.count(kind) / len(kinds) for kind in sorted(set(kinds))}
    return values


def describe_as_paper(links: Sequence[LinkEvidence], values: TextValues) -> NDArray[np.float64]:
    """Return the ten features of each link; NaN = unknown."""
    rows = [_row(link, split_url(link.url), values) for link in links]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(PAPER_FEATURE_NAMES))


def _row(link: LinkEvidence, parts: UrlParts, values: TextValues) -> list[float]:
    unknown = float("nan")
    directories = len(parts.segments) - (bool(parts.segments) and not parts.path.endswith("/"))
    text = [values[name].get(kind_of(parts), 0.0) for name, kind_of in _TEXT_FEATURES.items()]
    return [
        float(len(link.anchor)) if link.anchor else unknown,
        float(len(link.url)),
        float(date_precision(parts.path) > 0),
        *text,
        float(parts.query.count("=")),
        float(directories),
        unknown if link.page_bytes is None else float(link.page_bytes),
        unknown if link.crawl_depth is None else float(link.crawl_depth),
    ]


def scale_known(rows: NDArray[np.float64]) -> LinearScale:
    """Return svm-scale's [-1, 1] over the known values; a feature never known stays at 0."""
    known = np.where(np.isnan(rows).all(axis=0), 0.0, rows)
    filled = np.where(np.isnan(known), np.nanmean(known, axis=0), known)
    return unit_range_scale(filled)


def apply_known(scale: LinearScale, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale rows; unknown values become 0, which libsvm's sparse rows leave out."""
    return np.nan_to_num(scale.apply(rows), nan=0.0)


def paper_folds(
    rows: NDArray[np.float64], hubs: NDArray[np.bool_], kept_together: Sequence[str]
) -> FoldedRows:
    """Return unscaled rows in the paper's ten folds (section 2.3).

    Rows of one name in ``kept_together`` are in one fold: domains, or a name of its own for each row.
    """
    return FoldedRows.build(
        rows,
        hubs,
        folds_of(kept_together, FOLDS),
        lambda inside: partial(apply_known, scale_known(inside)),
    )


@dataclass(frozen=True, slots=True)
class PaperMachine:
    """An SVM as the paper trains it, on its URL features or on its rivals' content features."""

    scale: LinearScale
    machine: svm.RbfMachine
    values: TextValues
    """Empty for content features."""

    def decide(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return decision values of unscaled rows (positive: hub)."""
        return self.machine.decide(apply_known(self.scale, rows))

    def decide_links(self, links: Sequence[LinkEvidence]) -> NDArray[np.float64]:
        """Return decision values of links."""
        return self.decide(describe_as_paper(links, self.values))

    def to_json(self) -> dict[str, Any]:
        """Return everything but the machine, which has its own file."""
        return {"scale": self.scale.to_json(), "values": self.values}

    @classmethod
    def from_json(cls, data: dict[str, Any], machine_text: str) -> Self:
        """Read :meth:`to_json` and libsvm's text."""
        scale = LinearScale.from_json(data["scale"])
        return cls(scale, svm.RbfMachine.from_text(machine_text, len(scale.centre)), data["values"])


def train_paper_url(
    links: Sequence[LinkEvidence], hubs: NDArray[np.bool_], *, cost: float, gamma: float
) -> PaperMachine:
    """Train the paper's URL SVM with given parameters (its best: C 32, gamma 0.0625)."""
    values = learn_values([link for link, hub in zip(links, hubs, strict=True) if hub])
    rows = describe_as_paper(links, values)
    scale = scale_known(rows)
    machine = svm.train(apply_known(scale, rows), hubs, cost=cost, gamma=gamma)
    return PaperMachine(scale, machine, values)
