"""What a round of the crawler asks: what is due, what is known, what a host is owed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from peewee import JOIN, chunked, fn

from store.database import data_version, is_sqlite, storage_errors
from store.models import Host, Hub, Label, Page, Sighting, Site, Topic
from store.queries.columns import LOOK_COLUMNS, SITE_COLUMNS, select_hubs
from store.reader import Reader
from store.values import HostRow, HubRow, KnownPage, LookRow, Sight, SiteRow


class RoundQueries(Reader):
    """The crawler's questions."""

    def generation(self) -> object:
        """Return a value that differs when another connection has changed the database since."""
        if is_sqlite(self._db):
            with storage_errors(self._where):
                return data_version(self._db)
        paused = Site.select(fn.COUNT(Site.id)).where(Site.state == "paused")
        hubs = Hub.select(fn.COUNT(Hub.page))
        labels = Label.select(fn.COUNT(Label.at), fn.MAX(Label.at))
        changed = (fn.MAX(Topic.changed_at), fn.MAX(Topic.learned_at))
        topics = Topic.select(fn.COUNT(Topic.id), fn.SUM(Topic.id), *changed)
        sites = Site.select(fn.COUNT(Site.id), fn.MAX(Site.id))
        asked = (sites, paused, hubs, labels, topics)
        return tuple(value for query in asked for value in self._rows(query)[0])

    def sites(self) -> list[SiteRow]:
        """Return all sites in the order in which they were added."""
        query = Site.select(*SITE_COLUMNS).order_by(Site.id)
        return [SiteRow(*row) for row in self._rows(query)]

    def due_hubs(self, site_id: int, now: float, *, visited: bool, limit: int = 1) -> list[HubRow]:
        """Return hubs of a site that are due at *now*: resting ones last, else the longest overdue first.

        *visited* chooses between hubs that have been read before and those that never were.
        """
        known = Hub.baseline_at.is_null(not visited)
        query = (
            select_hubs()
            .where((Hub.site_id == site_id) & (Hub.due_at <= now) & known)
            .order_by(Hub.state == "resting", Hub.due_at, Hub.page)
            .limit(limit)
        )
        return [HubRow(*row) for row in self._rows(query)]

    def due_looks(
        self,
        site_id: int,
        now: float,
        *,
        limit: int = 1,
        likely_first: bool = False,
        pending: bool = False,
    ) -> list[LookRow]:
        """Return pages of a site that are to be fetched themselves, the longest due first.

        *pending*: only those that are told when a look has found them.
        *likely_first*: those of which topics expect most come before, those nobody guessed about last.
        """
        order: list[Any] = [Page.look_due_at, Page.id]
        if likely_first:
            order.insert(0, Page.look_score.desc(nulls="LAST"))
        due = (Page.site == site_id) & (Page.look_due_at <= now)
        if pending:
            due &= Page.state == "pending"
        query = Page.select(*LOOK_COLUMNS).where(due).order_by(*order).limit(limit)
        return [LookRow(*row) for row in self._rows(query)]

    def next_due_at(self, site_id: int) -> float | None:
        """Return when the next hub or look of a site is due; it may have passed. None = never."""
        moments = (self.next_hub_due_at(site_id), self.next_look_due_at(site_id))
        return min((moment for moment in moments if moment is not None), default=None)

    def next_hub_due_at(self, site_id: int) -> float | None:
        """Return when the next hub of a site is due; it may have passed. None = never."""
        query = Hub.select(fn.MIN(Hub.due_at)).where(Hub.site_id == site_id)
        moment = self._rows(query)[0][0]
        return None if moment is None else float(moment)

    def next_look_due_at(self, site_id: int, *, pending: bool = False) -> float | None:
        """Return when the next look at a page of a site is due; it may have passed. None = never.

        *pending* = only at those that are told when a look has found them.
        """
        query = Page.select(fn.MIN(Page.look_due_at)).where(Page.site == site_id)
        if pending:
            planned = Page.look_due_at.is_null(is_null=False)
            query = query.where(planned & (Page.state == "pending"))
        moment = self._rows(query)[0][0]
        return None if moment is None else float(moment)

    def known(self, site_id: int, identities: Sequence[str]) -> dict[str, KnownPage]:
        """Return those of *identities* that the site knows, by identity."""
        columns = (
            Page.id,
            Page.identity,
            Page.anchor,
            Page.first_seen_at,
            Page.announced_at,
            Page.state,
            Page.first_hub_id,
            Hub.page.is_null(is_null=False),
        )
        found: dict[str, KnownPage] = {}
        for batch in chunked(identities, 500):
            query = (
                Page.select(*columns)
                .join(Hub, JOIN.LEFT_OUTER, on=Hub.page == Page.id)
                .where((Page.site == site_id) & Page.identity.in_(batch))
            )
            for row in self._rows(query):
                found[row[1]] = KnownPage(*row)
        return found

    def visible(self, hub_id: int) -> set[int]:
        """Return the ids of the pages that the hub showed at its last visit."""
        query = Sighting.select(Sighting.page).where(
            (Sighting.hub == hub_id) & Sighting.gone_at.is_null()
        )
        return {page for (page,) in self._rows(query)}

    def first_shown(self, hub_id: int, at: float) -> set[int]:
        """Return the ids of the pages that the hub showed at its visit at *at*, and never before."""
        query = Sighting.select(Sighting.page).where(
            (Sighting.hub == hub_id) & (Sighting.first_seen_at == at)
        )
        return {page for (page,) in self._rows(query)}

    def sights(self, hub_id: int) -> list[Sight]:
        """Return all that the hub ever showed, with the places at which it first did."""
        columns = (Sighting.page, Sighting.anchor, Sighting.tag_path)
        times = (Sighting.first_seen_at, Sighting.gone_at)
        query = Sighting.select(*columns, *times).where(Sighting.hub == hub_id)
        return [Sight(*row) for row in self._rows(query)]

    def shown_by(self, hub_id: int) -> set[str]:
        """Return the identities of the pages that the hub showed at its last visit."""
        query = (
            Page.select(Page.identity)
            .join(Sighting, on=Sighting.page == Page.id)
            .where((Sighting.hub == hub_id) & Sighting.gone_at.is_null())
        )
        return {identity for (identity,) in self._rows(query)}

    def hubs(self, site_id: int | None = None) -> list[HubRow]:
        """Return the hubs, of one site or of all: those that brought most new pages first."""
        query = select_hubs().order_by(Hub.new_pages.desc(), Hub.visits.desc(), Hub.page)
        if site_id is not None:
            query = query.where(Hub.site_id == site_id)
        return [HubRow(*row) for row in self._rows(query)]

    def hub(self, page_id: int) -> HubRow | None:
        """Return one hub."""
        rows = self._rows(select_hubs().where(Hub.page == page_id))
        return HubRow(*rows[0]) if rows else None

    def look(self, page_id: int) -> LookRow | None:
        """Return what a look at one page needs."""
        rows = self._rows(Page.select(*LOOK_COLUMNS).where(Page.id == page_id))
        return LookRow(*rows[0]) if rows else None

    def urls(self, page_ids: Iterable[int]) -> list[str]:
        """Return the URLs of pages."""
        found: list[str] = []
        for batch in chunked(page_ids, 500):
            query = Page.select(Page.url).where(Page.id.in_(batch))
            found += [url for (url,) in self._rows(query)]
        return found

    def host(self, name: str) -> HostRow | None:
        """Return what a host is owed, or None when it was never asked."""
        columns = [getattr(Host, f.name) for f in fields(HostRow)]
        rows = self._rows(Host.select(*columns).where(Host.name == name))
        return HostRow(*rows[0]) if rows else None
