"""Backfills: older pages that a list gained; one event per visit, its pages on demand.

Written in the transaction of the visit that found them (:mod:`store.crawl.record`).

::

    put_backfill       the change, the event, its pages, and a low-priority fetch of each
    join_backfill      the visited page, fetched as a hub but an article: joins its list's event
    adopt_waiting      the same for a page that a user labelled an article before that visit
    Backfills.events   one row each; their ids are cursors shared with announced pages
    Backfills.pages    page by page, of one event or of all
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from peewee import JOIN, Database, fn

from store.answers.announced import AnnouncedPage
from store.answers.naming import folder_of, widened
from store.answers.values import NewQuery
from store.database import writing
from store.database.repository import MAX_ROWS, Repository, Shape, batches
from store.database.statements import Prepared, any_of
from store.database.texts import storable
from store.enums import PageState, SiteEventKind
from store.models import Backfill, BackfillPage, Change, Page, Refresh, Site, SiteTag
from store.rules import Rule
from store.values import VisitRecord

MAX_LIMIT = 1_000
# First fetches of backfilled pages are dated this far back, so that announced pages of a week go first.
READ_LAST_SECONDS = 7 * 86_400.0
# How long a page may join its list's event: a reader sees the larger count on reload. Later pages need
# an event of their own, or readers would miss them.
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
    """The first of its pages; the whole event if there is only one."""
    url: str
    title: str


# Writing.


_OF_EVENT = Prepared(
    lambda page: BackfillPage.select(BackfillPage.id).where(BackfillPage.page == page)
)
_UNANNOUNCED = Prepared(
    lambda pages: (
        Page.select(Page.id)
        .join(BackfillPage, JOIN.LEFT_OUTER, on=BackfillPage.page == Page.id)
        .where(any_of(Page.id, pages) & Page.announced_at.is_null() & BackfillPage.id.is_null())
    )
)


def put_backfill(database: Database, record: VisitRecord, page_ids: Sequence[int]) -> None:
    """Record the pages that the visited list gained as one event.

    Skips pages that were announced or already belong to an event.
    """
    if fresh := unannounced(database, page_ids):
        event = _put_event(database, record, record.page_id, len(fresh))
        _put_pages(database, record, event, fresh)


def join_backfill(database: Database, record: VisitRecord) -> None:
    """Record as gained by a list a page that was fetched as a hub and turned out to be an article.

    It joins the list's event if that is minutes old, unread and in no message; otherwise it gets its own.
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
    """Return the event of the page's list if no reader can have seen it yet."""
    still_open = (
        (Backfill.hub_id == record.first_hub_id)
        & (Backfill.site == record.site_id)
        & (Backfill.found_at > record.at - JOIN_SECONDS)
        & Backfill.read_at.is_null()
        & ~Backfill.closed
    )
    event = Backfill.select(fn.MAX(Backfill.id)).where(still_open).scalar(database)
    return None if event is None else int(event)


def _widen(database: Database, event: int, folder: str) -> None:
    """Add one page of *folder* to an event and to the site's change."""
    query = Backfill.select(Backfill.pages, Backfill.folder).where(Backfill.id == event)
    ((pages, before),) = query.tuples().execute(database)
    fields = {"pages": pages + 1, "folder": storable(widened(before, folder))}
    Backfill.update(fields).where(Backfill.id == event).execute(database)
    detail = _detail(pages + 1, fields["folder"])
    Change.update(detail=detail).where(Change.id == event).execute(database)


def _detail(pages: int, folder: str) -> str:
    """Return a text by key and values, in the form in which its readers have all texts stored."""
    return f"backfill.added {json.dumps({'n': pages, 'folder': folder}, ensure_ascii=False)}"


def adopt_waiting(database: Database, site_id: int, canonical_key: str, now: float) -> None:
    """Record as backfilled a page that waited to be fetched as a hub and never will be."""
    query = Page.select(Page.id, Page.url, Page.first_hub_id).where(
        (Page.site == site_id)
        & (Page.canonical_key == canonical_key)
        & (Page.state == PageState.BACKFILL)
    )
    for page_id, url, hub in list(query.tuples().execute(database)):
        record = VisitRecord(site_id, page_id, now, status="", first_hub_id=hub)
        join_backfill(database, replace(record, backfill_folder=folder_of([url])))


def _put_event(database: Database, record: VisitRecord, hub: int | None, pages: int) -> int:
    folder = storable(record.backfill_folder)
    common = {"site": record.site_id, "hub_id": hub}
    change = {"kind": SiteEventKind.BACKFILL, "at": record.at, "detail": _detail(pages, folder)}
    event = int(Change.insert({**common, **change}).execute(database))
    row = {"id": event, "found_at": record.at, "folder": folder, "pages": pages}
    Backfill.insert({**common, **row}).execute(database)
    return event


def _put_pages(database: Database, record: VisitRecord, event: int, fresh: Sequence[int]) -> None:
    due_at = record.at - READ_LAST_SECONDS
    for pages in batches(fresh, MAX_ROWS):
        rows = [{"event": event, "page": page} for page in pages]
        BackfillPage.insert_many(rows).execute(database)
        silent = Page.state.in_([PageState.KNOWN, PageState.BACKDATED])
        one = Page.update(state=PageState.BACKFILL, rule=Rule.BACKFILL).where(
            Page.id.in_(pages) & silent
        )
        one.execute(database)
        plans = [{"page": page, "site_id": record.site_id, "due_at": due_at} for page in pages]
        Refresh.insert_many(plans).on_conflict_ignore().execute(database)


def unannounced(database: Database, page_ids: Sequence[int]) -> list[int]:
    """Return the *page_ids* that were not announced, alone or with an event; in order, without repeats."""
    # With the unique key of an event's pages this is why a crash cannot announce a page twice: it belongs
    # to one event at most, and is never announced on its own as well.
    pages = list(dict.fromkeys(page_ids))
    kept = {page for (page,) in _UNANNOUNCED.rows(database, pages=pages)} if pages else set()
    return [page for page in pages if page in kept]


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
    """Queries, on one database."""

    def events(
        self, query: NewQuery, *, event: int | None = None, above: int | None = None
    ) -> list[BackfillEvent]:
        """Return events, or one *event*, or those whose ids are *above* another's.

        Of *query* count times, sites and their tag, read mark, cursor, limit (at most 1,000) and order.
        """
        lead = BackfillPage.alias()
        first = lead.select(fn.MIN(lead.id)).where(lead.event == Backfill.id)
        asked = (
            _EVENT.select()
            .join(Site, on=Site.id == Backfill.site)
            .join(BackfillPage, on=BackfillPage.id == first)
            .join(Page, on=Page.id == BackfillPage.page)
            .join(_HUB, JOIN.LEFT_OUTER, on=_HUB.id == Backfill.hub_id)
        )
        if above is not None:
            asked = asked.where(Backfill.id > above)
        return self._all(_EVENT, _narrowed(asked, query, Backfill.id, event))

    def event(self, event: int) -> BackfillEvent | None:
        """Return one event."""
        return next(iter(self.events(NewQuery(limit=1), event=event)), None)

    def has(self, page_id: int) -> bool:
        """Return whether a page belongs to an event."""
        return bool(self._asked(_OF_EVENT, page=page_id))

    def event_of(self, page_id: int) -> BackfillEvent | None:
        """Return the event that a page came with, if any."""
        query = BackfillPage.select(BackfillPage.event).where(BackfillPage.page == page_id)
        event = self._scalar(query)
        return None if event is None else self.event(event)

    def pages(self, query: NewQuery, *, event: int | None = None) -> list[AnnouncedPage]:
        """Return pages of events, or of one; of *query* the same counts."""
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
        rows = self._rows(_narrowed(asked, query, BackfillPage.id, event))
        return [replace(AnnouncedPage(*row[:-1]), event=row[-1]) for row in rows]

    def all_pages(self, query: NewQuery) -> Iterable[AnnouncedPage]:
        """Yield all matching pages; *query.limit* is ignored."""
        query = replace(query, limit=MAX_LIMIT)
        while batch := self.pages(query):
            yield from batch
            query = replace(query, after=batch[-1].cursor)

    def latest_cursor(self) -> int:
        """Return the latest event's id, or 0."""
        return int(self._scalar(Backfill.select(fn.MAX(Backfill.id))) or 0)

    def mark(self, events: Sequence[int], *, now: float, read: bool) -> list[int]:
        """Mark events as read or unread; return the ids that exist."""
        with writing(self._db, self._where):
            change = Backfill.id.in_(list(events)) & Backfill.read_at.is_null(read)
            Backfill.update(read_at=now if read else None).where(change).execute(self._db)
            query = Backfill.select(Backfill.id).where(Backfill.id.in_(list(events)))
            return [event for (event,) in query.tuples().execute(self._db)]


def _narrowed(asked: Any, query: NewQuery, cursor: Any, event: int | None) -> Any:  # noqa: ANN401 - peewee queries
    newest = query.order != "oldest"
    tagged = SiteTag.select(SiteTag.site).where(SiteTag.tag == query.tag)
    limits: list[tuple[Any, Any]] = [
        (query.since, Backfill.found_at >= query.since),
        (query.until, Backfill.found_at < query.until),
        (query.after, cursor < query.after if newest else cursor > query.after),
        (query.sites, Backfill.site.in_(query.sites or ())),
        (query.tag, Backfill.site.in_(tagged)),
        (query.read, Backfill.read_at.is_null(not query.read)),
        (event, Backfill.id == event),
    ]
    for wanted, condition in limits:
        asked = asked if wanted is None else asked.where(condition)
    limit = min(max(query.limit, 1), MAX_LIMIT)
    return asked.order_by(cursor.desc() if newest else cursor).limit(limit)
