"""Every question the crawler and its faces ask. Reading only; each query uses an index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from peewee import JOIN, Database, Expression, chunked, fn

from store.database import data_version, is_sqlite, storage_errors
from store.models import Change, Host, Hub, Label, Page, Sighting, Site, Visit
from store.texts import storable
from store.values import (
    HostRow,
    HubNews,
    HubRow,
    KnownPage,
    LabelEntry,
    LookRow,
    NewPage,
    SiteRow,
)

_SITE_COLUMNS = [getattr(Site, f.name) for f in fields(SiteRow)]
_HUB_COLUMNS = [
    {"page_id": Hub.page, "url": Page.url, "identity": Page.identity}.get(f.name)
    or getattr(Hub, f.name)
    for f in fields(HubRow)
]
_LOOK_COLUMNS = [
    {"page_id": Page.id, "site_id": Page.site}.get(f.name) or getattr(Page, f.name)
    for f in fields(LookRow)
]
_LABEL_COLUMNS = [
    {"site_id": Label.site}.get(f.name) or getattr(Label, f.name) for f in fields(LabelEntry)
]


class Queries:
    """The questions, on one database."""

    def __init__(self, database: Database, where: str) -> None:
        self._db = database
        self._where = where

    def _rows(self, query: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - peewee's query classes share no typed base
        with storage_errors(self._where):
            return list(query.tuples().execute(self._db))

    # What the crawler asks.

    def generation(self) -> object:
        """Return a value that differs when another connection has changed the database since."""
        if is_sqlite(self._db):
            with storage_errors(self._where):
                return data_version(self._db)
        paused = Site.select(fn.COUNT(Site.id)).where(Site.state == "paused")
        hubs = Hub.select(fn.COUNT(Hub.page))
        labels = Label.select(fn.COUNT(Label.at), fn.MAX(Label.at))
        rows = self._rows(Site.select(fn.COUNT(Site.id), fn.MAX(Site.id)))
        return (*rows[0], *self._rows(paused)[0], *self._rows(hubs)[0], *self._rows(labels)[0])

    def sites(self) -> list[SiteRow]:
        """Return all sites in the order in which they were added."""
        query = Site.select(*_SITE_COLUMNS).order_by(Site.id)
        return [SiteRow(*row) for row in self._rows(query)]

    def due_hubs(self, site_id: int, now: float, *, visited: bool, limit: int = 1) -> list[HubRow]:
        """Return hubs of a site that are due at *now*, the longest overdue first.

        *visited* chooses between hubs that have been read before and those that never were.
        """
        known = Hub.baseline_at.is_null(not visited)
        query = (
            _hubs()
            .where((Hub.site_id == site_id) & (Hub.due_at <= now) & known)
            .order_by(Hub.due_at, Hub.page)
            .limit(limit)
        )
        return [HubRow(*row) for row in self._rows(query)]

    def due_looks(self, site_id: int, now: float, *, limit: int = 1) -> list[LookRow]:
        """Return pages of a site that are to be fetched themselves, the longest due first."""
        query = (
            Page.select(*_LOOK_COLUMNS)
            .where((Page.site == site_id) & (Page.look_due_at <= now))
            .order_by(Page.look_due_at, Page.id)
            .limit(limit)
        )
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

    def next_look_due_at(self, site_id: int) -> float | None:
        """Return when the next look at a page of a site is due; it may have passed. None = never."""
        query = Page.select(fn.MIN(Page.look_due_at)).where(Page.site == site_id)
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
        query = _hubs().order_by(Hub.new_pages.desc(), Hub.visits.desc(), Hub.page)
        if site_id is not None:
            query = query.where(Hub.site_id == site_id)
        return [HubRow(*row) for row in self._rows(query)]

    def hub(self, page_id: int) -> HubRow | None:
        """Return one hub."""
        rows = self._rows(_hubs().where(Hub.page == page_id))
        return HubRow(*rows[0]) if rows else None

    def hubs_with_body(self, site_id: int, digest: str) -> list[str]:
        """Return the URLs of the site's hubs whose last body had this MD5."""
        query = (
            Page.select(Page.url)
            .join(Hub, on=Hub.page == Page.id)
            .where((Hub.site_id == site_id) & (Hub.body_md5 == digest))
        )
        return [url for (url,) in self._rows(query)]

    def articles_shown(self, site_id: int) -> list[tuple[int, int]]:
        """Return (hub, page) for every page of a site that is no hub and stands on a hub now."""
        as_hub = Hub.alias()
        query = (
            Sighting.select(Sighting.hub, Sighting.page)
            .join(Hub, on=Hub.page == Sighting.hub)
            .join(as_hub, JOIN.LEFT_OUTER, on=as_hub.page == Sighting.page)
            .where((Hub.site_id == site_id) & Sighting.gone_at.is_null() & as_hub.page.is_null())
        )
        return [(hub, page) for hub, page in self._rows(query)]

    def told_shown(self, site_id: int, *, limit: int = 200) -> list[tuple[int, int, float, float]]:
        """Return (hub, page, seen on it, told) for the pages of a site told last, on every hub."""
        last = (
            Change.select(Change.page, Change.at)
            .where((Change.site == site_id) & (Change.kind == "added"))
            .order_by(Change.id.desc())
            .limit(limit)
            .alias("last")
        )
        query = Sighting.select(
            Sighting.hub, Sighting.page, Sighting.first_seen_at, last.c.at
        ).join(last, on=last.c.page_id == Sighting.page)
        return [(row[0], row[1], row[2], row[3]) for row in self._rows(query)]

    def told_since(self, site_id: int, since: float) -> int:
        """Count the pages of a site that were told as new since *since* (unix seconds)."""
        told = (Change.site == site_id) & (Change.at >= since) & (Change.kind == "added")
        return int(self._rows(Change.select(fn.COUNT(Change.id)).where(told))[0][0])

    def other_hubs(self, site_id: int) -> int:
        """Count the feeds and sitemaps of a site, dead ones included."""
        query = Hub.select(fn.COUNT(Hub.page)).where(
            (Hub.site_id == site_id) & (Hub.kind != "html")
        )
        return int(self._rows(query)[0][0])

    def hubs_of_role(self, site_id: int, role: str) -> int:
        """Count the hubs of a site that have a role."""
        query = Hub.select(fn.COUNT(Hub.page)).where((Hub.site_id == site_id) & (Hub.role == role))
        return int(self._rows(query)[0][0])

    def known_below(self, site_id: int, prefix: str, *, before: float) -> bool:
        """Tell whether a page whose identity begins with *prefix* was known before *before*."""
        below = Page.identity.startswith(prefix) & (Page.first_seen_at < before)
        query = Page.select(Page.id).where((Page.site == site_id) & below).limit(1)
        return bool(self._rows(query))

    def look(self, page_id: int) -> LookRow | None:
        """Return what a look at one page needs."""
        rows = self._rows(Page.select(*_LOOK_COLUMNS).where(Page.id == page_id))
        return LookRow(*rows[0]) if rows else None

    def urls(self, page_ids: Iterable[int]) -> list[str]:
        """Return the URLs of pages."""
        found: list[str] = []
        for batch in chunked(page_ids, 500):
            query = Page.select(Page.url).where(Page.id.in_(batch))
            found += [url for (url,) in self._rows(query)]
        return found

    def known_urls(self, site_id: int, *, limit: int = 5_000) -> list[tuple[str, str]]:
        """Return (URL, anchor) of pages of a site, those known longest first."""
        query = Page.select(Page.url, Page.anchor).where(Page.site == site_id)
        return [(url, anchor) for url, anchor in self._rows(query.order_by(Page.id).limit(limit))]

    def judged_urls(self, site_id: int, *, limit: int = 2_000) -> list[tuple[str, bool]]:
        """Return (URL, is a hub) of pages whose first reading decided, the latest first."""
        query = (
            Page.select(Page.url, Hub.page.is_null(is_null=False))
            .join(Hub, JOIN.LEFT_OUTER, on=Hub.page == Page.id)
            .where(
                (Page.site == site_id)
                & (
                    Page.looked_at.is_null(is_null=False) & Hub.page.is_null()
                    | Hub.role.in_(("list", "user")) & Hub.baseline_at.is_null(is_null=False)
                )
            )
            .order_by(Page.id.desc())
            .limit(limit)
        )
        return [(url, bool(is_hub)) for url, is_hub in self._rows(query)]

    def shown_by_seed(self, site_id: int) -> set[str]:
        """Return the identities of the pages that the site's seeds showed at their last visits."""
        query = (
            Page.select(Page.identity)
            .join(Sighting, on=Sighting.page == Page.id)
            .join(Hub, on=Hub.page == Sighting.hub)
            .where((Hub.site_id == site_id) & (Hub.role == "seed") & Sighting.gone_at.is_null())
        )
        return {identity for (identity,) in self._rows(query)}

    def hub_urls(self, site_id: int) -> list[str]:
        """Return the URLs of a site's HTML hubs that are alive."""
        query = (
            Page.select(Page.url)
            .join(Hub, on=Hub.page == Page.id)
            .where((Hub.site_id == site_id) & (Hub.kind == "html") & (Hub.state != "dead"))
        )
        return [url for (url,) in self._rows(query)]

    def host(self, name: str) -> HostRow | None:
        """Return what a host is owed, or None when it was never asked."""
        columns = [getattr(Host, f.name) for f in fields(HostRow)]
        rows = self._rows(Host.select(*columns).where(Host.name == name))
        return HostRow(*rows[0]) if rows else None

    def known_anchors(self, site_id: int, anchors: Sequence[str]) -> dict[str, int]:
        """Return page ids by anchor text, for those of *anchors* that pages of the site carry."""
        stored = {anchor: storable(anchor) for anchor in anchors}
        found: dict[str, int] = {}
        for batch in chunked(stored.values(), 500):
            query = Page.select(Page.anchor, Page.id).where(
                (Page.site == site_id) & Page.anchor.in_(batch)
            )
            found.update(self._rows(query))
        return {anchor: found[kept] for anchor, kept in stored.items() if kept in found}

    def pages_below(
        self, site_id: int, prefix: str, *, hubs_only: bool = False, limit: int | None = None
    ) -> list[tuple[int, str, str]]:
        """Return id, URL and identity of the site's pages whose identity begins with *prefix*."""
        query = Page.select(Page.id, Page.url, Page.identity).where(
            (Page.site == site_id) & Page.identity.startswith(prefix) & (Page.state != "moved")
        )
        if hubs_only:
            query = query.join(Hub, on=Hub.page == Page.id)
        return [
            (row[0], row[1], row[2]) for row in self._rows(query.order_by(Page.id).limit(limit))
        ]

    # Labels.

    def labels(self, origin: str | None = None) -> list[LabelEntry]:
        """Return all labels, or those of one origin, in the order in which they were first said."""
        query = Label.select(*_LABEL_COLUMNS).order_by(Label.at, Label.identity)
        if origin is not None:
            query = query.where(Label.origin == origin)
        return [LabelEntry(*row) for row in self._rows(query)]

    def labels_of(self, identity: str) -> list[LabelEntry]:
        """Return what was said of one page."""
        query = Label.select(*_LABEL_COLUMNS).where(Label.identity == storable(identity, None))
        return [LabelEntry(*row) for row in self._rows(query.order_by(Label.at))]

    def site_labels(self, site_id: int, origin: str) -> list[LabelEntry]:
        """Return what one origin said of the pages of a site."""
        said = (Label.site == site_id) & (Label.origin == origin)
        query = Label.select(*_LABEL_COLUMNS).where(said).order_by(Label.at)
        return [LabelEntry(*row) for row in self._rows(query)]

    def corrections(self, identities: Sequence[str]) -> dict[str, str]:
        """Return what users said of these pages: hub or topic, by identity."""
        found: dict[str, str] = {}
        for batch in chunked(identities, 500):
            said = Label.identity.in_(batch) & (Label.origin == "user")
            query = Label.select(Label.identity, Label.label).where(said)
            found.update(self._rows(query))
        return found

    def hub_news(self, site_id: int, *, most_hubs: int | None = None) -> dict[int, HubNews]:
        """Return what each hub of a site brought after its baseline, by page id; no entry = nothing.

        Counted are sightings of pages that are no hubs and that nobody knew at the baseline: an old page
        that comes and goes in a box of proposals is no news, one that another hub showed first is. With
        *most_hubs* pages that stood on more hubs than that do not count: they stand in the site's frame.
        """
        as_hub = Hub.alias()
        since = Hub.baseline_at
        query = (
            Sighting.select(
                Sighting.hub,
                fn.COUNT(Sighting.page),
                fn.COUNT(Sighting.first_seen_at.distinct()),
            )
            .join(Hub, on=Hub.page == Sighting.hub)
            .join(Page, on=Page.id == Sighting.page)
            .join(as_hub, JOIN.LEFT_OUTER, on=as_hub.page == Sighting.page)
            .where(
                (Hub.site_id == site_id)
                & (Sighting.first_seen_at > since)
                & (Page.first_seen_at > since)
                & Page.state.in_(("known", "pending", "gone"))
                & as_hub.page.is_null()
            )
            .group_by(Sighting.hub)
        )
        if most_hubs is not None:
            query = query.where(Sighting.page.not_in(_frame(site_id, most_hubs)))
        return {hub: HubNews(links, visits) for hub, links, visits in self._rows(query)}

    # What people ask.

    def new_pages(  # noqa: PLR0913 - each narrows the same question
        self,
        *,
        since: float | None = None,
        until: float | None = None,
        site_ids: Sequence[int] | None = None,
        after_cursor: int | None = None,
        limit: int = 100,
        oldest_first: bool = False,
    ) -> list[NewPage]:
        """Return pages that were told as new, newest first (or oldest first, for following on).

        *since* and *until* bound the time of finding (unix seconds, half open); *after_cursor* gives
        only what was recorded after that row.
        """
        # A page that turned out to be another one under a second address is told once.
        where: list[Expression] = [Change.kind == "added", Page.state != "moved"]
        if since is not None:
            where.append(Change.at >= since)
        if until is not None:
            where.append(Change.at < until)
        if site_ids is not None:
            where.append(Change.site.in_(site_ids))
        if after_cursor is not None:
            where.append(Change.id > after_cursor)
        order = Change.id if oldest_first else Change.id.desc()
        query = _news().where(*where).order_by(order).limit(limit)
        return [NewPage(*row) for row in self._rows(query)]

    def find_page(self, url: str, identity: str) -> list[dict[str, Any]]:
        """Return all columns of the pages with this URL or identity, with their hub's if they are hubs."""
        # The sites are named because the index of identities begins with them.
        same = Page.site.in_(Site.select(Site.id)) & (Page.identity == storable(identity, None))
        query = (
            Page.select(Page, Site.name.alias("site_name"))
            .join(Site)
            .where(same | (Page.url == storable(url, None)))
            .order_by(Page.id)
        )
        with storage_errors(self._where):
            return list(query.dicts().execute(self._db))

    def page(self, page_id: int) -> dict[str, Any] | None:
        """Return all columns of one page."""
        with storage_errors(self._where):
            rows = list(Page.select().where(Page.id == page_id).dicts().execute(self._db))
        return rows[0] if rows else None

    def changes(self, page_id: int) -> list[dict[str, Any]]:
        """Return what happened to a page, oldest first."""
        return self._dicts(Change.select().where(Change.page == page_id).order_by(Change.id))

    def site_changes(self, site_id: int, *, limit: int = 20) -> list[dict[str, Any]]:
        """Return what happened to a site as a whole, newest first."""
        whole = (Change.site == site_id) & Change.page.is_null()
        return self._dicts(Change.select().where(whole).order_by(Change.id.desc()).limit(limit))

    def sightings(self, page_id: int) -> list[dict[str, Any]]:
        """Return on which hubs a page was seen, with the hub's URL, the earliest first."""
        query = (
            Sighting.select(Sighting, Page.url.alias("hub_url"))
            .join(Page, on=Page.id == Sighting.hub)
            .where(Sighting.page == page_id)
            .order_by(Sighting.first_seen_at)
        )
        return self._dicts(query)

    def visits(self, page_id: int, *, limit: int = 20) -> list[dict[str, Any]]:
        """Return the latest visits of a page, newest first."""
        query = Visit.select().where(Visit.page == page_id).order_by(Visit.at.desc()).limit(limit)
        return self._dicts(query)

    def visit_counts(self, since: float) -> dict[int, dict[str, int]]:
        """Count the visits since *since* by site id and status."""
        query = (
            Visit.select(Page.site, Visit.status, fn.COUNT(Visit.id))
            .join(Page)
            .where(Visit.at >= since)
            .group_by(Page.site, Visit.status)
        )
        counts: dict[int, dict[str, int]] = {}
        for site, status, count in self._rows(query):
            counts.setdefault(site, {})[status] = count
        return counts

    def site_totals(self) -> dict[int, dict[str, int]]:
        """Return, by site id, how many pages, hubs and announced pages it has."""
        pages = Page.select(Page.site, fn.COUNT(Page.id), fn.COUNT(Page.announced_at)).group_by(
            Page.site
        )
        hubs = Hub.select(Hub.site_id, fn.COUNT(Hub.page)).group_by(Hub.site_id)
        totals = {
            site: {"pages": count, "new_pages": announced, "hubs": 0}
            for site, count, announced in self._rows(pages)
        }
        for site, count in self._rows(hubs):
            totals.setdefault(site, {"pages": 0, "new_pages": 0, "hubs": 0})["hubs"] = count
        return totals

    def _dicts(self, query: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - as in _rows
        with storage_errors(self._where):
            return list(query.dicts().execute(self._db))


def _hubs() -> Any:  # noqa: ANN401 - a peewee query
    return Hub.select(*_HUB_COLUMNS).join(Page, on=Page.id == Hub.page)


def _frame(site_id: int, most_hubs: int) -> Any:  # noqa: ANN401 - a peewee query
    shown, shower = Sighting.alias(), Hub.alias()
    return (
        shown.select(shown.page)
        .join(shower, on=shower.page == shown.hub)
        .where(shower.site_id == site_id)
        .group_by(shown.page)
        .having(fn.COUNT(shown.hub) > most_hubs)
    )


def _news() -> Any:  # noqa: ANN401 - a peewee query
    hub_page = Page.alias()
    return (
        Change.select(
            Change.id,
            Page.id,
            Page.url,
            Page.title,
            Page.anchor,
            Site.name,
            Site.id,
            Change.at,
            Page.published_at,
            hub_page.url,
            Page.language,
            Page.state,
        )
        .join(Page, on=Page.id == Change.page)
        .join(Site, on=Site.id == Change.site)
        .join(hub_page, JOIN.LEFT_OUTER, on=hub_page.id == Change.hub_id)
    )


def ids_of(rows: Iterable[SiteRow]) -> list[int]:
    """Return the ids of sites."""
    return [row.id for row in rows]
