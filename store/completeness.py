"""How the new pages of a site were found, for estimating what was missed: ``store.completeness``.

Times are unix seconds, UTC.
"""

from __future__ import annotations

from dataclasses import dataclass

from store.database.repository import Repository, batches
from store.enums import HubKind, HubRole
from store.models import Hub, News, Page, Sighting, Visit

MOST_PAGES = 1_000
"""New pages of a site that are looked at, latest first."""


@dataclass(frozen=True, slots=True)
class NewPage:
    """A new page, and the hubs that showed it."""

    url: str
    found_at: float
    published_at: float | None
    first_seen_at: float
    first_hub: int | None
    """The hub that showed it first."""
    shown_by: frozenset[int]


@dataclass(frozen=True, slots=True)
class Shower:
    """A hub, whether it is still visited or not."""

    id: int
    url: str
    view: str
    """feed, sitemap, list or article: what kind of page finds others in the same way."""
    status: str
    """Of its last visit."""
    baseline_at: float | None
    """When it was first read; None = never."""
    read_at: float
    """When it was last read; 0 = never."""
    failures: int
    """Visits in a row that failed."""


class Completeness(Repository):
    """Queries, on one database."""

    def new_pages(self, site_id: int, since: float) -> list[NewPage]:
        """Return the site's new pages since then, latest first."""
        of = (News.site == site_id) & (News.found_at >= since)
        rows = self._rows(
            News.select(
                *(News.page, Page.url, News.found_at, Page.published_at),
                *(Page.first_seen_at, Page.first_hub_id),
            )
            .join(Page, on=Page.id == News.page)
            .where(of)
            .order_by(News.id.desc())
            .limit(MOST_PAGES)
        )
        shown: dict[int, set[int]] = {page: set() for page, *_ in rows}
        for some in batches(shown):
            seen = Sighting.select(Sighting.page, Sighting.hub).where(Sighting.page.in_(some))
            for page, hub in self._rows(seen):
                shown[page].add(hub)
        return [
            NewPage(url, found, dated, seen, hub, frozenset(shown[page]))
            for page, url, found, dated, seen, hub in rows
        ]

    def showers(self, site_id: int) -> dict[int, Shower]:
        """Return the site's hubs by page id, those that are no longer visited as well."""
        rows = self._rows(
            Hub.select(
                *(Hub.page, Page.url, Hub.kind, Hub.role, Hub.last_status),
                *(Hub.baseline_at, Hub.visited_at, Hub.failures),
            )
            .join(Page, on=Page.id == Hub.page)
            .where(Hub.site_id == site_id)
        )
        return {
            page: Shower(page, url, _view(kind, role), status or "", first, at or 0.0, failures)
            for page, url, kind, role, status, first, at, failures in rows
        }

    def visits(self, page: int, since: float, until: float) -> list[str]:
        """Return how the visits of a page from *since* until before *until* ended."""
        of = (Visit.page == page) & (Visit.at >= since) & (Visit.at < until)
        return [status for (status,) in self._rows(Visit.select(Visit.status).where(of))]


def _view(kind: str, role: str) -> str:
    if kind != HubKind.HTML:
        return kind
    return "article" if role == HubRole.ARTICLE else "list"
