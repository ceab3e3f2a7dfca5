"""The reading list: new pages, marks, saved searches."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response

from incremental.base.errors import InputError, NotFoundError
from incremental.base.lookup import topic_numbered
from incremental.base.texts import Text
from incremental.interfaces.filters import Filters, from_json, lenient, number, to_json
from incremental.interfaces.results.judged import judged_for
from incremental.interfaces.results.status import next_look
from incremental.interfaces.web.api.schemas import RowId as PageId
from incremental.interfaces.web.context import StoreRoute, Web, web_of
from incremental.interfaces.web.reading import (
    Between,
    feedback,
    following,
    gained,
    like_of,
    merged,
    terms_of,
)
from incremental.interfaces.web.routes.forms import Back, RowId, see
from incremental.interfaces.web.views import page, query
from incremental.topics.editing import give_feedback
from store import Store
from store.answers import AnnouncedPage

router = APIRouter(include_in_schema=False, route_class=StoreRoute)
_PER_PAGE = 50
_MOST_ARRIVED = 50
_MOST_NAME = 80
_MARKS: dict[str, dict[str, bool]] = {
    "read": {"read": True},
    "unread": {"read": False},
    "star": {"starred": True},
    "unstar": {"starred": False},
}


@router.get("/")
def reading_list(
    request: Request,
    web: Web,
    store: Store,
    before: Annotated[str, Query(pattern=r"^\d{0,18}$")] = "",
) -> Response:
    """Show new pages, newest first; *before* is the cursor of the next older part."""
    filters = lenient(request.query_params)
    latest = max(store.answers.latest_cursor(), store.backfills.latest_cursor())
    asked = filters.query(web.now(), after=number(before), limit=_PER_PAGE)
    answer = store.answers.new(asked)
    part = Between(answer.cursor if answer.more else None, number(before))
    events = gained(store, filters, part, web.now())
    values = {
        "rows": merged(answer.rows, events),
        "events": events,
        "sites": store.read.sites(),
        "topics": store.topics.topics(),
        "tags": store.tags.tags(),
        "counts": store.answers.totals(),
        "searches": store.answers.searches(),
        **item_values(store, answer.rows, filters.topic),
    }
    if asked.hidden_verdict and not values["rows"]:
        values["judged"] = judged_for(store, asked)
    if not values["rows"] and not filters.narrows():
        values["next_look"] = next_look(store, web.settings, web.now())
    older = query("/", **filters.values(), before=answer.cursor) if answer.more else ""
    values |= {
        "filters": filters.values(),
        "narrowed": filters.narrows(),
        "older_url": older,
        "fresh_url": _fresh_url(filters, latest),
        "feed_url": _feed_url(filters),
    }
    return page(request, "new.html", values)


@router.get("/fresh")
def fresh(
    request: Request, web: Web, store: Store, after: Annotated[int, Query(ge=0, le=2**62)]
) -> Response:
    """Return the rows after a cursor, for the top of the list; 204 for none."""
    filters = lenient(request.query_params)
    asked = filters.query(web.now(), after=after, limit=_MOST_ARRIVED)
    answer = store.answers.new(replace(asked, order="oldest"))
    rows = answer.rows[::-1]
    below = following(after, rows) + 1 if answer.more else None
    events = gained(store, filters, Between(after, below), web.now())
    if not rows and not events:
        return Response(status_code=204)
    values = item_values(store, rows, filters.topic)
    values |= {
        "rows": merged(rows, events),
        "fresh_url": _fresh_url(filters, following(after, rows, events)),
    }
    return page(request, "_fresh.html", values)


def _feed_url(filters: Filters) -> str:
    if filters.site:
        return f"/feeds/site/{filters.site}"
    return f"/feeds/tag/{quote(filters.tag, safe='')}" if filters.tag else "/feeds/new"


def _fresh_url(filters: Filters, cursor: int) -> str:
    return query("/fresh", **filters.values(), after=str(cursor))


def item_values(store: Store, rows: tuple[AnnouncedPage, ...], topic: int | None) -> dict[str, Any]:
    """Return the template values that list rows need."""
    learned = feedback(store, rows, topic)
    return {"feedback": learned, "terms_of": terms_of, "like_of": like_of}


@router.post("/pages/{page_id}/mark")
def mark(
    request: Request,
    web: Web,
    store: Store,
    page_id: PageId,
    mark: Annotated[str, Form(max_length=20)],
    topic: Annotated[str, Form(pattern=r"^\d{0,18}$")] = "",
    back: Back = "/",
) -> Response:
    """Mark a page as read, starred or relevant; returns its row to htmx, else redirects."""
    chosen = number(topic)
    if mark in _MARKS:
        announced = store.answers.mark([page_id], now=web.now(), **_MARKS[mark])
        if not announced:
            raise NotFoundError(Text("input.page_unknown"))
    elif mark in ("relevant", "irrelevant"):
        _give_feedback(store, page_id, chosen, relevant=mark == "relevant", now=web.now())
    else:
        raise InputError("mark", mark, f"must be one of: {', '.join(_MARKS)}, (ir)relevant")
    if "hx-request" not in request.headers:
        return see(back)
    detail = store.answers.page(page_id, most=1)
    if detail is None or detail.news is None:
        raise NotFoundError(Text("input.page_unknown"))
    values = {"row": detail.news, **item_values(store, (detail.news,), chosen)}
    return page(request, "_item.html", values)


def _give_feedback(
    store: Store, page_id: int, topic: int | None, *, relevant: bool, now: float
) -> None:
    detail = store.answers.page(page_id, most=1)
    if detail is None or topic is None:
        raise NotFoundError(Text("input.page_unknown"))
    give_feedback(
        store, topic_numbered(store, topic).name, [detail.url], relevant=relevant, now=now
    )


@router.post("/read")
def mark_read(
    web: Web,
    store: Store,
    page: Annotated[list[RowId], Form(max_length=1_000)] = [],  # noqa: B006 - FastAPI copies it
    event: Annotated[list[RowId], Form(max_length=1_000)] = [],  # noqa: B006 - likewise
    back: Back = "/",
) -> Response:
    """Mark pages and events as read."""
    store.answers.mark(page, now=web.now(), read=True)
    store.backfills.mark(event, now=web.now(), read=True)
    return see(back)


@router.post("/searches")
async def save_search(request: Request) -> Response:
    """Save the current filters under a name."""
    web, given = web_of(request), await request.form()
    form = {key: value for key, value in given.items() if isinstance(value, str)}
    name = form.get("name", "").strip()
    if not 0 < len(name) <= _MOST_NAME:
        raise InputError("name", name[:_MOST_NAME], Text("input.name_length", n=_MOST_NAME))
    filters = lenient(form)
    with web.store() as store:
        store.answers.save_search(name, to_json(filters), now=web.now())
    return see(f"/searches/{quote(name, safe='')}")


@router.get("/searches/{name}")
def saved_search(request: Request, name: str) -> Response:
    """Redirect to the list of a saved search."""
    return see(query("/", **search_filters(request, name).values()))


@router.post("/searches/{name}/remove")
def remove_search(store: Store, name: str) -> Response:
    """Delete a saved search."""
    if not store.answers.remove_search(name):
        raise NotFoundError(Text("missing.search", name=name[:80]))
    return see("/feeds")


def search_filters(request: Request, name: str) -> Filters:
    """Return the filters of a saved search; raises NotFoundError if there is none."""
    with web_of(request).store() as store:
        row = store.answers.search(name)
    if row is None:
        raise NotFoundError(Text("missing.search", name=name[:80]))
    return from_json(row.query)
