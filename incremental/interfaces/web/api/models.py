"""Versions of the hub classifier: list, use, roll back."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path as InPath
from fastapi import Request

from classifier.hub.registry import ModelRegistry
from incremental.interfaces.web.api.schemas import ActiveModel, LongWork, api_router
from incremental.interfaces.web.background import begin_training, training_of
from incremental.interfaces.web.context import web_of
from incremental.topics.training.model_versions import ModelVersion, use_model

router = api_router("models", "/models")
Version = Annotated[str, InPath(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]


@router.get("")
def get_models(request: Request) -> list[ModelVersion]:
    """List the versions, oldest first, and mark the active one."""
    return web_of(request).hub_models.versions()


@router.get("/learn")
def get_training(request: Request) -> LongWork | None:
    """Return the last training that was begun here; null = none since the start."""
    work = training_of(web_of(request))
    return None if work is None else LongWork.model_validate(work)


@router.post("/learn")
def learn(request: Request) -> LongWork:
    """Train on all labels now, unless that is under way; it takes a minute or two.

    The new version is used at once unless it is worse than its base.
    """
    return LongWork.model_validate(begin_training(web_of(request)))


@router.post("/rollback")
def roll_back(request: Request) -> ActiveModel:
    """Roll back to the previous version."""
    return ActiveModel(active=ModelRegistry(web_of(request).models).rollback())


@router.post("/{version}/use")
def use(request: Request, version: Version) -> ActiveModel:
    """Use a version; a running daemon picks it up by itself."""
    use_model(web_of(request).models, version)
    return ActiveModel(active=version)
