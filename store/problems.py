"""Problems of sites, and the facts that show them: ``store.problems``. Times are unix seconds, UTC."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from peewee import Case, fn

from store.database import writing
from store.database.repository import Repository, Shape
from store.enums import HubRole, HubStatus, PageState, SiteStatus
from store.models import Host, Hub, News, Page, PageText, Sighting, Site, SiteProblem, Visit

MOST_PAGES = 100
"""New pages of a site that are examined, latest first."""
MOST_VISITS = 1_000
_DAY = 86_400.0
# Hubs that others cover are dormant as well.
_THERE = Hub.state.in_((HubStatus.ACTIVE, HubStatus.DORMANT)) & (Page.state != PageState.GONE)


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A new page, as far as problems show in it."""

    id: int
    found_at: float
    title: str
    text_bytes: int | None
    """Compressed size of its text, 0 = it has none; None = it was not read, or its text has expired."""


@dataclass(frozen=True, slots=True)
class WatchedHub:
    """A hub with a baseline."""

    id: int
    url: str
    title: str
    is_seed: bool
    last_status: str
    visited_at: float
    """Of its last successful visit."""
    shown_links: int
    shows: frozenset[int]
    """Which of the new pages it has shown."""
    lost: int
    """Most links that it stopped showing at once lately; counted only where it shows hardly any."""


@dataclass(frozen=True, slots=True)
class ProblemKey:
    """The subject of a problem."""

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


_PROBLEM = Shape(
    ProblemRow,
    SiteProblem,
    site_id=SiteProblem.site,
    site=Site.name,
    hub_url=fn.COALESCE(Page.url, ""),
)


class Problems(Repository):
    """Queries and writes, on one database."""

    def pages(self, site_id: int) -> list[FoundPage]:
        """Return the site's new pages, oldest first."""
        size = fn.COALESCE(fn.LENGTH(PageText.text), 0)
        query = (
            News.select(News.page, News.found_at, Page.title, size, PageText.md5)
            .join(Page, on=Page.id == News.page)
            .left_outer_join(
                PageText, on=(PageText.page == News.page) & PageText.forgotten_at.is_null()
            )
            .where(News.site == site_id)
            .order_by(News.id.desc())
            .limit(MOST_PAGES)
        )
        return [
            FoundPage(page, at, title or "", None if digest is None else int(found))
            for page, at, title, found, digest in reversed(self._rows(query))
        ]

    def counts(self, site_id: int, now: float, days: int) -> tuple[int, int]:
        """Count the site's new pages of the last day, and those of the *days* before it."""
        of = (News.site == site_id) & (News.found_at > now - (days + 1) * _DAY)
        late = Case(None, ((News.found_at > now - _DAY, 1),), 0)
        ((count, today),) = self._rows(News.select(fn.COUNT(News.id), fn.SUM(late)).where(of))
        return int(today or 0), int(count) - int(today or 0)

    def hubs(
        self, site_id: int, pages: Collection[int], few: int, *, since: float
    ) -> list[WatchedHub]:
        """Return the site's hubs with a baseline; *few* links are hardly any, lost since *since*."""
        rows = self._rows(
            Hub.select(
                *(Hub.page, Page.url, Page.title, Hub.role, Hub.last_status),
                *(Hub.visited_at, Hub.shown_links),
            )
            .join(Page, on=Page.id == Hub.page)
            .where(
                (Hub.site_id == site_id)
                & _THERE
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
                *(hub, url, title or "", role == HubRole.SEED, status or "", at or 0.0),
                *(links, frozenset(shows[hub]), self._lost(hub, since) if links <= few else 0),
            )
            for hub, url, title, role, status, at, links in rows
        ]

    def _lost(self, hub: int, since: float) -> int:
        count = fn.COUNT(Sighting.page)
        gone = Sighting.select(count).where((Sighting.hub == hub) & (Sighting.gone_at > since))
        together = gone.group_by(Sighting.gone_at).order_by(count.desc()).limit(1)
        return int(self._scalar(together) or 0)

    def visits(self, hubs: Collection[int], since: float) -> list[tuple[int, str, str]]:
        """Return the visits of *hubs* after *since*, latest first: page id, status and detail."""
        of = (Visit.page << list(hubs)) & (Visit.at > since)
        query = Visit.select(Visit.page, Visit.status, Visit.detail).where(of)
        return self._rows(query.order_by(Visit.id.desc()).limit(MOST_VISITS))

    def certificate_until(self, host: str) -> float | None:
        """Return when the certificate that a host last showed ends; None = unknown."""
        found = self._scalar(Host.select(Host.certificate_until).where(Host.name == host))
        return None if found is None else float(found)

    def update(
        self,
        site_id: int,
        found: Mapping[ProblemKey, Mapping[str, Any]],
        *,
        now: float,
        lasting: Collection[str] = (),
    ) -> list[ProblemKey]:
        """Open, renew and end the problems of a site; return those that are new.

        Problems of a *lasting* kind do not end.
        """
        lasts = (SiteProblem.site == site_id) & SiteProblem.ended_at.is_null()
        columns = (SiteProblem.id, SiteProblem.kind, SiteProblem.hub_id, SiteProblem.evidence)
        rows = self._rows(SiteProblem.select(*columns).where(lasts))
        known = {ProblemKey(kind, hub): (id_, said) for id_, kind, hub, said in rows}
        said = {key: json.dumps(dict(one), ensure_ascii=False) for key, one in found.items()}
        over = [
            id_ for key, (id_, _) in known.items() if key not in found and key.kind not in lasting
        ]
        renewed = {
            known[key][0]: one for key, one in said.items() if key in known and known[key][1] != one
        }
        new = [key for key in found if key not in known]
        if not (over or renewed or new):
            return []
        with writing(self._db, self._where):
            ending = SiteProblem.update(ended_at=now).where(SiteProblem.id << over)
            ending.execute(self._db)
            for id_, one in renewed.items():
                SiteProblem.update(evidence=one).where(SiteProblem.id == id_).execute(self._db)
            for key in new:
                SiteProblem.insert(
                    site=site_id, hub_id=key.hub_id, kind=key.kind, since=now, evidence=said[key]
                ).execute(self._db)
        return new

    def end_inactive(self, now: float) -> int:
        """End the problems of sites that are not visited; return how many."""
        active = Site.select(Site.id).where(Site.state == SiteStatus.ACTIVE)
        over = SiteProblem.ended_at.is_null() & SiteProblem.site.not_in(active)
        return self._write(SiteProblem.update(ended_at=now).where(over))

    def all(self, *, ended: bool = False, sites: Sequence[int] = ()) -> list[ProblemRow]:
        """Return problems, latest first: those that last, or with *ended* all that are kept."""
        query = (
            _PROBLEM.select()
            .join(Site, on=Site.id == SiteProblem.site)
            .left_outer_join(Page, on=Page.id == SiteProblem.hub_id)
            .order_by(SiteProblem.id.desc())
            .limit(1_000)
        )
        if not ended:
            query = query.where(SiteProblem.ended_at.is_null())
        if sites:
            query = query.where(SiteProblem.site << list(sites))
        return self._all(_PROBLEM, query)

    def forget(self, before: float) -> int:
        """Delete the problems that ended before *before*; return how many."""
        return self._write(SiteProblem.delete().where(SiteProblem.ended_at < before))

    def list_hubs(self, site_id: int, most: int) -> list[int]:
        """Return the site's hubs, covered ones included, those that showed most new pages first."""
        query = (
            Hub.select(Hub.page)
            .join(Page, on=Page.id == Hub.page)
            .where((Hub.site_id == site_id) & _THERE)
            .order_by(Hub.new_pages.desc(), Hub.page)
            .limit(most)
        )
        return self._column(query)
