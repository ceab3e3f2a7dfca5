"""Pages: what is new, what is known of one, marks."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath

from incremental.errors import InputError, NotFoundError
from incremental.explain.page_versions import previous, text_of, version_at
from incremental.saved_searches import Filters
from incremental.times import moment
from incremental.topics.editing import teach
from incremental.urls import identity, normalize
from incremental.web.api.page_replies import (
    Change,
    Copy,
    Diff,
    Mark,
    Marked,
    MarkOrder,
    NewPage,
    NewPages,
    Page,
    PageText,
    PageVersion,
    Sighting,
    Visit,
)
from incremental.web.api.replies import REFUSED, RowId, WebAddress
from incremental.web.changes import difference, versions_of_change
from incremental.web.conditional import ConditionalRoute
from incremental.web.context import web_of
from store import Store
from store.answers import NewsRow, PageDetail, TopicMark

router = APIRouter(
    prefix="/api/v1/pages", tags=["pages"], route_class=ConditionalRoute, responses=REFUSED
)
PageId = Annotated[RowId, InPath(description="As the list shows it.")]
_Time = Annotated[str, Query(max_length=40, description="A span back (`3d`) or a date.")]


@router.get("")
def new_pages(  # noqa: PLR0913, PLR0917 - each narrows the same question
    request: Request,
    after: Annotated[
        int | None, Query(ge=0, le=2**62, description="Go on behind this cursor.")
    ] = None,
    order: Annotated[
        Literal["newest", "oldest"] | None,
        Query(description="Default: oldest with `after`, to follow on; else newest."),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    q: Annotated[str, Query(max_length=300, description="Words in title or text.")] = "",
    site: Annotated[RowId | None, Query(description="Id of a site.")] = None,
    topic: Annotated[RowId | None, Query(description="Id of a topic.")] = None,
    verdict: Annotated[Literal["relevant", "grey", "irrelevant"] | None, Query()] = None,
    min_score: Annotated[float | None, Query(ge=0, le=1)] = None,
    language: Annotated[str, Query(max_length=20, description="As `zh`.")] = "",
    since: Annotated[str, Query(max_length=40, description="A span (`3h`) or a date.")] = "",
    until: Annotated[str, Query(max_length=40)] = "",
    read: bool | None = None,
    starred: bool | None = None,
) -> NewPages:
    """List new pages. Paging by `cursor` neither skips nor repeats a page, whatever is told meanwhile."""
    web = web_of(request)
    filters = Filters(q, site, topic, verdict or "", language, since)
    if order is None:
        order = "newest" if after is None else "oldest"
    ending = Filters(since=until).query(web.now()).since
    more: dict[str, Any] = {"read": read, "starred": starred}
    asked = filters.query(
        web.now(), after=after, limit=limit, order=order, until=ending, min_score=min_score, **more
    )
    with web.store() as store:
        answer = store.answers.new(asked)
    return NewPages(
        pages=[_new_page(row) for row in answer.rows], cursor=answer.cursor, more=answer.more
    )


def _new_page(row: NewsRow) -> NewPage:
    facts = {key: value for key, value in asdict(row).items() if key != "topics"}
    return NewPage(**facts, id=row.page_id, topics=[_mark(mark) for mark in row.topics])


def _mark(mark: TopicMark) -> Mark:
    return Mark.model_validate(asdict(mark))


@router.get("/lookup")
def look_up(
    request: Request, url: Annotated[WebAddress, Query(description="The page's address.")]
) -> Page:
    """Return what is known of the page at an address; 404 if no hub has shown it."""
    address = normalize(url)
    if address is None:
        raise InputError("url", url[:200], "not a web address")
    with web_of(request).store() as store:
        found = store.read.find_page(address, identity(address))
        if not found:
            raise NotFoundError("it was never seen; /api/v1/check says why that may be")
        return _page(store, found[0]["id"])


@router.get("/{page_id}")
def get_page(request: Request, page_id: PageId) -> Page:
    """Return what is known of a page."""
    with web_of(request).store() as store:
        return _page(store, page_id)


def _detail(store: Store, page_id: int) -> PageDetail:
    detail = store.answers.page(page_id)
    if detail is None:
        raise NotFoundError("no page has that number")
    return detail


def _page(store: Store, page_id: int) -> Page:
    detail = _detail(store, page_id)
    facts = asdict(detail)
    for name in ("news", "text", "history", "topics", "copies"):
        del facts[name]
    return Page(
        **facts,
        id=page_id,
        told=_new_page(detail.news) if detail.news else None,
        topics=[_mark(mark) for mark in detail.topics],
        copies=[Copy.model_validate(asdict(copy)) for copy in detail.copies],
    )


@router.get("/{page_id}/text")
def get_text(request: Request, page_id: PageId, at: _Time = "") -> PageText:
    """Return the text of a page, as it was at a time; it came from the site, so escape it."""
    web = web_of(request)
    when = moment(at, web.now()) if at else None
    with web.store() as store:
        url = _detail(store, page_id).url
        version = version_at(store.answers.versions(page_id), when)
        found = text_of(store, {"id": page_id, "url": url}, version)
    facts = {"title": found.title, "text": found.text, "md5": version.body_md5, "at": version.at}
    return PageText.model_validate(facts)


@router.get("/{page_id}/versions")
def get_versions(request: Request, page_id: PageId) -> list[PageVersion]:
    """Return from when on a page had which body, the oldest first."""
    with web_of(request).store() as store:
        _detail(store, page_id)
        rows = store.answers.versions(page_id)
    return [PageVersion.model_validate(row) for row in rows]


@router.get("/{page_id}/history")
def get_history(
    request: Request,
    page_id: PageId,
    before: Annotated[int | None, Query(ge=0, le=2**62)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> list[Change]:
    """Return what happened to a page, the newest first; `before` is the id of the last entry read."""
    with web_of(request).store() as store:
        _detail(store, page_id)
        rows = store.answers.history(page_id, limit=limit, before=before)
    return [Change.model_validate(asdict(row)) for row in rows]


@router.get("/{page_id}/diff")
def get_diff(
    request: Request,
    page_id: PageId,
    change: Annotated[RowId | None, Query(description="Id of a change, from the history.")] = None,
    start: Annotated[str, Query(alias="from", max_length=40, description="A time.")] = "",
    end: Annotated[str, Query(alias="to", max_length=40, description="A time.")] = "",
) -> Diff:
    """Return what changed in the text of a page: by a change, between two times, or last."""
    web = web_of(request)
    with web.store() as store:
        url = _detail(store, page_id).url
        if change is not None:
            before, after = versions_of_change(store, page_id, change)
        else:
            versions = store.answers.versions(page_id)
            after = version_at(versions, moment(end, web.now()) if end else None)
            early = moment(start, web.now()) if start else None
            before = previous(versions, after) if early is None else version_at(versions, early)
        return Diff.model_validate(asdict(difference(store, page_id, url, before, after)))


@router.get("/{page_id}/sightings")
def get_sightings(request: Request, page_id: PageId) -> list[Sighting]:
    """Return on which hubs a page was seen, from when to when."""
    with web_of(request).store() as store:
        _detail(store, page_id)
        return [Sighting.model_validate(row) for row in store.read.sightings(page_id)]


@router.get("/{page_id}/visits")
def get_visits(request: Request, page_id: PageId) -> list[Visit]:
    """Return the latest visits of a page, the newest first."""
    with web_of(request).store() as store:
        _detail(store, page_id)
        return [Visit.model_validate(row) for row in store.read.visits(page_id)]


@router.post("/marks")
def mark_pages(request: Request, order: MarkOrder) -> Marked:
    """Mark pages: read, starred, or relevant to a topic; many at once."""
    web = web_of(request)
    with web.store() as store:
        told = store.answers.mark(
            order.pages, now=web.now(), read=order.read, starred=order.starred
        )
        if order.topic is not None and order.relevant is not None:
            name = next((one.name for one in store.topics.topics() if one.id == order.topic), None)
            if name is None:
                raise NotFoundError("no topic has that number")
            urls = store.read.urls(told)
            teach(store, name, urls, relevant=order.relevant, now=web.now())
    return Marked(pages=told)
