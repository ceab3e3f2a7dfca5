"""How the new pages of a site were found, for estimating what was missed: ``store.completeness``.

Times are unix seconds, UTC.
"""

from __future__ import annotations

from dataclasses import dataclass

from store.database.repository import Repository, batches
from store.enums import HubKind, HubRole
from store.models import Hub, News, Page, Sighting

MOST_PAGES = 1_000
"""New pages of a site that are looked at, latest first."""


@dataclass(frozen=True, slots=True)
class NewPage:
    """A new page, and the hubs that showed it."""

    found_at: float
    published_at: float | None
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
            News.select(News.page, News.found_at, Page.published_at)
            .join(Page, on=Page.id == News.page)
            .where(of)
            .order_by(News.id.desc())
            .limit(MOST_PAGES)
        )
        shown: dict[int, set[int]] = {page: set() for page, _, _ in rows}
        for some in batches(shown):
            seen = Sighting.select(Sighting.page, Sighting.hub).where(Sighting.page.in_(some))
            for page, hub in self._rows(seen):
                shown[page].add(hub)
        return [NewPage(found, dated, frozenset(shown[page])) for page, found, dated in rows]

    def showers(self, site_id: int) -> dict[int, Shower]:
        """Return the site's hubs by page id, those that are no longer visited as well."""
        rows = self._rows(
            Hub.select(
                *(Hub.page, Page.url, Hub.kind, Hub.role, Hub.last_status, Hub.visited_at),
                Hub.failures,
            )
            .join(Page, on=Page.id == Hub.page)
            .where(Hub.site_id == site_id)
        )
        return {
            page: Shower(page, url, _view(kind, role), status or "", at or 0.0, failures)
            for page, url, kind, role, status, at, failures in rows
        }


def _view(kind: str, role: str) -> str:
    if kind != HubKind.HTML:
        return kind
    return "article" if role == HubRole.ARTICLE else "list"
