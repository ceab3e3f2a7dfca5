"""Problems of sites, and the facts that show them: ``store.problems``. Times are unix seconds, UTC."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from peewee import fn

from store.database import writing
from store.database.repository import Repository
from store.enums import HubRole, HubStatus, PageState
from store.models import Hub, News, Page, PageText, Sighting, Site, SiteProblem

MOST_PAGES = 400
"""New pages of a site that are looked at, latest first."""


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A new page, as far as problems show in it."""

    id: int
    found_at: float
    title: str
    has_text: bool | None
    """Whether a text was read; None = nothing was."""
    unlike: bool
    """Whether no other of the site's pages in view has the same text."""


@dataclass(frozen=True, slots=True)
class WatchedHub:
    """A hub with a baseline."""

    id: int
    url: str
    title: str
    kind: str
    failures: int
    last_status: str
    visited_at: float
    """Of its last successful visit."""
    shown_links: int
    shows: frozenset[int]
    """Which of the new pages it has shown."""
    lost: int
    """Links that it stopped showing all at once, last; counted only where it shows hardly any."""


@dataclass(frozen=True, slots=True)
class ProblemKey:
    """What a problem is about."""

    kind: str
    hub_id: int = 0
    """0 = the whole site."""


@dataclass(frozen=True, slots=True)
class ProblemRow:
    """A problem."""

    id: int
    site_id: int
    site: str
    hub_id: int
    hub_url: str
    kind: str
    since: float
    """When it was first found."""
    ended_at: float | None
    evidence: dict[str, Any]


class Problems(Repository):
    """Queries and writes, on one database."""

    def sites(self) -> list[int]:
        """Return the ids of the sites that are visited."""
        return self._column(Site.select(Site.id).where(Site.state == "active").order_by(Site.id))

    def pages(self, site_id: int) -> list[FoundPage]:
        """Return the site's new pages, oldest first."""
        query = (
            News.select(
                News.page,
                News.found_at,
                Page.title,
                PageText.text.is_null(is_null=False) | PageText.forgotten_at.is_null(is_null=False),
                PageText.md5,
            )
            .join(Page, on=Page.id == News.page)
            .left_outer_join(PageText, on=PageText.page == News.page)
            .where(News.site == site_id)
            .order_by(News.id.desc())
            .limit(MOST_PAGES)
        )
        rows = self._rows(query)[::-1]
        digests = [row[4] for row in rows if row[4]]
        return [
            FoundPage(
                page,
                at,
                title or "",
                None if digest is None else bool(read),
                digests.count(digest) < 2 if digest else True,  # noqa: PLR2004 - itself and one more
            )
            for page, at, title, read, digest in rows
        ]

    def hubs(self, site_id: int, pages: Collection[int], few: int) -> list[WatchedHub]:
        """Return the site's hubs with a baseline; *few* links are hardly any."""
        rows = self._rows(
            Hub.select(
                *(Hub.page, Page.url, Page.title, Hub.kind, Hub.failures, Hub.last_status),
                *(Hub.visited_at, Hub.shown_links),
            )
            .join(Page, on=Page.id == Hub.page)
            .where(
                (Hub.site_id == site_id)
                & (Hub.state << (HubStatus.ACTIVE, HubStatus.DORMANT))
                & (Hub.role != HubRole.ARTICLE)
                & Hub.baseline_at.is_null(is_null=False)
            )
            .order_by(Hub.page)
        )
        shows: dict[int, set[int]] = {row[0]: set() for row in rows}
        seen = Sighting.select(Sighting.hub, Sighting.page).where(Sighting.page << list(pages))
        for hub, page in self._rows(seen) if pages else ():
            if hub in shows:
                shows[hub].add(page)
        return [
            WatchedHub(
                *(hub, url, title or "", kind, failures, status or "", at or 0.0, links),
                frozenset(shows[hub]),
                self._lost(hub) if links <= few else 0,
            )
            for hub, url, title, kind, failures, status, at, links in rows
        ]

    def _lost(self, hub: int) -> int:
        last = Sighting.select(fn.MAX(Sighting.gone_at)).where(Sighting.hub == hub)
        query = Sighting.select(fn.COUNT(Sighting.page)).where(
            (Sighting.hub == hub) & (Sighting.gone_at == last)
        )
        return int(self._scalar(query) or 0)

    def update(
        self, site_id: int, found: Mapping[ProblemKey, Mapping[str, Any]], *, now: float
    ) -> list[ProblemKey]:
        """Open, keep and end the problems of a site; return those that are new."""
        with writing(self._db, self._where):
            rows = self._rows(
                SiteProblem.select(SiteProblem.id, SiteProblem.kind, SiteProblem.hub_id).where(
                    (SiteProblem.site == site_id) & SiteProblem.ended_at.is_null()
                )
            )
            known = {ProblemKey(kind, hub): id_ for id_, kind, hub in rows}
            over = [id_ for key, id_ in known.items() if key not in found]
            if over:
                ending = SiteProblem.update(ended_at=now).where(SiteProblem.id << over)
                ending.execute(self._db)
            new = [key for key in found if key not in known]
            for key in new:
                SiteProblem.insert(
                    site=site_id,
                    hub_id=key.hub_id,
                    kind=key.kind,
                    since=now,
                    evidence=json.dumps(dict(found[key]), ensure_ascii=False),
                ).execute(self._db)
            return new

    def all(self, *, ended: bool = False, sites: Sequence[int] = ()) -> list[ProblemRow]:
        """Return problems, latest first: those that last, or with *ended* all that are kept."""
        query = (
            SiteProblem.select(
                *(SiteProblem.id, SiteProblem.site, Site.name, SiteProblem.hub_id),
                fn.COALESCE(Page.url, ""),
                *(SiteProblem.kind, SiteProblem.since, SiteProblem.ended_at, SiteProblem.evidence),
            )
            .join(Site, on=Site.id == SiteProblem.site)
            .left_outer_join(Page, on=Page.id == SiteProblem.hub_id)
            .order_by(SiteProblem.id.desc())
            .limit(1_000)
        )
        if not ended:
            query = query.where(SiteProblem.ended_at.is_null())
        if sites:
            query = query.where(SiteProblem.site << list(sites))
        return [ProblemRow(*(*row[:-1], json.loads(row[-1]))) for row in self._rows(query)]

    def forget(self, before: float) -> int:
        """Delete the problems that ended before *before*; return how many."""
        return self._write(SiteProblem.delete().where(SiteProblem.ended_at < before))

    def list_hubs(self, site_id: int, most: int) -> list[int]:
        """Return the site's active hubs, those that showed most new pages first."""
        query = (
            Hub.select(Hub.page)
            .join(Page, on=Page.id == Hub.page)
            .where(
                (Hub.site_id == site_id)
                & (Hub.state == HubStatus.ACTIVE)
                & (Page.state != PageState.GONE)
            )
            .order_by(Hub.new_pages.desc(), Hub.page)
            .limit(most)
        )
        return self._column(query)
