"""Versions of the hub classifier: shipped ones, and those trained here.

The registry is the folder ``models`` beside the store; while it is empty, the shipped version is active.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from classifier.hub import HubClassifier, HubScore, LinkEvidence, ModelError, load_default
from classifier.hub.model import HubModel, save_model
from classifier.hub.registry import ActiveClassifier, ModelInfo, ModelRegistry
from incremental.base.errors import NotFoundError
from incremental.base.texts import Text

logger = logging.getLogger("hubwatch.models")


class ActiveScorer:
    """The active version, reloaded without a restart; if that fails, the previous one stays in use."""

    def __init__(self, root: Path) -> None:
        self._active = ActiveClassifier(root)
        self._version = ""
        self._problem = ""

    @property
    def version(self) -> str:
        """The version in use."""
        return self._current().version

    def score(self, links: Sequence[LinkEvidence]) -> Iterable[float]:
        """Score links, in order."""
        return self._current().score(links)

    def score_page(self, link: LinkEvidence, page: str | tuple[float, ...]) -> HubScore:
        """Score a fetched page by its URL and content."""
        return self._current().score_page(link, page)

    def _current(self) -> HubClassifier:
        current = self._active.current()
        problem = self._active.problem
        if problem and problem != self._problem:
            logger.warning("%s; %s stays in use", problem, current.version)
        if self._version and current.version != self._version:
            logger.info("now using hub classifier %s", current.version)
        self._version, self._problem = current.version, problem
        return current


@dataclass(frozen=True, slots=True)
class ModelVersion:
    """A version of the hub classifier."""

    version: str
    active: bool
    origin: str
    """shipped, learned or added."""
    f1: float | None
    rows: int | None
    learned_labels: int | None
    update: dict[str, Any] | None
    """Of a learned one: its base, and the shares of labels classified correctly before and after."""
    problem: str


def list_models(root: Path) -> list[ModelVersion]:
    """Return all versions, the shipped one first unless it was copied to the registry."""
    infos = ModelRegistry(root).models()
    rows = [_row(info, "learned" if "update" in info.metrics else "added") for info in infos]
    shipped = load_default().model
    if all(info.version != shipped.version for info in infos):
        in_use = not any(info.active for info in infos)
        first = ModelInfo(shipped.version, in_use, "", shipped.training, shipped.metrics)
        rows.insert(0, _row(first, "shipped"))
    return rows


def _row(info: ModelInfo, origin: str) -> ModelVersion:
    return ModelVersion(
        version=info.version,
        active=info.active,
        origin=origin,
        f1=info.metrics.get("urls", {}).get("all", {}).get("f1"),
        rows=info.training.get("rows"),
        learned_labels=info.training.get("update_rows"),
        update=info.metrics.get("update"),
        problem=info.problem,
    )


def use_model(root: Path, version: str) -> None:
    """Activate a version.

    Raises:
        NotFoundError: unknown version.
        ModelError: it is damaged; the active one stays.
    """
    known = [row.version for row in list_models(root)]
    if version not in known:
        raise NotFoundError(Text("missing.model", version=version, known=", ".join(known)))
    registry = ModelRegistry(root)
    if not (root / version).exists():
        adopt_shipped(root)
    HubClassifier.load(root / version)
    registry.use(version)


def adopt_shipped(root: Path) -> HubModel:
    """Copy the shipped model into the registry."""
    # So that one can switch back to it.
    model = load_default().model
    if not (root / model.version).exists():
        save_model(model, root / model.version)
    return model


def base_model(root: Path) -> HubModel:
    """Return the active model without its labels."""
    # All labels are added again at each training.
    model = ActiveClassifier(root).current().model
    seen = set[str]()
    while "update" in model.metrics and model.version not in seen:
        seen.add(model.version)
        before = root / str(model.metrics["update"].get("base", ""))
        try:
            model = HubClassifier.load(before).model
        except ModelError:
            return load_default().model
    return model
