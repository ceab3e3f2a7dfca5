"""Hubs, labels, and explanations of URLs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import PlainTextResponse

from incremental.base.lookup import site_numbered
from incremental.interfaces.explain.page import explain
from incremental.interfaces.results.hubs import Hub, hub_results
from incremental.interfaces.web.api.schemas import (
    Explanation,
    NewLabels,
    RowId,
    WebAddress,
    api_router,
    shape_of,
)
from incremental.interfaces.web.context import Web
from incremental.topics.training.corrections import Correction, correct_all
from incremental.topics.training.label_files import export_labels
from store import Store
from store.enums import LabelOrigin
from store.values import LabelEntry

router = api_router("hubs")
_LABELS: Any = list[shape_of(LabelEntry, leave=["canonical_key", "anchor"])]  # type: ignore[misc]  # made of fields
_LIMIT = Query(ge=1, le=5_000, description="Maximum number.")


@router.get("/hubs")
def list_hubs(
    web: Web,
    store: Store,
    site: Annotated[RowId | None, Query(description="Only this site.")] = None,
    limit: Annotated[int, _LIMIT] = 200,
) -> list[Hub]:
    """List hubs, most productive first: their yield, and when and why each is visited next."""
    rows = [site_numbered(store, site)] if site is not None else store.read.sites()
    return hub_results(store, web.settings, rows, now=web.now())[:limit]


@router.get("/labels", response_model=_LABELS)
def list_labels(
    store: Store,
    origin: LabelOrigin | None = None,
    limit: Annotated[int, _LIMIT] = 1_000,
) -> list[LabelEntry]:
    """List labels, latest first."""
    rows = store.read.labels(origin)
    return rows[::-1][:limit]


@router.post("/labels")
def label_pages(web: Web, store: Store, body: NewLabels) -> list[Correction]:
    """Label pages: applies at once, overrides everything else, and trains the classifier."""
    return correct_all(store, body.urls, body.label, now=web.now())


@router.get("/labels/export", response_class=PlainTextResponse)
def export_all_labels(store: Store) -> PlainTextResponse:
    """Return one label per page as tab-separated text; user labels win over behaviour."""
    text, _ = export_labels(store)
    return PlainTextResponse(text)


@router.get("/check")
def check(
    web: Web, store: Store, url: Annotated[WebAddress, Query(description="Any URL.")]
) -> Explanation:
    """Explain how a URL is classified and why it was (not) found. Fetches nothing."""
    answer = explain(store, web.settings, url, now=web.now(), models=web.models)
    return Explanation(**answer)
