"""Backfills: events and their pages."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path as InPath
from fastapi import Query

from incremental.interfaces.filters import Filters, backfill_query
from incremental.interfaces.results.schema import Page, page_result
from incremental.interfaces.web.api.filtering import asking
from incremental.interfaces.web.api.schemas import ResponseSchema, RowId, api_router, shape_of
from incremental.interfaces.web.context import Web
from incremental.interfaces.web.routes.backfills import event_numbered
from store import Store
from store.crawl.backfills import BackfillEvent, BackfillQuery

router = api_router("pages", "/backfills")
_After = Annotated[int | None, Query(ge=0, le=2**62, description="Continue after this cursor.")]


class Backfills(ResponseSchema):
    """Backfills, and the cursor after the latest."""

    backfills: list[shape_of(BackfillEvent)]  # type: ignore[valid-type]  # made of fields
    cursor: int | None


class BackfillPages(ResponseSchema):
    """Pages of a backfill, and the cursor to continue from."""

    pages: list[Page]
    cursor: int | None


@router.get("", response_model=Backfills)
def list_backfills(
    web: Web,
    store: Store,
    filters: Annotated[Filters, asking("site", "tag", "since", "until")],
    after: _After = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> dict[str, Any]:
    """List backfills, newest first; oldest first with `after`."""
    order = "newest" if after is None else "oldest"
    asked = filters.query(web.now())
    query = backfill_query(store, asked, after=after, limit=limit, order=order)
    rows = store.backfills.events(query)
    cursor = max((row.id for row in rows), default=after)
    return {"backfills": rows, "cursor": cursor}


@router.get("/{event_id}/pages")
def list_pages(
    store: Store,
    event_id: Annotated[RowId, InPath(description="Id from the list.")],
    after: _After = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> BackfillPages:
    """List the pages of a backfill, in the order of its list."""
    query = BackfillQuery(event=event_id, after=after, limit=limit, order="oldest")
    event_numbered(store, event_id)
    rows = store.backfills.pages(query)
    cursor = rows[-1].cursor if rows else after
    return BackfillPages(pages=[page_result(row) for row in rows], cursor=cursor)
