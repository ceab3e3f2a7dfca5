"""Feeds that the user gave: handing them over to their site, and naming sites after their articles.

The rules that find a feed's site are in :mod:`incremental.decide.feed_home`.
"""

from __future__ import annotations

import logging

from incremental.base.given_names import is_named
from incremental.base.scope import Reach, read_scope
from incremental.base.tagging import add_tags
from incremental.base.texts import hub_why
from incremental.base.urls import host_of
from incremental.crawl.sites import WatchedSite
from incremental.decide.feed_home import is_given_feed, is_planet
from store import Store
from store.enums import HubKind, HubRole, SiteStatus
from store.values import HubRow, NewHub, SeenLink, SiteRow

logger = logging.getLogger("hubwatch.feeds")


def _may_go(hub: HubRow, site: WatchedSite, now: float) -> bool:
    """Whether a hub is its site's seed and a feed whose first entries were read at *now*."""
    own_terms = site.row.requests_per_day is not None or site.scope.include or site.scope.exclude
    # Only at its first reading: a feed that once came without entries was taken for a new one when it
    # filled again, and its own site was removed with all its history.
    if own_terms or hub.baseline_at != now or not hub.shown_links:
        return False
    return is_given_feed(hub) and hub.role == HubRole.SEED and not is_planet(hub, site.scope)


class GivenFeeds:
    """Hands over and renames sites of given feeds. Used by the crawler's thread only."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def handed_over(self, page_id: int, site: WatchedSite, now: float) -> bool:
        """Move a feed to the site that it belongs to, if that is watched already; return whether it moved."""
        hub = self._store.read.hub(page_id)
        if hub is None or not _may_go(hub, site, now):
            return False
        other = self._watching(site)
        # The feed's own site would announce everything twice, so it is withdrawn, unless it has terms of
        # its own, announced pages or labels.
        if other is None or self._store.read.has_history(site.row.id):
            return False
        new = NewHub(HubKind.FEED, HubRole.USER, 1.0, hub_why("given"), now)
        self._store.write.add_pages(
            other.id, [SeenLink(hub.canonical_key, hub.url, hub=new)], now=now
        )
        # The hub first: killed in between, the feed is read twice but not lost.
        if not self._store.write.withdraw_site(site.row.id):
            return False
        add_tags(self._store, other.id, self._store.tags.of_sites().get(site.row.id, ()))
        logger.info("%s is a feed of %s, which is watched already", hub.url, other.name)
        return True

    def _watching(self, site: WatchedSite) -> SiteRow | None:
        """Return another active site whose scope includes the home of this one."""
        home = site.scope.seed_url
        for row in self._store.read.sites():
            scope = read_scope(row)
            near = row.id != site.row.id and scope.verdict(home).inside
            if near and row.state == SiteStatus.ACTIVE and scope.reach is not Reach.ANYWHERE:
                return row
        return None

    def rename(self, page_id: int, site: WatchedSite) -> None:
        """Name a site that was given as a feed after the host of its articles, once known."""
        hub = self._store.read.hub(page_id)
        home = site.scope.seed_url
        if hub is None or not is_given_feed(hub) or hub.role != HubRole.SEED or home == hub.url:
            return
        if is_named(site.row):
            return
        self._store.write.rename_site(site.row.id, host_of(home).removeprefix("www."), home)
