"""Backfills: events and their pages."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath

from incremental.interfaces.filters import Filters
from incremental.interfaces.results.schema import page_json
from incremental.interfaces.web.api.filtering import asking
from incremental.interfaces.web.api.page_shapes import BACKFILL_PAGES, BACKFILLS
from incremental.interfaces.web.api.schemas import REFUSED, RowId
from incremental.interfaces.web.conditional import ConditionalRoute
from incremental.interfaces.web.context import web_of
from incremental.interfaces.web.routes.backfills import event_numbered
from store.crawl.backfills import BackfillQuery

router = APIRouter(
    prefix="/api/v1/backfills", tags=["pages"], route_class=ConditionalRoute, responses=REFUSED
)
_After = Annotated[int | None, Query(ge=0, le=2**62, description="Continue after this cursor.")]


@router.get("", response_model=BACKFILLS)
def list_backfills(
    request: Request,
    filters: Annotated[Filters, asking("site", "since", "until")],
    after: _After = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> dict[str, Any]:
    """List backfills, newest first; oldest first with `after`."""
    web = web_of(request)
    asked = filters.query(web.now())
    query = BackfillQuery(
        since=asked.since,
        until=asked.until,
        sites=asked.sites,
        after=after,
        limit=limit,
        order="newest" if after is None else "oldest",
    )
    with web.store() as store:
        rows = store.backfills.events(query)
    cursor = max((row.id for row in rows), default=after)
    return {"backfills": rows, "cursor": cursor}


@router.get("/{event_id}/pages", response_model=BACKFILL_PAGES)
def list_pages(
    request: Request,
    event_id: Annotated[RowId, InPath(description="Id from the list.")],
    after: _After = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> dict[str, Any]:
    """List the pages of a backfill, in the order of its list."""
    query = BackfillQuery(event=event_id, after=after, limit=limit, order="oldest")
    with web_of(request).store() as store:
        event_numbered(store, event_id)
        rows = store.backfills.pages(query)
    cursor = rows[-1].cursor if rows else after
    return {"pages": [page_json(row) for row in rows], "cursor": cursor}
