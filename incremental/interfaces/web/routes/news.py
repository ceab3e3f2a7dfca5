"""The reading list: new pages, backfills, marks, saved searches."""

from dataclasses import replace
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import parse_qsl, quote, urlsplit

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response
from markupsafe import escape

from incremental.base.errors import InputError, NotFoundError
from incremental.base.lookup import page_numbered, topic_numbered
from incremental.base.tagging import checked_name
from incremental.base.texts import Text
from incremental.base.urls import canonical_key
from incremental.interfaces.filters import Filters, from_json, lenient, number, to_json
from incremental.interfaces.results.status import next_look
from incremental.interfaces.results.topics import judged_for
from incremental.interfaces.web.api.schemas import RowId as PathId
from incremental.interfaces.web.context import StoreRoute, Web, web_of
from incremental.interfaces.web.reading import (
    feedback,
    following,
    gained,
    grouped,
    like_of,
    marker,
    merged,
    terms,
    terms_of,
)
from incremental.interfaces.web.routes.forms import Back, RowId, see
from incremental.interfaces.web.undo import TakeBack, undoable, undos_of
from incremental.interfaces.web.views import (
    PREFERENCES,
    View,
    page,
    prefer,
    preferred,
    query,
    words_of,
)
from incremental.topics.editing import give_feedback
from store import Store
from store.answers import AnnouncedPage, NewQuery
from store.crawl.backfills import BackfillEvent
from store.values import TopicScore

router = APIRouter(include_in_schema=False, route_class=StoreRoute)
_PER_PAGE = 50
_PER_EVENT = 200
_MOST_ARRIVED = 50
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
    oldest = answer.cursor if answer.more else None
    events = gained(store, filters, web.now(), above=oldest, below=number(before))
    values = {
        "events": events,
        "sites": store.read.sites(),
        "topics": store.topics.topics(),
        "tags": store.tags.tags(),
        "counts": store.answers.totals(),
        "searches": store.answers.searches(),
        **item_values(store, answer.rows, filters.topic),
        **list_values(request, filters, merged(answer.rows, events)),
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
    response = page(request, "new.html", values)
    prefer(request, response, "group", request.query_params.get("group", ""))
    return response


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
    events = gained(store, filters, web.now(), above=after, below=below)
    if not rows and not events:
        return Response(status_code=204)
    values = item_values(store, rows, filters.topic)
    values |= {
        **list_values(request, filters, merged(rows, events)),
        "fresh_url": _fresh_url(filters, following(after, rows, events)),
    }
    return page(request, "_fresh.html", values)


def _feed_url(filters: Filters) -> str:
    if filters.site:
        return f"/feeds/site/{filters.site}"
    return f"/feeds/tag/{quote(filters.tag, safe='')}" if filters.tag else "/feeds/new"


def _fresh_url(filters: Filters, cursor: int) -> str:
    return query("/fresh", **filters.values(), after=str(cursor))


def list_values(
    request: Request, filters: Filters, rows: list[AnnouncedPage | BackfillEvent]
) -> dict[str, Any]:
    """Return the template values of a list: its rows below their headings."""
    asked = request.query_params.get("group", "")
    group = asked if asked in PREFERENCES["group"] else preferred(request, "group") or "day"
    view = View(words_of(request), web_of(request).now())
    groups = grouped(rows, group, view)
    return {"rows": rows, "groups": groups, "group": group, "marked": marker(filters.q)}


def item_values(
    store: Store, rows: tuple[AnnouncedPage, ...], topic: int | None, trained: int | None = None
) -> dict[str, Any]:
    """Return the template values that list rows need; *trained* is the topic that their buttons trained."""
    learned = feedback(store, rows, topic, trained)
    return {"feedback": learned, "terms_of": terms_of, "like_of": like_of, "marked": escape}


@router.post("/pages/{page_id}/mark")
def mark(
    request: Request,
    web: Web,
    store: Store,
    page_id: PathId,
    mark: Annotated[str, Form(max_length=20)],
    topic: Annotated[str, Form(pattern=r"^\d{0,18}$")] = "",
    quiet: Annotated[bool, Form()] = False,
    back: Back = "/",
) -> Response:
    """Mark a page as read, starred or relevant; returns its row to htmx, else redirects.

    *quiet* marks come with another act, such as opening the page, and are not announced.
    """
    chosen = number(topic)
    if mark in _MARKS:
        (kind, value), *_ = _MARKS[mark].items()
        announced = store.answers.mark([page_id], now=web.now(), **_MARKS[mark])
        if not announced:
            raise NotFoundError(Text("input.page_unknown"))
        back_to = {kind: not value}
        take_back: TakeBack = lambda store, now: store.answers.mark([page_id], now=now, **back_to)  # noqa: E731
    elif mark in ("relevant", "irrelevant"):
        relevant = mark == "relevant"
        take_back = _give_feedback(store, page_id, chosen, relevant=relevant, now=web.now())
    else:
        raise InputError("mark", mark, f"must be one of: {', '.join(_MARKS)}, (ir)relevant")
    if not quiet:
        undoable(request, mark, take_back, page_id, chosen)
    if "hx-request" not in request.headers:
        return see(back)
    return _row(request, store, page_id, chosen, "_item.html" if quiet else "_marked.html")


def _row(
    request: Request, store: Store, page_id: int, topic: int | None, template: str
) -> Response:
    detail = page_numbered(store, page_id, most=1)
    if detail.news is None:
        raise NotFoundError(Text("input.page_unknown"))
    shown = parse_qsl(urlsplit(request.headers.get("hx-current-url", "")).query)
    filters = lenient(dict(shown))
    values = item_values(store, (detail.news,), filters.topic, trained=topic)
    values |= {"row": detail.news, "marked": marker(filters.q)}
    return page(request, template, values)


def _give_feedback(
    store: Store, page_id: int, topic: int | None, *, relevant: bool, now: float
) -> TakeBack:
    """Train a topic with a page; return what takes that back."""
    detail = page_numbered(store, page_id, most=1)
    if topic is None:
        raise NotFoundError(Text("input.page_unknown"))
    name, key = topic_numbered(store, topic).name, canonical_key(detail.url)
    said = store.topics.said_of([key]).get((topic, key))
    scores = [
        TopicScore(
            key,
            topic,
            one.score,
            one.verdict,
            one.fetched,
            one.method,
            one.version,
            terms(one.terms),
        )
        for one in store.topics.scores([page_id], topic)
    ]
    give_feedback(store, name, [detail.url], relevant=relevant, now=now)

    def take_back(store: Store, now: float) -> None:
        if said is not None:
            give_feedback(store, name, [detail.url], relevant=said == "relevant", now=now)
            return
        for example in store.topics.examples(topic):
            if example.canonical_key == key:
                store.editing.forget_example(topic, example.id, now=now)
        store.topics.put_scores(detail.site_id, scores, now=now)

    return take_back


@router.post("/undo")
def undo(request: Request, web: Web, store: Store, back: Back = "/") -> Response:
    """Take back the latest change of this browser; returns its row to htmx, else redirects."""
    change = undos_of(request).latest(request)
    if change is not None:
        undos_of(request).forget(change)
        change.take_back(store, web.now())
    if "hx-request" not in request.headers:
        return see(back)
    if change is None:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    if change.page_id is None:
        return Response(headers={"HX-Refresh": "true"})
    return _row(request, store, change.page_id, change.topic, "_undone.html")


@router.post("/read")
def mark_read(
    request: Request,
    web: Web,
    store: Store,
    page: Annotated[list[RowId], Form(max_length=1_000)] = [],  # noqa: B006 - FastAPI copies it
    event: Annotated[list[RowId], Form(max_length=1_000)] = [],  # noqa: B006 - likewise
    back: Back = "/",
) -> Response:
    """Mark pages and events as read."""
    store.answers.mark(page, now=web.now(), read=True)
    store.backfills.mark(event, now=web.now(), read=True)

    def take_back(store: Store, now: float) -> None:
        store.answers.mark(page, now=now, read=False)
        store.backfills.mark(event, now=now, read=False)

    undoable(request, "all_read", take_back, n=len(page) + len(event))
    return see(back)


@router.post("/searches")
async def save_search(request: Request) -> Response:
    """Save the current filters under a name."""
    web, given = web_of(request), await request.form()
    form = {key: value for key, value in given.items() if isinstance(value, str)}
    name = checked_name("name", form.get("name", ""))
    filters = lenient(form)
    with web.store() as store:
        store.answers.save_search(name, to_json(filters), now=web.now())
    return see(f"/searches/{quote(name, safe='')}")


@router.get("/searches/{name}")
def saved_search(request: Request, name: str) -> Response:
    """Redirect to the list of a saved search."""
    return see(query("/", **search_filters(request, name).values()))


@router.post("/searches/{name}/remove")
def remove_search(request: Request, store: Store, name: str) -> Response:
    """Delete a saved search."""
    row = store.answers.search(name)
    if row is None or not store.answers.remove_search(name):
        raise NotFoundError(Text("missing.search", name=name[:80]))
    undoable(
        request, "search", lambda store, now: store.answers.save_search(name, row.query, now=now)
    )
    return see("/feeds")


def search_filters(request: Request, name: str) -> Filters:
    """Return the filters of a saved search; raises NotFoundError if there is none."""
    with web_of(request).store() as store:
        row = store.answers.search(name)
    if row is None:
        raise NotFoundError(Text("missing.search", name=name[:80]))
    return from_json(row.query)


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
    event_id: PathId,
    after: Annotated[int | None, Query(ge=0, le=2**62)] = None,
) -> Response:
    """Show the pages of a backfill, in the order of its list."""
    event = event_numbered(store, event_id)
    asked = NewQuery(after=after, limit=_PER_EVENT, order="oldest")
    rows = store.backfills.pages(asked, event=event_id)
    more = len(rows) == _PER_EVENT
    address = query(f"/backfills/{event_id}", after=rows[-1].cursor) if more else ""
    return page(request, "backfill.html", {"event": event, "rows": rows, "more_url": address})


@router.post("/backfills/{event_id}/mark")
def mark_backfill(
    request: Request,
    web: Web,
    store: Store,
    event_id: PathId,
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
