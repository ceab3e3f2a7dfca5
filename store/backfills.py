"""Backfills: older pages that a list gained. One event for each visit, its pages on demand.

Written inside the transaction of the visit that found them (:mod:`store.record`). A page belongs to one
event at most (a unique key) and is never told by itself, so no page comes twice, whatever dies between.

::

    put_backfill       the site's change, the event, its pages, a reading of each behind all else
    join_backfill      the visited page itself, taken for a hub: to the event of its list, or to its own
    adopt_waiting      likewise a page of which a user said, before that visit, that it is no hub
    Backfills.events   one row each, in the order of the announced pages: they share their ids
    Backfills.pages    page by page, of one event or of all
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from peewee import JOIN, Database, fn

from store.announced import AnnouncedPage
from store.database import writing
from store.enums import PageState, SiteEventKind
from store.models import Backfill, BackfillPage, Change, OutboxEntry, Page, Refresh, Site
from store.naming import folder_of, widened
from store.repository import MAX_ROWS, Repository, Shape, batches
from store.texts import storable
from store.values import VisitRecord

MAX_LIMIT = 1_000
# How far back the first reading of such a page is dated: announced pages of a week go before it.
READ_LAST_SECONDS = 7 * 86_400.0
# How long a page may still join the event of its list. Who read of it by then reads the greater
# number when he refreshes; after that it must come to people as an event of its own.
JOIN_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class BackfillEvent:
    """Older pages that a list gained at one visit. Texts are as the site sent them."""

    id: int
    """Also its cursor, in one order with those of announced pages."""
    site_id: int
    site: str
    hub_id: int | None
    hub_url: str | None
    found_at: float
    folder: str
    pages: int
    read_at: float | None
    page_id: int
    """The first of its pages, with address and title; the whole event when there is but one."""
    url: str
    title: str


@dataclass(frozen=True, slots=True)
class BackfillQuery:
    """Which events, or pages of events, to list. What is None narrows nothing; all the rest must hold."""

    since: float | None = None
    """Found at this time or later; unix seconds, UTC."""
    until: float | None = None
    """Found before this time."""
    after: int | None = None
    """Cursor of the last row that was read: the answer goes on behind it, in the query's order."""
    above: int | None = None
    """Only events with a greater id."""
    sites: tuple[int, ...] | None = None
    event: int | None = None
    """One event alone."""
    unread: bool = False
    limit: int = 100
    """Rows at most; 1 to 1,000."""
    order: str = "newest"
    """``newest`` or ``oldest`` first."""


# Writing.


def put_backfill(database: Database, record: VisitRecord, page_ids: Sequence[int]) -> int | None:
    """Record the pages that the visited list gained as one event; return its id, None for no page.

    Pages that were announced, or belong to an event already, are left out.
    """
    fresh = unannounced(database, page_ids)
    if not fresh:
        return None
    event = _put_event(database, record, record.page_id, len(fresh))
    _put_pages(database, record, event, fresh)
    return event


def join_backfill(database: Database, record: VisitRecord) -> None:
    """Record the visited page itself as one that a list gained: taken for a hub, it turned out an article.

    It joins the list's event if that is minutes old, unread, and in no message; else it is an event.
    """
    fresh, hub = unannounced(database, [record.page_id]), record.first_hub_id
    if not fresh:
        return
    event = _open_event(database, record)
    if event is None:
        event = _put_event(database, record, hub, 1)
    else:
        _widen(database, event, record.backfill_folder)
    _put_pages(database, record, event, fresh)


def _open_event(database: Database, record: VisitRecord) -> int | None:
    """Return the event of the page's list that nobody can have heard of yet."""
    queued = OutboxEntry.select(OutboxEntry.id).where(OutboxEntry.backfill_id == Backfill.id)
    still_open = (
        (Backfill.hub_id == record.first_hub_id)
        & (Backfill.site == record.site_id)
        & (Backfill.found_at > record.at - JOIN_SECONDS)
        & Backfill.read_at.is_null()
        & ~fn.EXISTS(queued)
    )
    event = Backfill.select(fn.MAX(Backfill.id)).where(still_open).scalar(database)
    return None if event is None else int(event)


def _widen(database: Database, event: int, folder: str) -> None:
    """Let an event, and the site's change, tell of one page more, which lies in *folder*."""
    query = Backfill.select(Backfill.pages, Backfill.folder).where(Backfill.id == event)
    ((pages, before),) = query.tuples().execute(database)
    fields = {"pages": pages + 1, "folder": storable(widened(before, folder))}
    Backfill.update(fields).where(Backfill.id == event).execute(database)
    detail = _detail(pages + 1, fields["folder"])
    Change.update(detail=detail).where(Change.id == event).execute(database)


def _detail(pages: int, folder: str) -> str:
    return f"{pages} older under {folder}"


def adopt_waiting(database: Database, site_id: int, canonical_key: str, now: float) -> None:
    """Record a page that waits for its reading as a hub, and never gets one, as one that a list gained."""
    query = Page.select(Page.id, Page.url, Page.first_hub_id).where(
        (Page.site == site_id)
        & (Page.canonical_key == canonical_key)
        & (Page.state == PageState.BACKFILL)
    )
    for page_id, url, hub in list(query.tuples().execute(database)):
        record = VisitRecord(site_id, page_id, now, status="", first_hub_id=hub)
        join_backfill(database, replace(record, backfill_folder=folder_of([url])))


def is_of_event(database: Database, page_id: int) -> bool:
    """Return whether a page was announced with an event."""
    pages = BackfillPage.select(BackfillPage.id).where(BackfillPage.page == page_id)
    return bool(pages.exists(database))


def _put_event(database: Database, record: VisitRecord, hub: int | None, pages: int) -> int:
    """Record the event alone, as the site's change and as itself; return its id."""
    folder = storable(record.backfill_folder)
    common = {"site": record.site_id, "hub_id": hub}
    change = {"kind": SiteEventKind.BACKFILL, "at": record.at, "detail": _detail(pages, folder)}
    event = int(Change.insert({**common, **change}).execute(database))
    row = {"id": event, "found_at": record.at, "folder": folder, "pages": pages}
    Backfill.insert({**common, **row}).execute(database)
    return event


def _put_pages(database: Database, record: VisitRecord, event: int, fresh: Sequence[int]) -> None:
    """Record the pages of an event, and plan one reading of each."""
    due_at = record.at - READ_LAST_SECONDS
    for pages in batches(fresh, MAX_ROWS):
        rows = [{"event": event, "page": page} for page in pages]
        BackfillPage.insert_many(rows).execute(database)
        silent = Page.state.in_([PageState.KNOWN, PageState.BACKDATED])
        one = Page.update(state=PageState.BACKFILL, rule="backfill").where(
            Page.id.in_(pages) & silent
        )
        one.execute(database)
        plans = [{"page": page, "site_id": record.site_id, "due_at": due_at} for page in pages]
        Refresh.insert_many(plans).on_conflict_ignore().execute(database)


def unannounced(database: Database, page_ids: Sequence[int]) -> list[int]:
    """Return those of *page_ids* that were announced neither alone nor with an event, each once, in order."""
    kept: set[int] = set()
    for batch in batches(page_ids):
        query = (
            Page.select(Page.id)
            .join(BackfillPage, JOIN.LEFT_OUTER, on=BackfillPage.page == Page.id)
            .where(Page.id.in_(batch) & Page.announced_at.is_null() & BackfillPage.id.is_null())
        )
        kept |= {page for (page,) in query.tuples().execute(database)}
    return [page for page in dict.fromkeys(page_ids) if page in kept]


def move_backfill(database: Database, old: int, new: int) -> None:
    """Let what an event says of *old* be said of *new*, once."""
    query = BackfillPage.select(BackfillPage.page).where(BackfillPage.page.in_([old, new]))
    there = [page for (page,) in query.tuples().execute(database)]
    if there == [old]:
        BackfillPage.update(page=new).where(BackfillPage.page == old).execute(database)


# Reading.


_HUB = Page.alias()
_LIST = {"site": Site.name, "site_id": Site.id, "hub_url": _HUB.url}
_EVENT = Shape(
    BackfillEvent,
    Backfill,
    **_LIST,
    page_id=Page.id,
    url=Page.url,
    title=fn.COALESCE(fn.NULLIF(Page.title, ""), Page.anchor),
)


class Backfills(Repository):
    """The questions, on one database."""

    def events(self, query: BackfillQuery) -> list[BackfillEvent]:
        """Return events; see :class:`BackfillQuery`."""
        lead = BackfillPage.alias()
        first = lead.select(fn.MIN(lead.id)).where(lead.event == Backfill.id)
        asked = (
            _EVENT.select()
            .join(Site, on=Site.id == Backfill.site)
            .join(BackfillPage, on=BackfillPage.id == first)
            .join(Page, on=Page.id == BackfillPage.page)
            .join(_HUB, JOIN.LEFT_OUTER, on=_HUB.id == Backfill.hub_id)
        )
        return self._all(_EVENT, _narrowed(asked, query, Backfill.id))

    def event(self, event: int) -> BackfillEvent | None:
        """Return one event."""
        return next(iter(self.events(BackfillQuery(event=event, limit=1))), None)

    def event_of(self, page_id: int) -> BackfillEvent | None:
        """Return the event that a page came with; None = it came with none."""
        query = BackfillPage.select(BackfillPage.event).where(BackfillPage.page == page_id)
        event = self._scalar(query)
        return None if event is None else self.event(event)

    def pages(self, query: BackfillQuery) -> list[AnnouncedPage]:
        """Return the pages of events; see :class:`BackfillQuery`."""
        columns = (
            *(BackfillPage.id, Page.id, Page.url, Page.title, Page.anchor),
            *(Site.name, Site.id, Backfill.found_at, Page.published_at),
            *(Backfill.hub_id, _HUB.url, Page.language, Page.state, Backfill.id),
        )
        asked = (
            BackfillPage.select(*columns)
            .join(Backfill, on=Backfill.id == BackfillPage.event)
            .join(Page, on=Page.id == BackfillPage.page)
            .join(Site, on=Site.id == Backfill.site)
            .join(_HUB, JOIN.LEFT_OUTER, on=_HUB.id == Backfill.hub_id)
        )
        rows = self._rows(_narrowed(asked, query, BackfillPage.id))
        return [replace(AnnouncedPage(*row[:-1]), event=row[-1]) for row in rows]

    def all_pages(self, query: BackfillQuery) -> Iterable[AnnouncedPage]:
        """Yield pages up to the end of the list, however many; *query*'s limit does not count."""
        query = replace(query, limit=MAX_LIMIT)
        while batch := self.pages(query):
            yield from batch
            query = replace(query, after=batch[-1].cursor)

    def latest_cursor(self) -> int:
        """Return the id of the latest event; 0 when there was none."""
        return int(self._scalar(Backfill.select(fn.MAX(Backfill.id))) or 0)

    def mark(self, events: Sequence[int], *, now: float, read: bool) -> list[int]:
        """Mark events as read or unread; return those that there are."""
        with writing(self._db, self._where):
            change = Backfill.id.in_(list(events)) & Backfill.read_at.is_null(read)
            Backfill.update(read_at=now if read else None).where(change).execute(self._db)
            query = Backfill.select(Backfill.id).where(Backfill.id.in_(list(events)))
            return [event for (event,) in query.tuples().execute(self._db)]


def _narrowed(asked: Any, query: BackfillQuery, cursor: Any) -> Any:  # noqa: ANN401 - peewee queries
    newest = query.order != "oldest"
    limits: list[tuple[Any, Any]] = [
        (query.since, Backfill.found_at >= query.since),
        (query.until, Backfill.found_at < query.until),
        (query.above, Backfill.id > query.above),
        (query.event, Backfill.id == query.event),
        (query.after, cursor < query.after if newest else cursor > query.after),
        (query.sites, Backfill.site.in_(query.sites or ())),
        (query.unread or None, Backfill.read_at.is_null()),
    ]
    for wanted, condition in limits:
        asked = asked if wanted is None else asked.where(condition)
    limit = min(max(query.limit, 1), MAX_LIMIT)
    return asked.order_by(cursor.desc() if newest else cursor).limit(limit)
