"""Pages: new pages, details, marks, backfills."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path as InPath
from fastapi import Query
from pydantic import Field, model_validator

from incremental.base.lookup import find_page, page_numbered, topic_numbered
from incremental.base.times import moment
from incremental.interfaces.explain.page_versions import (
    Difference,
    compared,
    difference,
    text_of,
    version_at,
    versions_of_change,
)
from incremental.interfaces.filters import HINTS, Filters, backfill_query, known
from incremental.interfaces.results.schema import (
    LikePage,
    NewPages,
    Page,
    PageChange,
    PageTopic,
    PageVisit,
    Sighting,
    like_page,
    page_result,
    page_topic,
    result_of,
)
from incremental.interfaces.web.api.schemas import (
    RequestSchema,
    ResponseSchema,
    RowId,
    WebAddress,
    api_router,
    asking,
    shape_of,
)
from incremental.interfaces.web.context import Web
from incremental.interfaces.web.routes.news import event_numbered
from incremental.topics.editing import give_feedback
from store import Store
from store.answers import PageDetail, StoredText
from store.crawl.backfills import BackfillEvent, BackfillQuery

router = api_router("pages")
_PAGE: Any = shape_of(
    PageDetail,
    leave=["page_id", "canonical_key", "body_md5", "news", "text", "history"],
    id=int,
    announced=Page | None,
    topics=list[PageTopic],
)
_TEXT: Any = shape_of(StoredText, leave=["language", "cluster", "forgotten_at"])


class LikePages(ResponseSchema):
    """Pages like another, the most alike first."""

    pages: list[LikePage]


class MarkRequest(RequestSchema):
    """Marks for announced pages; omitted marks stay unchanged."""

    pages: Annotated[list[RowId], Field(min_length=1, max_length=1_000)]
    read: bool | None = None
    starred: bool | None = None
    topic: RowId | None = None
    """The topic that *relevant* is about."""
    relevant: bool | None = None

    @model_validator(mode="after")
    def _needs_topic(self) -> MarkRequest:
        if (self.topic is None) != (self.relevant is None):
            raise ValueError("topic and relevant go together")
        return self


class Marked(ResponseSchema):
    """Ids of the marked pages, announced ones only."""

    pages: list[int]


_NARROWED = asking(*(name for name in HINTS if name != "show"))
_After = Annotated[int | None, Query(ge=0, le=2**62, description="Continue after this cursor.")]
_Time = Annotated[str, Query(max_length=40, description="Age (`3d`) or date.")]


@router.get("/pages")
def new_pages(
    web: Web,
    store: Store,
    filters: Annotated[Filters, _NARROWED],
    after: _After = None,
    order: Annotated[
        Literal["newest", "oldest"] | None,
        Query(description="Default: oldest with `after`, else newest."),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    read: bool | None = None,
    starred: bool | None = None,
) -> NewPages:
    """List new pages. Paging by `cursor` skips and repeats none, even if new ones arrive meanwhile."""
    if order is None:
        order = "newest" if after is None else "oldest"
    more: dict[str, Any] = {"read": read, "starred": starred}
    asked = known(store, filters).query(web.now(), after=after, limit=limit, order=order, **more)
    answer = store.answers.new(asked)
    return NewPages([page_result(row) for row in answer.rows], answer.cursor, answer.more)


@router.get("/pages/lookup", response_model=_PAGE)
def look_up(
    store: Store, url: Annotated[WebAddress, Query(description="URL of the page.")]
) -> dict[str, Any]:
    """Return the page with a URL; 404 if no hub has shown it."""
    return get_page(page_numbered(store, find_page(store, url)["id"]))


@router.get("/pages/{page_id}", response_model=_PAGE)
def get_page(page: PageDetail) -> dict[str, Any]:
    """Return a page."""
    return {
        **{name: getattr(page, name) for name in page.__slots__},
        "id": page.page_id,
        "announced": page_result(page.news) if page.news else None,
        "topics": [page_topic(mark) for mark in page.topics],
    }


@router.get("/pages/{page_id}/text", response_model=_TEXT)
def get_text(web: Web, store: Store, page: PageDetail, at: _Time = "") -> dict[str, Any]:
    """Return the text of a page, now or at a time. Untrusted: escape it."""
    when = moment(at, web.now()) if at else None
    version = version_at(store.answers.versions(page.page_id), when)
    found = text_of(store, {"id": page.page_id, "url": page.url}, version)
    return {"title": found.title, "text": found.text, "md5": version.body_md5, "at": version.at}


@router.get("/pages/{page_id}/history")
def get_history(
    store: Store,
    page: PageDetail,
    before: Annotated[int | None, Query(ge=0, le=2**62)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> list[PageChange]:
    """List the changes of a page, newest first; `before` is the id of the last entry read."""
    rows = store.answers.history(page.page_id, limit=limit, before=before)
    return [result_of(PageChange, row) for row in rows]


@router.get("/pages/{page_id}/diff", response_model=shape_of(Difference))
def get_diff(
    web: Web,
    store: Store,
    page: PageDetail,
    change: Annotated[RowId | None, Query(description="Change id from the history.")] = None,
    start: Annotated[str, Query(alias="from", max_length=40, description="A time.")] = "",
    end: Annotated[str, Query(alias="to", max_length=40, description="A time.")] = "",
) -> Difference:
    """Return a text diff of a page: of a change, between two times, or of the last change."""
    if change is not None:
        before, after = versions_of_change(store, page.page_id, change)
    else:
        versions = store.answers.versions(page.page_id)
        times = [moment(text, web.now()) if text else None for text in (start, end)]
        before, after = compared(versions, *times)
    return difference(store, page.page_id, page.url, before, after)


@router.get("/pages/{page_id}/like")
def get_like(
    web: Web,
    store: Store,
    page: PageDetail,
    filters: Annotated[Filters, asking("site", "topic", "tag", "language", "since")],
    limit: Annotated[int, Query(ge=1, le=1_000)] = 20,
) -> LikePages:
    """List announced pages like this one in meaning; 404 if it has no vector (yet)."""
    asked = known(store, filters).query(web.now(), limit=limit)
    # Loads numpy.
    from incremental.topics.embedding.likeness import pages_like, vector_of  # noqa: PLC0415

    found = pages_like(store, *vector_of(store, page.page_id), asked, but=page.page_id)
    return LikePages(pages=[like_page(one.page, one.likeness) for one in found])


@router.get("/pages/{page_id}/sightings")
def get_sightings(store: Store, page: PageDetail) -> list[Sighting]:
    """List the hubs that have shown a page, with times."""
    return [result_of(Sighting, row) for row in store.read.sightings(page.page_id)]


@router.get("/pages/{page_id}/visits")
def get_visits(store: Store, page: PageDetail) -> list[PageVisit]:
    """List the latest visits of a page, newest first."""
    return [result_of(PageVisit, row) for row in store.read.visits(page.page_id)]


@router.post("/pages/marks")
def mark_pages(web: Web, store: Store, body: MarkRequest) -> Marked:
    """Mark pages as read, starred, or relevant to a topic."""
    announced = store.answers.mark(body.pages, now=web.now(), read=body.read, starred=body.starred)
    if body.topic is not None and body.relevant is not None:
        name = topic_numbered(store, body.topic).name
        urls = store.read.urls(announced)
        give_feedback(store, name, urls, relevant=body.relevant, now=web.now())
    return Marked(pages=announced)


class Backfills(ResponseSchema):
    """Backfills, and the cursor after the latest."""

    backfills: list[shape_of(BackfillEvent)]  # type: ignore[valid-type]  # made of fields
    cursor: int | None


class BackfillPages(ResponseSchema):
    """Pages of a backfill, and the cursor to continue from."""

    pages: list[Page]
    cursor: int | None


@router.get("/backfills", response_model=Backfills)
def list_backfills(
    web: Web,
    store: Store,
    filters: Annotated[Filters, asking("site", "tag", "since", "until")],
    after: _After = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> dict[str, Any]:
    """List backfills, newest first; oldest first with `after`."""
    order = "newest" if after is None else "oldest"
    asked = known(store, filters).query(web.now())
    query = backfill_query(store, asked, after=after, limit=limit, order=order)
    rows = store.backfills.events(query)
    cursor = max((row.id for row in rows), default=after)
    return {"backfills": rows, "cursor": cursor}


@router.get("/backfills/{event_id}/pages")
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
