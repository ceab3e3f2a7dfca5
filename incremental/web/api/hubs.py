"""Hubs, labels, and why an address is what it is."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import PlainTextResponse

from classifier.hub.errors import LabelFileError
from incremental.errors import InputError
from incremental.explain.page import explain, hub_rows
from incremental.results.lookup import site_numbered
from incremental.training.corrections import correct
from incremental.training.label_files import export_labels, import_labels
from incremental.web.api.schemas import (
    REFUSED,
    Explanation,
    Hub,
    ImportedLabels,
    LabelFile,
    LabelResult,
    NewLabels,
    RowId,
    WebAddress,
    shape_of,
)
from incremental.web.conditional import ConditionalRoute
from incremental.web.context import web_of
from store.enums import LabelOrigin
from store.values import LabelEntry

router = APIRouter(prefix="/api/v1", tags=["hubs"], route_class=ConditionalRoute, responses=REFUSED)
_LABELS: Any = list[shape_of(LabelEntry, leave=["canonical_key", "anchor"])]  # type: ignore[misc]  # made of fields
_LIMIT = Query(ge=1, le=5_000, description="At most so many.")


@router.get("/hubs")
def list_hubs(
    request: Request,
    site: Annotated[RowId | None, Query(description="Only of this site.")] = None,
    limit: Annotated[int, _LIMIT] = 200,
) -> list[Hub]:
    """List hub pages, the most productive first: what each brought, and when and why it is visited next."""
    web = web_of(request)
    with web.store() as store:
        rows = [site_numbered(store, site)] if site is not None else store.read.sites()
        found = hub_rows(store, web.settings, rows, now=web.now())
    return [Hub(**row) for row in found[:limit]]


@router.get("/labels", response_model=_LABELS)
def list_labels(
    request: Request,
    origin: LabelOrigin | None = None,
    limit: Annotated[int, _LIMIT] = 1_000,
) -> list[LabelEntry]:
    """List what was said of pages, the latest first."""
    with web_of(request).store() as store:
        rows = store.read.labels(origin)
    return rows[::-1][:limit]


@router.post("/labels")
def label_pages(request: Request, body: NewLabels) -> list[LabelResult]:
    """Say what pages are: it acts at once, outranks all else, and teaches the classifier."""
    web = web_of(request)
    results = []
    with web.store() as store:
        for url in body.urls:
            try:
                done = correct(store, url, body.label, now=web.now())
            except InputError as error:
                results.append(LabelResult(url=url, error=str(error)))
            else:
                results.append(LabelResult(url=done.url, label=done.label, sites=list(done.sites)))
    return results


@router.get("/labels/export", response_class=PlainTextResponse)
def export_all_labels(request: Request) -> PlainTextResponse:
    """Return all labels as tab-separated text, one a page: yours before behaviour's before imported ones."""
    with web_of(request).store() as store:
        text, _ = export_labels(store)
    return PlainTextResponse(text)


@router.post("/labels/import")
def import_label_file(request: Request, body: LabelFile) -> ImportedLabels:
    """Take in labels of another machine, for training: all of them, or none if a line is wrong."""
    web = web_of(request)
    with web.store() as store, tempfile.TemporaryDirectory(prefix="hubwatch-") as folder:
        path = Path(folder) / "labels.tsv"
        path.write_bytes(body.content.encode("utf-8", "replace"))
        try:
            count, changed = import_labels(store, path, now=web.now())
        except LabelFileError as error:
            # Without the file's name: it is nothing to who sent the text.
            raise InputError("labels", f"line {error.line}", error.problem) from None
    return ImportedLabels(labels=count, changed=changed)


@router.get("/check")
def check(
    request: Request, url: Annotated[WebAddress, Query(description="Any address.")]
) -> Explanation:
    """Say what is made of an address, and why it was (not) found. Nothing is fetched."""
    web = web_of(request)
    with web.store() as store:
        answer = explain(store, web.settings, url, now=web.now(), models=web.models)
    return Explanation(**answer)
