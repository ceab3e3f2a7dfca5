"""Pages watched for changes, on the web page and for programs: the watches, and what changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response

from incremental.base.errors import InputError
from incremental.base.lookup import site_numbered
from incremental.base.tagging import parted
from incremental.base.times import moment
from incremental.features.page_watches.watching import (
    found_watch,
    pause_watch,
    receivers,
    watch_page,
)
from incremental.interfaces.results.schema import TextChange, change_result
from incremental.interfaces.web.api.schemas import RowId, api_router
from incremental.interfaces.web.context import StoreRoute, Web, web_of
from incremental.interfaces.web.feeds import Entry
from incremental.interfaces.web.routes.feeds import Format, answer, entry_id
from incremental.interfaces.web.views import page, problem_of, query, see, words_of
from store import Store
from store.enums import WatchState
from store.watched_changes import ChangeQuery

router = APIRouter(include_in_schema=False, route_class=StoreRoute)
_PER_PAGE = 30
_ENTRIES = 100
_EMPTY = {"url": "", "every": "", "include": "", "exclude": "", "channel": []}
_Text = Annotated[str, Form(max_length=2_000)]
_Many = Annotated[str, Form(max_length=5_000)]
_Names = Annotated[list[Annotated[str, Form(max_length=200)]], Form(max_length=50)]
api = api_router("changes")


@router.get("/changes")
def changes_page(
    request: Request,
    watch: RowId | None = None,
    before: Annotated[int | None, Query(ge=0, le=2**62)] = None,
    asked: Annotated[bool, Query()] = False,
) -> Response:
    """Show the watches and the latest changes, of one watch if it is named."""
    return _changes(request, watch=watch, before=before, asked=asked)


def _changes(
    request: Request,
    *,
    watch: int | None = None,
    before: int | None = None,
    asked: bool = False,
    problem: str = "",
    typed: Mapping[str, Any] | None = None,
) -> Response:
    web = web_of(request)
    with web.store() as store:
        if watch is not None:
            found_watch(store, watch)
        watches = store.page_watches.watches()
        found = store.watched_changes.changes(
            ChangeQuery(before=before, watch_id=watch, limit=_PER_PAGE)
        )
        channels = receivers(store, web.settings)
    more = query("/changes", watch=watch, before=found[-1].id) if len(found) == _PER_PAGE else ""
    values = {
        "watches": watches,
        "chosen": watch,
        "changes": found,
        "channels": channels,
        "more_url": more,
        "asked": asked,
        "problem": problem,
        "form": _EMPTY | dict(typed or {}),
    }
    return page(request, "page_watches/changes.html", values)


@router.post("/changes/add")
def add_form(
    request: Request,
    web: Web,
    store: Store,
    url: _Text,
    every: Annotated[str, Form(max_length=40)] = "",
    include: _Many = "",
    exclude: _Many = "",
    channel: _Names = [],  # noqa: B006 - read only; FastAPI copies it
) -> Response:
    """Watch a page, or replace the options of its watch."""
    try:
        wish = {"channels": channel, "include": parted(include), "exclude": parted(exclude)}
        watch_page(store, web.settings, url, now=web.now(), every=every, **wish)
    except InputError as error:
        typed = {"url": url, "every": every, "include": include, "exclude": exclude}
        return _changes(
            request, problem=problem_of(request, error), typed={**typed, "channel": channel}
        )
    return see("/changes")


@router.post("/changes/{watch_id}/{action}")
def act(
    web: Web, store: Store, watch_id: RowId, action: Literal["pause", "resume", "remove"]
) -> Response:
    """Pause, resume or remove a watch; to resume an active one checks its page now."""
    watch = found_watch(store, watch_id)
    if action == "remove":
        store.page_watches.remove(watch_id, now=web.now())
        return see("/changes")
    paused = action == "pause"
    pause_watch(store, watch, paused=paused, now=web.now())
    if paused == (watch.state is WatchState.PAUSED):
        # Its page is due at once, once it is known.
        return see(query("/changes", asked=1 if watch.page_id else None))
    return see("/changes")


@router.get("/feeds/changes.{form}")
def changes_feed(request: Request, form: Format) -> Response:
    """Return the feed of changes of watched pages, an entry for each change."""
    words = words_of(request)
    with web_of(request).store() as store:
        rows = store.watched_changes.changes(ChangeQuery(limit=_ENTRIES))
    entries = [
        Entry(
            id=entry_id("change", row.id, row.at),
            url=row.url,
            title=f"{words('page_watches.changed')} {row.name}",
            site=row.site,
            found_at=row.at,
            summary=" · ".join(f"{sign} {line}" for sign, line in row.lines),
        )
        for row in rows
    ]
    title = words("page_watches.feed")
    return answer(request, form, "/feeds/changes", title, entries, home="/changes")


@dataclass(frozen=True, slots=True)
class TextChanges:
    """Changes of watched pages, and the cursor after the latest."""

    changes: list[TextChange]
    cursor: int | None


@api.get("/changes")
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
