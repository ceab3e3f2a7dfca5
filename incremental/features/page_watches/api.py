"""Pages watched for changes of their text, and what changed on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Path as InPath
from fastapi import Query
from pydantic import Field, StringConstraints

from incremental.base.lookup import site_numbered
from incremental.base.times import moment
from incremental.features.page_watches.watching import (
    PageWatch,
    WatchedPage,
    WatchWish,
    check_now,
    found_watch,
    pause_watch,
    watch_page,
    watch_result,
    watched_page,
)
from incremental.interfaces.results.schema import TextChange, change_result
from incremental.interfaces.web.api.schemas import RequestSchema, RowId, WordList, api_router
from incremental.interfaces.web.context import Web
from store import Store
from store.watched_changes import ChangeQuery

router = api_router("changes")
_WatchId = Annotated[RowId, InPath(description="Id from the list.")]


@dataclass(frozen=True, slots=True)
class TextChanges:
    """Changes of watched pages, and the cursor after the latest."""

    changes: list[TextChange]
    cursor: int | None


class NewPageWatch(RequestSchema):
    """What to watch; adding the same again replaces its options."""

    url: Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
    """A page, or a pattern such as `https://x.example/prices/*`."""
    min_minutes: Annotated[float | None, Field(ge=1, le=525_600)] = None
    max_minutes: Annotated[float | None, Field(ge=1, le=525_600)] = None
    channels: Annotated[
        list[Annotated[str, StringConstraints(min_length=1, max_length=200)]], Field(max_length=50)
    ] = Field(default_factory=list)
    """Empty = every channel that is not narrowed to a topic or a search."""
    include: WordList = Field(default_factory=list)
    exclude: WordList = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Checked:
    """The number of pages to be checked now."""

    pages: int


@router.get("/changes")
def list_changes(
    web: Web,
    store: Store,
    after: Annotated[
        int | None, Query(ge=0, le=2**62, description="Continue after this cursor, oldest first.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    watch: Annotated[RowId | None, Query(description="Watch id.")] = None,
    site: Annotated[RowId | None, Query(description="Site id.")] = None,
    page: Annotated[RowId | None, Query(description="Page id.")] = None,
    since: Annotated[str, Query(max_length=40, description="Age (`3h`) or date.")] = "",
) -> TextChanges:
    """List changes of watched pages, newest first; oldest first with `after`."""
    if site is not None:
        site_numbered(store, site)
    query = ChangeQuery(
        after=after,
        since=moment(since, web.now()) if since else None,
        site_id=site,
        watch_id=watch,
        page_id=page,
        limit=limit,
        oldest_first=after is not None,
    )
    found = store.watched_changes.changes(query)
    cursor = max((one.id for one in found), default=after)
    return TextChanges([change_result(one) for one in found], cursor)


@router.get("/page-watches")
def list_watches(store: Store) -> list[PageWatch]:
    """List what is watched for changes."""
    standings, watches = store.page_watches.standings(), store.page_watches.watches()
    return [watch_result(one, standings[one.id]) for one in watches]


@router.post("/page-watches", status_code=201)
def add_watch(web: Web, store: Store, body: NewPageWatch) -> PageWatch:
    """Watch a page or a pattern for changes of its text."""
    wish = WatchWish(
        *(body.min_minutes, body.max_minutes),
        receivers=body.channels,
        include=body.include,
        exclude=body.exclude,
    )
    watch, _ = watch_page(store, web.settings, body.url, wish, now=web.now())
    return _watch(store, watch.id)


@router.get("/page-watches/{watch_id}/pages")
def list_pages(store: Store, watch_id: _WatchId) -> list[WatchedPage]:
    """List the pages of a watch, the last changed first."""
    watch = found_watch(store, watch_id)
    return [watched_page(one) for one in store.refreshes.of_watch(watch.id)]


@router.post("/page-watches/{watch_id}/visits", status_code=202)
def check_pages(web: Web, store: Store, watch_id: _WatchId) -> Checked:
    """Check the pages of a watch now, as soon as politeness allows."""
    return Checked(pages=check_now(store, found_watch(store, watch_id), now=web.now()))


@router.post("/page-watches/{watch_id}/{action}")
def set_state(
    web: Web, store: Store, watch_id: _WatchId, action: Literal["pause", "resume"]
) -> PageWatch:
    """Pause or resume a watch."""
    watch = found_watch(store, watch_id)
    pause_watch(store, watch, paused=action == "pause", now=web.now())
    return _watch(store, watch_id)


@router.delete("/page-watches/{watch_id}", status_code=204)
def remove_watch(web: Web, store: Store, watch_id: _WatchId) -> None:
    """Stop watching; recorded changes stay."""
    found_watch(store, watch_id)
    store.page_watches.remove(watch_id, now=web.now())


def _watch(store: Store, watch_id: int) -> PageWatch:
    standing = store.page_watches.standings()[watch_id]
    return watch_result(found_watch(store, watch_id), standing)
