"""Versions of the hub classifier: shipped ones, and those trained here.

The registry is the folder ``models`` beside the store; while it is empty, the shipped version is active.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from classifier.hub.classifier import HubClassifier, load_default
from classifier.hub.errors import ModelError
from classifier.hub.model import HubModel, save_model
from classifier.hub.registry import ActiveClassifier, ModelInfo, ModelRegistry
from incremental.base.errors import NotFoundError
from incremental.base.texts import Text


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
    shipped = load_default().model
    origins = {shipped.version: "shipped"}
    rows = [
        _row(one, "learned" if "update" in one.metrics else origins.get(one.version, "added"))
        for one in infos
    ]
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
