"""Backfills: one event and its pages."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response

from incremental.base.errors import NotFoundError
from incremental.base.texts import Text
from incremental.interfaces.web.api.schemas import RowId
from incremental.interfaces.web.context import StoreRoute, Web
from incremental.interfaces.web.routes.forms import Back, see
from incremental.interfaces.web.undo import undoable
from incremental.interfaces.web.views import page, query
from store import Store
from store.crawl.backfills import BackfillEvent, BackfillQuery

router = APIRouter(include_in_schema=False, route_class=StoreRoute)
_PER_PAGE = 200


def event_numbered(store: Store, event_id: int) -> BackfillEvent:
    """Return a backfill; raises NotFoundError if there is none."""
    event = store.backfills.event(event_id)
    if event is None:
        raise NotFoundError(Text("missing.backfill"))
    return event


@router.get("/backfills/{event_id}")
def backfill_page(
    request: Request,
    store: Store,
    event_id: RowId,
    after: Annotated[int | None, Query(ge=0, le=2**62)] = None,
) -> Response:
    """Show the pages of a backfill, in the order of its list."""
    event = event_numbered(store, event_id)
    asked = BackfillQuery(event=event_id, after=after, limit=_PER_PAGE, order="oldest")
    rows = store.backfills.pages(asked)
    more = len(rows) == _PER_PAGE
    address = query(f"/backfills/{event_id}", after=rows[-1].cursor) if more else ""
    return page(request, "backfill.html", {"event": event, "rows": rows, "more_url": address})


@router.post("/backfills/{event_id}/mark")
def mark_backfill(
    request: Request,
    web: Web,
    store: Store,
    event_id: RowId,
    mark: Annotated[str, Form(pattern="^(read|unread)$")],
    back: Back = "/",
) -> Response:
    """Mark a backfill as read or unread."""
    event_numbered(store, event_id)
    read = mark == "read"
    store.backfills.mark([event_id], now=web.now(), read=read)
    undoable(
        request, mark, lambda store, now: store.backfills.mark([event_id], now=now, read=not read)
    )
    return see(back)
