"""Pages: what is new, what is known of one, marks."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath

from incremental.errors import NotFoundError
from incremental.explain.page_versions import previous, text_of, version_at
from incremental.results.lookup import find_page, topic_numbered
from incremental.results.schema import page_json, topic_json
from incremental.saved_searches import Filters
from incremental.times import moment
from incremental.topics.editing import give_feedback
from incremental.web.api.page_shapes import (
    CHANGES,
    DIFF,
    NEW_PAGES,
    PAGE,
    PAGE_TEXT,
    PAGE_VERSIONS,
    Marked,
    MarkRequest,
    Sighting,
    Visit,
)
from incremental.web.api.schemas import REFUSED, RowId, WebAddress
from incremental.web.changes import Difference, difference, versions_of_change
from incremental.web.conditional import ConditionalRoute
from incremental.web.context import web_of
from store import Store
from store.answers import HistoryEntry, PageDetail, Version

router = APIRouter(
    prefix="/api/v1/pages", tags=["pages"], route_class=ConditionalRoute, responses=REFUSED
)
PageId = Annotated[RowId, InPath(description="As the list shows it.")]
_Time = Annotated[str, Query(max_length=40, description="A span back (`3d`) or a date.")]


@router.get("", response_model=NEW_PAGES)
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
) -> dict[str, Any]:
    """List new pages. Paging by `cursor` neither skips nor repeats a page, whatever comes meanwhile."""
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
    pages = [page_json(row) for row in answer.rows]
    return {"pages": pages, "cursor": answer.cursor, "more": answer.more}


@router.get("/lookup", response_model=PAGE)
def look_up(
    request: Request, url: Annotated[WebAddress, Query(description="The page's address.")]
) -> dict[str, Any]:
    """Return what is known of the page at an address; 404 if no hub has shown it."""
    with web_of(request).store() as store:
        return _page(store, find_page(store, url)["id"])


@router.get("/{page_id}", response_model=PAGE)
def get_page(request: Request, page_id: PageId) -> dict[str, Any]:
    """Return what is known of a page."""
    with web_of(request).store() as store:
        return _page(store, page_id)


def _detail(store: Store, page_id: int) -> PageDetail:
    detail = store.answers.page(page_id)
    if detail is None:
        raise NotFoundError("no page has that number")
    return detail


def _page(store: Store, page_id: int) -> dict[str, Any]:
    detail = _detail(store, page_id)
    return {
        **{name: getattr(detail, name) for name in detail.__slots__},
        "id": page_id,
        "announced": page_json(detail.news) if detail.news else None,
        "topics": [topic_json(mark) for mark in detail.topics],
    }


@router.get("/{page_id}/text", response_model=PAGE_TEXT)
def get_text(request: Request, page_id: PageId, at: _Time = "") -> dict[str, Any]:
    """Return the text of a page, as it was at a time; it came from the site, so escape it."""
    web = web_of(request)
    when = moment(at, web.now()) if at else None
    with web.store() as store:
        url = _detail(store, page_id).url
        version = version_at(store.answers.versions(page_id), when)
        found = text_of(store, {"id": page_id, "url": url}, version)
    return {"title": found.title, "text": found.text, "md5": version.body_md5, "at": version.at}


@router.get("/{page_id}/versions", response_model=PAGE_VERSIONS)
def get_versions(request: Request, page_id: PageId) -> list[Version]:
    """Return from when on a page had which body, the oldest first."""
    with web_of(request).store() as store:
        _detail(store, page_id)
        return store.answers.versions(page_id)


@router.get("/{page_id}/history", response_model=CHANGES)
def get_history(
    request: Request,
    page_id: PageId,
    before: Annotated[int | None, Query(ge=0, le=2**62)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> list[HistoryEntry]:
    """Return what happened to a page, the newest first; `before` is the id of the last entry read."""
    with web_of(request).store() as store:
        _detail(store, page_id)
        return store.answers.history(page_id, limit=limit, before=before)


@router.get("/{page_id}/diff", response_model=DIFF)
def get_diff(
    request: Request,
    page_id: PageId,
    change: Annotated[RowId | None, Query(description="Id of a change, from the history.")] = None,
    start: Annotated[str, Query(alias="from", max_length=40, description="A time.")] = "",
    end: Annotated[str, Query(alias="to", max_length=40, description="A time.")] = "",
) -> Difference:
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
        return difference(store, page_id, url, before, after)


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
def mark_pages(request: Request, body: MarkRequest) -> Marked:
    """Mark pages: read, starred, or relevant to a topic; many at once."""
    web = web_of(request)
    with web.store() as store:
        announced = store.answers.mark(
            body.pages, now=web.now(), read=body.read, starred=body.starred
        )
        if body.topic is not None and body.relevant is not None:
            name = topic_numbered(store, body.topic).name
            urls = store.read.urls(announced)
            give_feedback(store, name, urls, relevant=body.relevant, now=web.now())
    return Marked(pages=announced)
