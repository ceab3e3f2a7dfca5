"""Pages: new pages, details, marks."""

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import Field

from incremental.base.lookup import find_page, page_numbered
from incremental.base.times import moment
from incremental.interfaces.explain.page_versions import (
    Difference,
    compared,
    difference,
    text_of,
    version_at,
    versions_of_change,
)
from incremental.interfaces.filters import known
from incremental.interfaces.results.schema import (
    NewPages,
    Page,
    PageChange,
    PageTopic,
    by_name,
    page_result,
    page_topic,
    result_of,
)
from incremental.interfaces.web.api.schemas import (
    AskedFilters,
    RequestSchema,
    ResponseSchema,
    RowId,
    WebAddress,
    api_router,
    shape_of,
)
from incremental.interfaces.web.context import Web
from store import Store
from store.answers import PageDetail, StoredText

router = api_router("pages")
_PAGE: Any = shape_of(
    PageDetail,
    leave=["page_id", "canonical_key", "body_md5", "news", "text", "history"],
    id=int,
    announced=Page | None,
    topics=list[PageTopic],
)
_TEXT: Any = shape_of(StoredText, leave=["language", "cluster", "forgotten_at"])


class MarkRequest(RequestSchema):
    """Marks for announced pages; omitted marks stay unchanged."""

    pages: Annotated[list[RowId], Field(min_length=1, max_length=1_000)]
    read: bool | None = None
    starred: bool | None = None


class Marked(ResponseSchema):
    """Ids of the marked pages, announced ones only."""

    pages: list[int]


_After = Annotated[int | None, Query(ge=0, le=2**62, description="Continue after this cursor.")]
_Time = Annotated[str, Query(max_length=40, description="Age (`3d`) or date.")]


@router.get("/pages")
def new_pages(
    web: Web,
    store: Store,
    filters: AskedFilters,
    after: _After = None,
    order: Annotated[
        Literal["newest", "oldest"] | None,
        Query(description="Default: oldest with `after`, else newest."),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> NewPages:
    """List new pages. Paging by `cursor` skips and repeats none, even if new ones arrive meanwhile."""
    if order is None:
        order = "newest" if after is None else "oldest"
    asked = known(store, filters).query(web.now(), after=after, limit=limit, order=order)
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
    return by_name(page) | {
        "id": page.page_id,
        "announced": page_result(page.news) if page.news else None,
        "topics": [page_topic(mark) for mark in page.topics],
    }


@router.get("/pages/{page_id}/text", response_model=_TEXT)
def get_text(web: Web, store: Store, page: PageDetail, at: _Time = "") -> dict[str, Any]:
    """Return the text of a page, now or at a time. Untrusted: escape it."""
    when = moment(at, web.now()) if at else None
    version = version_at(store.answers.versions(page.page_id), when)
    title, text = text_of(store, {"id": page.page_id, "url": page.url}, version)
    return {"title": title, "text": text, "md5": version.body_md5, "at": version.at}


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
    store: Store,
    page: PageDetail,
    change: Annotated[RowId | None, Query(description="Change id from the history.")] = None,
) -> Difference:
    """Return a text diff of a page: of a change, or of the last one."""
    if change is not None:
        before, after = versions_of_change(store, page.page_id, change)
    else:
        before, after = compared(store.answers.versions(page.page_id), None, None)
    return difference(store, page.page_id, page.url, before, after)


@router.post("/pages/marks")
def mark_pages(web: Web, store: Store, body: MarkRequest) -> Marked:
    """Mark pages as read or starred."""
    announced = store.answers.mark(body.pages, now=web.now(), read=body.read, starred=body.starred)
    return Marked(pages=announced)
