"""Queries for dashboards and metrics: counts over time, queues, waits. Read only."""

from dataclasses import dataclass
from typing import Any

from peewee import SQL, fn

from store.database import is_sqlite
from store.database.repository import Repository
from store.enums import ChangeKind, HubRole, HubStatus
from store.models import Change, Host, Hub, News, Page, Site, Visit

_MOST_DELAYS = 10_000
_MOST_EVENTS = 5_000


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts recorded after a cursor, and the next cursor."""

    cursor: int
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Delays:
    """New pages announced after a cursor, with the delay of those that give a publication date."""

    cursor: int
    announced: int
    seconds: tuple[float, ...]
    """Time of finding minus time of publication, never negative."""


@dataclass(frozen=True, slots=True)
class Queue:
    """Due fetches at a given time."""

    hubs: int
    verifications: int


@dataclass(frozen=True, slots=True)
class HostWait:
    """A host that must not be asked yet, or that failed."""

    name: str
    seconds: float
    """Until it may be asked; 0 = now."""
    failures: int
    """Consecutive."""


@dataclass(frozen=True, slots=True)
class SiteEvent:
    """A change of a whole site."""

    kind: str
    at: float
    detail: str


_ADDED = Change.kind == ChangeKind.ADDED


class Monitoring(Repository):
    """Queries, on one database."""

    def cursors(self) -> tuple[int, int]:
        """Return the ids of the latest visit and change, as starting cursors."""
        visit = self._scalar(Visit.select(fn.MAX(Visit.id)))
        return visit or 0, self._scalar(Change.select(fn.MAX(Change.id))) or 0

    def visits_after(self, cursor: int) -> Tally:
        """Count the visits recorded after *cursor* by status."""
        # From a cursor, so that a scrape only reads rows since the last.
        query = (
            Visit.select(Visit.status, fn.COUNT(Visit.id), fn.MAX(Visit.id))
            .where(Visit.id > cursor)
            .group_by(Visit.status)
        )
        rows = self._rows(query)
        return Tally(max([cursor, *(row[2] for row in rows)]), {row[0]: row[1] for row in rows})

    def delays_after(self, cursor: int) -> Delays:
        """Return the pages announced after *cursor*, at most 10,000 at a time."""
        query = (
            Change.select(Change.id, Change.at, Page.published_at)
            .join(Page, on=Page.id == Change.page)
            .where(_ADDED & (Change.id > cursor))
            .order_by(Change.id)
            .limit(_MOST_DELAYS)
        )
        rows = self._rows(query)
        late = tuple(max(at - out, 0.0) for _, at, out in rows if out is not None)
        return Delays(rows[-1][0] if rows else cursor, len(rows), late)

    def unread_seeds(self) -> dict[int, str]:
        """Return, by site, the fetch status that keeps a seed unread; read seeds are left out."""
        # A seed that waits for robots.txt or its address has no visit and so no status.
        read = Hub.alias()
        already = read.select(read.site_id).where(
            (read.role == HubRole.SEED) & read.baseline_at.is_null(is_null=False)
        )
        query = Hub.select(Hub.site_id, Hub.last_status).where(
            (Hub.role == HubRole.SEED)
            & (Hub.state != HubStatus.DROPPED)
            & Hub.last_status.is_null(is_null=False)
            & Hub.site_id.not_in(already)
        )
        return dict(self._rows(query.order_by(Hub.page)))

    def visits_by_time(self, since: float, step: float) -> dict[tuple[int, str], int]:
        """Count visits since *since* by (index of the *step*-second interval, status)."""
        bucket = self._bucket(Visit.at, since, step)
        query = Visit.select(bucket, Visit.status, fn.COUNT(Visit.id)).where(Visit.at >= since)
        rows = self._rows(query.group_by(SQL("1"), Visit.status))
        return {(int(number), status): count for number, status, count in rows}

    def news_by_time(self, since: float, step: float) -> dict[int, int]:
        """Count announced pages since *since* by index of the *step*-second interval."""
        bucket = self._bucket(Change.at, since, step)
        announced = (Change.at >= since) & _ADDED
        query = Change.select(bucket, fn.COUNT(Change.id)).where(announced).group_by(SQL("1"))
        return {int(number): count for number, count in self._rows(query)}

    # Grouped by position in the SELECT: PostgreSQL never treats two parameters as equal.

    def _bucket(self, column: Any, since: float, step: float) -> Any:  # noqa: ANN401 - peewee expressions
        spans = (column - since) / step
        # Not every SQLite has FLOOR, and its CAST truncates; PostgreSQL's rounds.
        return spans.cast("INTEGER") if is_sqlite(self._db) else fn.FLOOR(spans)

    def last_announced(self) -> dict[int, float]:
        """Return the last announcement of each site, by site id; sites without one are omitted."""
        latest = News.select(fn.MAX(News.id)).group_by(News.site)
        query = News.select(News.site, News.found_at).where(News.id.in_(latest))
        return dict(self._rows(query))

    def next_due(self) -> dict[int, float]:
        """Return the next due time of each site's hubs and verifications, by site id; may be in the past."""
        # A MIN per site is one index step; GROUP BY would walk all pages.
        hub = Hub.select(fn.MIN(Hub.due_at)).where(Hub.site_id == Site.id)
        verification = Page.select(fn.MIN(Page.verify_due_at)).where(Page.site == Site.id)
        rows = self._rows(Site.select(Site.id, hub, verification))
        planned = {site: [at for at in moments if at is not None] for site, *moments in rows}
        return {site: min(moments) for site, moments in planned.items() if moments}

    def events(self, *, of_each: int = 5) -> dict[int, list[SiteEvent]]:
        """Return the latest changes of whole sites by site id, newest first."""
        query = Change.select(Change.site, Change.kind, Change.at, Change.detail)
        query = query.where(Change.page.is_null()).order_by(Change.id.desc()).limit(_MOST_EVENTS)
        found: dict[int, list[SiteEvent]] = {}
        for site, *event in self._rows(query):
            if len(of_site := found.setdefault(site, [])) < of_each:
                of_site.append(SiteEvent(*event))
        return found

    def queue(self, now: float) -> Queue:
        """Count the fetches due at *now*."""
        hubs = self._scalar(Hub.select(fn.COUNT(Hub.page)).where(Hub.due_at <= now))
        # Sites are listed because the verification index begins with them.
        due = Page.site.in_(Site.select(Site.id)) & (Page.verify_due_at <= now)
        return Queue(int(hubs), int(self._scalar(Page.select(fn.COUNT(Page.id)).where(due))))

    def host_waits(self, now: float, *, limit: int = 50) -> list[HostWait]:
        """Return hosts that must not be asked yet or that failed, longest wait first."""
        held = (Host.next_allowed_at > now) | (Host.failures > 0)
        query = Host.select(Host.name, Host.next_allowed_at, Host.failures).where(held)
        rows = self._rows(query.order_by(Host.next_allowed_at.desc(), Host.name).limit(limit))
        return [HostWait(name, max(at - now, 0.0), failures) for name, at, failures in rows]
