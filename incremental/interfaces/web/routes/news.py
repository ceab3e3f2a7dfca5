"""The reading list: new pages, backfills, marks, saved searches.

One page: facts, cached text, history, diff, sightings, visits.
"""

from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, quote, urlsplit

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict

from incremental.base.errors import NotFoundError
from incremental.base.lookup import page_numbered, topic_numbered
from incremental.base.tagging import checked_name
from incremental.base.texts import Text
from incremental.base.urls import canonical_key
from incremental.interfaces.explain.page_versions import Difference, difference, versions_of_change
from incremental.interfaces.explain.topic import word_of
from incremental.interfaces.filters import Filters, from_json, lenient, number, to_json
from incremental.interfaces.results.schema import result_of
from incremental.interfaces.results.status import next_look
from incremental.interfaces.results.topics import judged_for
from incremental.interfaces.web.api.schemas import RowId as PathId
from incremental.interfaces.web.context import StoreRoute, Web, web_of
from incremental.interfaces.web.reading import (
    cursor_of,
    feedback,
    gained,
    marker,
    merged,
    paragraphs,
    terms,
    terms_of,
)
from incremental.interfaces.web.undo import TakeBack, undo_latest, undoable
from incremental.interfaces.web.views import (
    PREFERENCES,
    Back,
    RowIds,
    View,
    page,
    prefer,
    preferred,
    query,
    see,
    words_of,
)
from incremental.topics.editing import give_feedback
from store import Store
from store.answers import AnnouncedPage, NewQuery, PageDetail, SavedSearchRow
from store.crawl.backfills import BackfillEvent
from store.values import TopicScore

router = APIRouter(include_in_schema=False, route_class=StoreRoute)
_PER_PAGE = 50
_PER_EVENT = 200
_MOST_ARRIVED = 50
_MARKS = {
    "read": ("read", True),
    "unread": ("read", False),
    "star": ("starred", True),
    "unstar": ("starred", False),
}
_MOST_SIGHTINGS = 200
_MOST_LIKE = 50


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
        "feedback": feedback(store, answer.rows, filters.topic),
        **list_values(request, filters, merged(answer.rows, events)),
        "filters": filters.values(),
        "narrowed": filters.narrows(),
        "older_url": query("/", **filters.values(), before=oldest) if answer.more else "",
        "fresh_url": _fresh_url(filters, latest),
        "feed_url": _feed_url(filters),
    }
    if asked.hidden_verdict and not values["rows"]:
        values["judged"] = judged_for(store, asked)
    if not values["rows"] and not filters.narrows():
        values["next_look"] = next_look(store, web.settings, web.now())
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
    below = rows[0].cursor + 1 if answer.more else None
    shown = merged(rows, gained(store, filters, web.now(), above=after, below=below))
    if not shown:
        return Response(status_code=204)
    values = {
        "feedback": feedback(store, rows, filters.topic),
        **list_values(request, filters, shown),
        "fresh_url": _fresh_url(filters, cursor_of(shown[0])),
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
    groups: dict[str, list[AnnouncedPage | BackfillEvent]] = {}
    for row in rows:
        groups.setdefault(row.site if group == "site" else view.day(row.found_at), []).append(row)
    return {"rows": rows, "groups": groups, "group": group, "marked": marker(filters.q)}


@router.post("/pages/{page_id}/mark")
def mark(
    request: Request,
    web: Web,
    store: Store,
    page_id: PathId,
    mark: Annotated[Literal["read", "unread", "star", "unstar", "relevant", "irrelevant"], Form()],
    topic: Annotated[int | None, Form(ge=1, le=2**62)] = None,
    quiet: Annotated[bool, Form()] = False,
    back: Back = "/",
) -> Response:
    """Mark a page as read, starred or relevant; returns its row to htmx, else redirects.

    *quiet* marks come with another act, such as opening the page, and are not announced.
    """
    if mark in {"relevant", "irrelevant"}:
        take_back = _give_feedback(
            store, page_id, topic, relevant=mark == "relevant", now=web.now()
        )
    else:
        kind, value = _MARKS[mark]
        if not store.answers.mark([page_id], now=web.now(), **{kind: value}):
            raise NotFoundError(Text("input.page_unknown"))
        take_back = lambda store, now: store.answers.mark([page_id], now=now, **{kind: not value})  # noqa: E731
    if not quiet:
        undoable(request, mark, take_back, page_id, topic)
    if "hx-request" not in request.headers:
        return see(back)
    return _row(request, store, page_id, topic, "_item.html" if quiet else "_marked.html")


def _row(
    request: Request, store: Store, page_id: int, topic: int | None, template: str
) -> Response:
    detail = page_numbered(store, page_id, most=1)
    if detail.news is None:
        raise NotFoundError(Text("input.page_unknown"))
    shown = parse_qsl(urlsplit(request.headers.get("hx-current-url", "")).query)
    filters = lenient(dict(shown))
    learned = feedback(store, [detail.news], filters.topic, trained=topic)
    values = {"row": detail.news, "feedback": learned, "marked": marker(filters.q)}
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
        result_of(TopicScore, one, canonical_key=key, terms=terms(one.terms))
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
    change = undo_latest(request, store, web.now())
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
    page: RowIds,
    event: RowIds,
    read: Annotated[bool, Form()] = True,
    back: Back = "/",
) -> Response:
    """Mark pages and events as read, or as unread."""

    def mark(store: Store, now: float, *, read: bool) -> None:
        store.answers.mark(page, now=now, read=read)
        store.backfills.mark(event, now=now, read=read)

    mark(store, web.now(), read=read)
    n = len(page) + len(event)
    undoable(request, "all_read" if read else "unread", partial(mark, read=not read), n=n)
    return see(back)


class SearchForm(BaseModel):
    """A name, and beside it the filters."""

    model_config = ConfigDict(extra="allow")

    name: str


@router.post("/searches")
def save_search(web: Web, store: Store, form: Annotated[SearchForm, Form()]) -> Response:
    """Save the current filters under a name."""
    name = checked_name("name", form.name)
    store.answers.save_search(name, to_json(lenient(form.model_extra or {})), now=web.now())
    return see(f"/searches/{quote(name, safe='')}")


@router.get("/searches/{name}")
def saved_search(store: Store, name: str) -> Response:
    """Redirect to the list of a saved search."""
    return see(query("/", **from_json(search_named(store, name).query).values()))


@router.post("/searches/{name}/remove")
def remove_search(request: Request, store: Store, name: str) -> Response:
    """Delete a saved search."""
    row = search_named(store, name)
    store.answers.remove_search(name)
    undoable(
        request, "search", lambda store, now: store.answers.save_search(name, row.query, now=now)
    )
    return see("/feeds")


def search_named(store: Store, name: str) -> SavedSearchRow:
    """Return a saved search; raises :class:`NotFoundError`."""
    row = store.answers.search(name)
    if row is None:
        raise NotFoundError(Text("missing.search", name=name[:80]))
    return row


@router.get("/backfills/{event_id}")
def backfill_page(
    request: Request,
    store: Store,
    event_id: PathId,
    after: Annotated[int | None, Query(ge=0, le=2**62)] = None,
) -> Response:
    """Show the pages of a backfill, in the order of its list."""
    event = store.backfills.event(event_id)
    if event is None:
        raise NotFoundError(Text("missing.backfill"))
    asked = NewQuery(after=after, limit=_PER_EVENT, order="oldest")
    rows = store.backfills.pages(asked, event=event_id)
    more = len(rows) == _PER_EVENT
    address = query(f"/backfills/{event_id}", after=rows[-1].cursor) if more else ""
    return page(request, "backfill.html", {"event": event, "rows": rows, "more_url": address})


@router.get("/pages/{page_id}")
def page_page(
    request: Request,
    store: Store,
    detail: PageDetail,
    change: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    asked: Annotated[int, Query(ge=0, le=10_000)] = 0,
    refused: Annotated[str, Query(max_length=500)] = "",
    said: Annotated[str, Query(max_length=500)] = "",
    q: Annotated[str, Query(max_length=300)] = "",
) -> Response:
    """Show a page, and the diff of *change*; to htmx, for the pane, its text with the words *q* marked."""
    body = paragraphs(detail.text.text, detail.title) if detail.text else []
    if "hx-request" in request.headers:
        part = {"page": detail, "body": body, "marked": marker(q)}
        return page(request, "_reading.html", part)
    values: dict[str, Any] = {
        "page": detail,
        "body": body,
        "hub": store.read.hub(detail.page_id),
        "sightings": store.read.sightings(detail.page_id)[:_MOST_SIGHTINGS],
        "visits": store.read.visits(detail.page_id),
        "change": change,
        "diff": None if change is None else _difference(store, detail, change),
        "asked": asked,
        "problem": words_of(request).known(refused),
        "said": words_of(request).known(said),
        "feedback": feedback(store, [detail.news] if detail.news else [], None),
    }
    if any(mark.fetched for mark in detail.topics):
        values["terms_of"] = partial(terms_of, word=word_of(store, detail.page_id))
    return page(request, "page.html", values)


@router.get("/pages/{page_id}/like")
def like_page(request: Request, store: Store, detail: PageDetail) -> Response:
    """Show announced pages that are like a page in meaning, or why that cannot be said."""
    # Loads numpy.
    from incremental.topics.embedding.likeness import NoVectorError, pages_like, vector_of  # noqa: PLC0415

    asked, own = NewQuery(limit=_MOST_LIKE), detail.page_id
    try:
        found = pages_like(store, *vector_of(store, own), asked, but=own)
    except NoVectorError:
        found = None
    values: dict[str, Any] = {
        "page": detail,
        "found": found,
        "counts": store.vectors.counts(),
        "feedback": feedback(store, [one.page for one in found or ()], None),
    }
    return page(request, "like.html", values)


def _difference(store: Store, detail: PageDetail, change: int) -> Difference | None:
    """Return the diff of a change; None = a body is no longer in the cache."""
    before, after = versions_of_change(store, detail.page_id, change)
    try:
        return difference(store, detail.page_id, detail.url, before, after)
    except NotFoundError:
        return None
