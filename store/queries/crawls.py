"""What only a crawl knows of a page: by how many steps it was found, and how large it was."""

from __future__ import annotations

from peewee import JOIN, fn

from store.models import Hub, Page, Visit
from store.reader import Reader

MAX_DEPTH = 50
"""Steps that are followed back; nothing that a crawler finds lies deeper."""
_GIVEN = ("seed", "user")
"""Roles of hubs that somebody named: every way begins there."""


class CrawlQueries(Reader):
    """Questions about how pages were found and what fetching them brought."""

    def crawl_depth(self, page_id: int) -> int | None:
        """Return by how many steps the crawler found a page: 0 = a seed, 1 = a link of a seed, and so on.

        Derived from who showed each page first, which never changes: the depth at which it was found, as
        in paper 003, not the shortest way to it today. What no page showed (a sitemap that robots.txt
        names, a feed at its usual place) is one step from the seed. None = there is no such page.
        """
        steps, seen = 0, set[int]()
        while page_id not in seen and steps < MAX_DEPTH:
            seen.add(page_id)
            query = (
                Page.select(Page.first_hub_id, Hub.role)
                .join(Hub, JOIN.LEFT_OUTER, on=Hub.page == Page.id)
                .where(Page.id == page_id)
            )
            rows = self._rows(query)
            if not rows:
                return steps or None
            first_hub_id, role = rows[0]
            if role in _GIVEN:
                return steps
            if first_hub_id is None:
                return steps + 1
            page_id, steps = int(first_hub_id), steps + 1
        return steps

    def page_sizes(self, site_id: int, *, limit: int = 2_000) -> list[tuple[str, int]]:
        """Return (URL, bytes of its last body) of pages of a site that were fetched, the latest first."""
        last = (
            Visit.select(Visit.page, fn.MAX(Visit.id).alias("visit"))
            .join(Page, on=Page.id == Visit.page)
            .where((Page.site == site_id) & (Visit.body_bytes > 0) & (Visit.status == "fetched"))
            .group_by(Visit.page)
            .alias("last")
        )
        query = (
            Page.select(Page.url, Visit.body_bytes)
            .join(Visit, on=Visit.page == Page.id)
            .join(last, on=last.c.visit == Visit.id)
            .order_by(Visit.id.desc())
            .limit(limit)
        )
        return [(url, int(size)) for url, size in self._rows(query)]

    def page_size(self, page_id: int) -> int | None:
        """Return the bytes of a page's last body; None = it was never fetched."""
        query = (
            Visit.select(Visit.body_bytes)
            .where((Visit.page == page_id) & (Visit.body_bytes > 0) & (Visit.status == "fetched"))
            .order_by(Visit.at.desc())
            .limit(1)
        )
        rows = self._rows(query)
        return int(rows[0][0]) if rows else None
