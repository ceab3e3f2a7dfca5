"""Models: versions of the hub classifier, their quality, and pages worth labelling."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from classifier.hub import load_default
from classifier.hub.errors import HubClassifierError
from classifier.hub.registry import ModelRegistry
from incremental.base.errors import NotFoundError
from incremental.interfaces.web.background import begin_training, training_of
from incremental.interfaces.web.context import web_of
from incremental.interfaces.web.routes.forms import see
from incremental.interfaces.web.views import page
from incremental.topics.training.model_versions import use_model
from store import Store
from store.enums import HubKind, HubRole, LabelOrigin
from store.values import HubRow

router = APIRouter(include_in_schema=False)
_QUEUE = 30
# Only hubs scored within this distance of 0.5 are offered for labelling.
_DOUBT = 0.35
_ORIGINS = (LabelOrigin.USER, LabelOrigin.BEHAVIOUR)


@router.get("/models")
def models_page(request: Request) -> Response:
    """Show the versions, the metrics of the active one, and the label queue."""
    return _models(request, "")


def _models(request: Request, problem: str) -> Response:
    web = web_of(request)
    metrics = web.hub_models.current().model.metrics
    if not _slices(metrics):
        metrics = load_default().model.metrics
    slices = _slices(metrics)
    with web.store() as store:
        said = Counter(entry.origin for entry in store.read.labels())
        doubtful = _doubtful(store)
    values = {
        "problem": problem,
        "training": training_of(web),
        "versions": web.hub_models.versions(),
        "slices": slices,
        "doubtful": doubtful,
        "label_counts": {origin: said[origin] for origin in _ORIGINS},
    }
    return page(request, "models.html", values)


def _slices(metrics: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the test metrics of each slice in a manifest."""
    found = []
    for kind in ("urls", "pages"):
        for name, row in metrics.get(kind, {}).items():
            if isinstance(row, dict) and {"precision", "recall", "f1", "n"} <= set(row):
                found.append({"name": f"{kind}_{name}", **row})
    return found


def _doubtful(store: Store) -> list[HubRow]:
    """Return the unlabelled hubs with the most uncertain scores."""
    hubs = [hub for hub in store.read.hubs() if abs(hub.score - 0.5) <= _DOUBT]
    hubs = [
        hub
        for hub in hubs
        if hub.role not in (HubRole.SEED, HubRole.USER) and hub.kind == HubKind.HTML
    ]
    hubs.sort(key=lambda hub: abs(hub.score - 0.5))
    said = store.read.corrections([hub.canonical_key for hub in hubs[: _QUEUE * 4]])
    return [hub for hub in hubs[: _QUEUE * 4] if hub.canonical_key not in said][:_QUEUE]


@router.post("/models/learn")
def learn(request: Request) -> Response:
    """Train on all labels now, which takes a minute or two."""
    begin_training(web_of(request))
    return see("/models")


@router.post("/models/rollback")
def roll_back(request: Request) -> Response:
    """Roll back to the previous version."""
    return _try(request, lambda root: ModelRegistry(root).rollback())


@router.post("/models/{version}/use")
def use(request: Request, version: str) -> Response:
    """Use a version."""
    return _try(request, lambda root: use_model(root, version))


def _try(request: Request, change: Any) -> Response:  # noqa: ANN401 - a function of the folder
    root: Path = web_of(request).models
    try:
        change(root)
    except (HubClassifierError, NotFoundError) as error:
        return _models(request, str(error))
    return see("/models")
