"""What a round of the crawler asks: what is due, what is known, what a host is owed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from peewee import JOIN, Case, chunked, fn

from store.database import data_version, is_sqlite, storage_errors
from store.models import Host, Hub, Label, Page, Sighting, Site, Topic
from store.prepared import Prepared
from store.queries.columns import LOOK_COLUMNS, SITE_COLUMNS, select_hubs
from store.reader import Reader
from store.values import ARTICLE, HostRow, HubClass, HubRow, KnownPage, LookRow, Sight, SiteRow

_READ = Hub.baseline_at.is_null(is_null=False)
_SHARES = {
    "revisit": _READ & (Hub.role != ARTICLE) & (Hub.state != "resting"),
    "covered": _READ & (Hub.role != ARTICLE) & (Hub.state == "resting"),
    "explore": Hub.baseline_at.is_null() & (Hub.role != ARTICLE),
    "article": Hub.role == ARTICLE,
}
"""Which hubs belong to which class of work."""
_AWAITED = Page.state.in_(("pending", "missing"))
"""Pages that are announced when they have been read."""
_ORDINARY = Case(None, (((Hub.kind == "sitemap") | (Hub.role == "seed"), 0),), 1)
"""Sitemaps and home pages go first: few, and now and then the only place where a page is shown. Behind
two hundred covered tags the sitemap of a recorded weblog waited for four days."""


def _due_hubs(share: str) -> Prepared:
    return Prepared(
        lambda site, now, limit: (
            select_hubs()
            .where((Hub.site_id == site) & (Hub.due_at <= now) & _SHARES[share])
            .order_by(_ORDINARY, Hub.due_at, Hub.page)
            .limit(limit)
        )
    )


def _due_looks(*, likely_first: bool, pending: bool) -> Prepared:
    order: list[Any] = [Page.look_due_at, Page.id]
    if likely_first:
        order.insert(0, Page.look_score.desc(nulls="LAST"))

    def query(site: int, now: float, limit: int) -> Any:  # noqa: ANN401 - a peewee query
        due = (Page.site == site) & (Page.look_due_at <= now)
        if pending:
            due &= _AWAITED
        return Page.select(*LOOK_COLUMNS).where(due).order_by(*order).limit(limit)

    return Prepared(query)


def _next_look(*, pending: bool) -> Prepared:
    def query(site: int) -> Any:  # noqa: ANN401 - a peewee query
        planned = (Page.site == site) & Page.look_due_at.is_null(is_null=False)
        if pending:
            planned &= _AWAITED
        return Page.select(fn.MIN(Page.look_due_at)).where(planned)

    return Prepared(query)


def _next_hub(of_class: Any) -> Prepared:  # noqa: ANN401 - a peewee expression
    return Prepared(
        lambda site: Hub.select(fn.MIN(Hub.due_at)).where((Hub.site_id == site) & of_class)
    )


_ALL = 1_000_000
_BOTH = (True, False)
_DUE_HUBS = {share: _due_hubs(share) for share in _SHARES}
_DUE_LOOKS = {
    (likely, pending): _due_looks(likely_first=likely, pending=pending)
    for likely in _BOTH
    for pending in _BOTH
}
_NEXT_LOOK = {pending: _next_look(pending=pending) for pending in _BOTH}
_NEXT_HUB = _next_hub(Hub.role != ARTICLE)
_NEXT_ARTICLE = _next_hub(Hub.role == ARTICLE)
_HUB = Prepared(lambda page: select_hubs().where(Hub.page == page))
_LOOK = Prepared(lambda page: Page.select(*LOOK_COLUMNS).where(Page.id == page))
_HOST = Prepared(
    lambda name: Host.select(*(getattr(Host, f.name) for f in fields(HostRow))).where(
        Host.name == name
    )
)
_HUBS_OF_SITE = Prepared(
    lambda site: (
        select_hubs()
        .where(Hub.site_id == site)
        .order_by(Hub.new_pages.desc(), Hub.visits.desc(), Hub.page)
    )
)
_VISIBLE = Prepared(
    lambda hub: Sighting.select(Sighting.page).where(
        (Sighting.hub == hub) & Sighting.gone_at.is_null()
    )
)
_FIRST_SHOWN = Prepared(
    lambda hub, at: Sighting.select(Sighting.page).where(
        (Sighting.hub == hub) & (Sighting.first_seen_at == at)
    )
)


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

    def due_hubs(
        self, site_id: int, now: float, share: HubClass, *, limit: int | None = 1
    ) -> list[HubRow]:
        """Return hubs of a class of work that are due at *now*.

        Sitemaps and seeds come first, then what is longest overdue.
        ``revisit`` and ``covered`` are hubs that have been read, ``explore`` those that never were, and
        ``article`` the articles that are monitored for links, read or not. *limit* None = all of them.
        """
        most = _ALL if limit is None else limit
        rows = self._asked(_DUE_HUBS[share], site=site_id, now=now, limit=most)
        return [HubRow(*row) for row in rows]

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
        query = _DUE_LOOKS[likely_first, pending]
        return [LookRow(*row) for row in self._asked(query, site=site_id, now=now, limit=limit)]

    def next_due_at(self, site_id: int) -> float | None:
        """Return when the next hub or look of a site is due; it may have passed. None = never."""
        moments = (self.next_hub_due_at(site_id), self.next_look_due_at(site_id))
        return min((moment for moment in moments if moment is not None), default=None)

    def next_hub_due_at(self, site_id: int) -> float | None:
        """Return when the next hub of a site is due, monitored articles left out; None = never.

        It may have passed.
        """
        moment = self._asked(_NEXT_HUB, site=site_id)[0][0]
        return None if moment is None else float(moment)

    def next_article_due_at(self, site_id: int) -> float | None:
        """Return when the next monitored article of a site may be read; it may have passed. None = never."""
        moment = self._asked(_NEXT_ARTICLE, site=site_id)[0][0]
        return None if moment is None else float(moment)

    def next_look_due_at(self, site_id: int, *, pending: bool = False) -> float | None:
        """Return when the next look at a page of a site is due; it may have passed. None = never.

        *pending* = only at those that are told when a look has found them.
        """
        moment = self._asked(_NEXT_LOOK[pending], site=site_id)[0][0]
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
            Hub.page.is_null(is_null=False) & (Hub.role != ARTICLE),
            Page.rule,
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
        return {page for (page,) in self._asked(_VISIBLE, hub=hub_id)}

    def first_shown(self, hub_id: int, at: float) -> set[int]:
        """Return the ids of the pages that the hub showed at its visit at *at*, and never before."""
        return {page for (page,) in self._asked(_FIRST_SHOWN, hub=hub_id, at=at)}

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
        if site_id is not None:
            return [HubRow(*row) for row in self._asked(_HUBS_OF_SITE, site=site_id)]
        query = select_hubs().order_by(Hub.new_pages.desc(), Hub.visits.desc(), Hub.page)
        return [HubRow(*row) for row in self._rows(query)]

    def hub(self, page_id: int) -> HubRow | None:
        """Return one hub."""
        rows = self._asked(_HUB, page=page_id)
        return HubRow(*rows[0]) if rows else None

    def look(self, page_id: int) -> LookRow | None:
        """Return what a look at one page needs."""
        rows = self._asked(_LOOK, page=page_id)
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
        rows = self._asked(_HOST, name=name)
        return HostRow(*rows[0]) if rows else None
