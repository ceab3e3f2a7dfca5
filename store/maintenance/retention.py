"""Deletes expired data, a bounded batch at a time.

::

    data          expires                                           never expires
    visits        all
    changes       of pages and sites                                announcements; of starred pages
    texts         with their vector and place among near-duplicates of starred, refreshed and watched pages
    sightings     that ended                                        a hub's last 50, a site's last news
    guesses       topics' scores of pages that were not fetched     of announced and awaited pages
    refreshes     due long ago
    candidates    runs with their pages, undecided proposals        decisions, the last run of a topic
    hosts         not asked for a long time

Pages themselves never expire, with canonical key, state, rule, marks and labels, so none is announced twice.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from peewee import fn

from store.crawl.refreshes import PLANNED
from store.database import is_sqlite, writing
from store.database.repository import Repository, batches
from store.enums import ChangeKind, PageState, SiteEventKind
from store.models import (
    Change,
    Host,
    Hub,
    News,
    Page,
    PageText,
    PageTopic,
    Refresh,
    Sighting,
    Visit,
)
from store.search.news import keep_titles

BATCH = 500
# Hubs whose sightings are examined in one transaction.
_HUBS = 10
# Ended sightings kept of each hub whatever their age: they show that the list is truncated, and
# labelling by behaviour needs two visits with news.
KEPT_OF_HUB = 50
# Announced pages of each site whose sightings all stay: coverage is computed from the last 200.
KEPT_OF_SITE = 200
_STARRED = News.select(News.page).where(News.starred_at.is_null(is_null=False))
_ANNOUNCING = (ChangeKind.ADDED, SiteEventKind.BACKFILL)


class Kind(StrEnum):
    """Kinds of data that expire."""

    VISITS = "visits"
    CHANGES = "changes"
    TEXTS = "texts"
    SIGHTINGS = "sightings"
    GUESSES = "guesses"
    REFRESHES = "refreshes"
    HOSTS = "hosts"


@dataclass(frozen=True, slots=True)
class Batch:
    """Result of one call, and the start of the next one; None = done."""

    rows: int
    cursor: int | None = None


class Retention(Repository):
    """Deletes, on one database."""

    def forget(self, kind: Kind, *, before: float, now: float, after: int = 0) -> Batch:
        """Delete one batch of data older than *before* (unix seconds), in one transaction.

        *after* is the cursor of the previous batch.
        """
        steps: dict[Kind, Callable[[], Batch]] = {
            Kind.VISITS: lambda: self._of(Visit, Visit.id, Visit.at < before),
            Kind.CHANGES: lambda: self._changes(before),
            Kind.TEXTS: lambda: self._texts(before, now),
            Kind.SIGHTINGS: lambda: self._sightings(before, after),
            Kind.GUESSES: lambda: self._guesses(before, after),
            Kind.REFRESHES: lambda: self._of(
                Refresh, Refresh.page, (Refresh.due_at < before) & PLANNED
            ),
            Kind.HOSTS: lambda: self._of(Host, Host.name, Host.next_allowed_at < before),
        }
        with writing(self._db, self._where):
            return steps[kind]()

    def _of(self, model: Any, key: Any, old: Any) -> Batch:  # noqa: ANN401 - a model, its key, a condition
        """Delete a batch of the rows that are *old*."""
        keys = self._column(model.select(key).where(old).limit(BATCH))
        if keys:
            model.delete().where(key.in_(keys)).execute(self._db)
        return _batch(len(keys))

    def _changes(self, before: float) -> Batch:
        query = (
            Change.select(Change.id, Change.page, Change.at)
            .where((Change.at < before) & Change.kind.not_in(_ANNOUNCING))
            .where(Change.page.is_null() | Change.page.not_in(_STARRED))
            .order_by(Change.at)
            .limit(BATCH)
        )
        rows = self._rows(query)
        if not rows:
            return Batch(0)
        Change.delete().where(Change.id.in_([one for one, _, _ in rows])).execute(self._db)
        # In order of time, so the latest stays.
        latest = {page: at for _, page, at in rows if page is not None}
        for page, at in latest.items():
            Page.update(changes_from=at).where(Page.id == page).execute(self._db)
        return _batch(len(rows))

    def _texts(self, before: float, now: float) -> Batch:
        query = (
            PageText.select(PageText.page)
            .where(PageText.forgotten_at.is_null() & (PageText.at < before))
            .where(PageText.text.is_null(is_null=False))
            .where(PageText.page.not_in(_STARRED))
            # A refreshed page is compared with its last text.
            .where(PageText.page.not_in(Refresh.select(Refresh.page)))
            .order_by(PageText.at)
            .limit(BATCH)
        )
        pages = self._column(query)
        keep_titles(self._db, pages, now)
        return _batch(len(pages))

    def _sightings(self, before: float, after: int) -> Batch:
        query = Sighting.select(Sighting.hub).where(Sighting.hub > after).distinct()
        hubs = self._column(query.order_by(Sighting.hub).limit(_HUBS))
        rows = sum(self._sightings_of(hub, before) for hub in hubs)
        return Batch(rows, hubs[-1] if len(hubs) == _HUBS else None)

    def _sightings_of(self, hub_id: int, before: float) -> int:
        """Delete a hub's sightings that ended before *before*; of a former hub, all that old."""
        is_hub = fn.EXISTS(Hub.select(Hub.page).where(Hub.page == hub_id))
        ((site, is_hub),) = self._rows(Page.select(Page.site, is_hub).where(Page.id == hub_id))
        ended = Sighting.gone_at < before
        # A former hub is not visited, so its sightings never end.
        old = (
            ended
            if is_hub
            else ended | (Sighting.gone_at.is_null() & (Sighting.first_seen_at < before))
        )
        query = (
            Sighting.select(Sighting.page)
            .join(Page, on=Page.id == Sighting.page)
            .where((Sighting.hub == hub_id) & old)
            .order_by(fn.COALESCE(Sighting.gone_at, Sighting.first_seen_at).desc(), Sighting.page)
        )
        if is_hub:
            ended_of_hub = (Sighting.hub == hub_id) & Sighting.gone_at.is_null(is_null=False)
            younger = Sighting.select(fn.COUNT(Sighting.page)).where(ended_of_hub & ~ended)
            kept = max(KEPT_OF_HUB - int(younger.scalar(self._db)), 0)
            query = query.limit(-1 if is_sqlite(self._db) else None).offset(kept)
        news_from = self._news_from(site)
        shown = self._rows(query.select(Sighting.page, Page.announced_at))
        pages = [page for page, at in shown if at is None or at < news_from]
        for batch in batches(pages):
            gone = (Sighting.hub == hub_id) & Sighting.page.in_(batch)
            Sighting.delete().where(gone).execute(self._db)
        return len(pages)

    def _news_from(self, site_id: int) -> float:
        """Return the time of the earliest of a site's last announcements."""
        announced = (Change.site == site_id) & (Change.kind == ChangeKind.ADDED)
        query = Change.select(Change.at).where(announced).order_by(Change.id.desc())
        at = query.offset(KEPT_OF_SITE - 1).limit(1).scalar(self._db)
        return 0.0 if at is None else float(at)

    def _guesses(self, before: float, after: int) -> Batch:
        query = (
            PageTopic.select(PageTopic.page)
            .join(Page, on=Page.id == PageTopic.page)
            .where((PageTopic.page > after) & ~PageTopic.fetched & (PageTopic.at < before))
            .where(Page.announced_at.is_null() & (Page.state != PageState.PENDING))
            .order_by(PageTopic.page)
            .distinct()
            .limit(BATCH)
        )
        pages = self._column(query)
        if not pages:
            return Batch(0)
        guessed = PageTopic.page.in_(pages) & ~PageTopic.fetched & (PageTopic.at < before)
        rows = PageTopic.delete().where(guessed).execute(self._db)
        return Batch(int(rows), pages[-1] if len(pages) == BATCH else None)


def _batch(rows: int) -> Batch:
    return Batch(rows, 0 if rows == BATCH else None)
