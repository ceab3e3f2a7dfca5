"""After a list overflowed: read its next pages, or the hubs that it covers, until nothing is missing.

::

    a list overflowed                         note    in the visit's own transaction
    coverage is computed again
    next page, while everything there is new  settle  up to [hubs] max_next_pages
    no next page, or too many: the hubs that it covers, and those that they cover if they overflowed, too
"""

import logging
from dataclasses import replace

from incremental.crawl.sites import WatchedSite
from incremental.crawl.upkeep import Upkeep
from incremental.decide.decision import Decision
from incremental.fetch.status import HAS_PAGE
from incremental.schedule.allocation import Share
from incremental.visit.visit import VisitTask, hub_task, verification_task
from store import Store
from store.enums import HubClass, HubStatus, SiteEventKind
from store.values import HubRow, VisitRecord

logger = logging.getLogger("hubwatch.overflows")


class Overflows:
    """Notes overflows and queues what may show the lost pages. Used by the crawler's thread only."""

    def __init__(self, store: Store, upkeep: Upkeep, max_next_pages: int) -> None:
        self._store = store
        self._upkeep = upkeep
        self._max_next_pages = max_next_pages

    def task(self, site: WatchedSite, now: float) -> VisitTask | None:
        """Return the first urgent task that still makes sense; it stays queued until it runs."""
        self._prepare(site, now)
        while (page_id := site.first_urgent(now)) is not None:
            hub = self._store.read.hub(page_id)
            verification = self._store.read.page(page_id)
            if hub is not None and hub.state != HubStatus.DROPPED:
                return hub_task(hub)
            if verification is not None and verification.verify_due_at is not None:
                return verification_task(verification)
            site.urgent.take(page_id)
        return None

    def _prepare(self, site: WatchedSite, now: float) -> None:
        """Before the first request to a site: compute its coverage, and queue what an earlier run owed."""
        # From the store, before the first request, so that a restart forgets nothing.
        if site.coverage_at:
            return
        self._upkeep.cover(site, now)
        if site.state.overflowed:
            self._upkeep.follow(site, self._max_next_pages, now)
        for share in (Share.REVISIT, Share.COVERED):
            due = self._store.read.due_hubs(site.row.id, now, HubClass(share), limit=None)
            site.urgent.push(*(hub.page_id for hub in due if site.hub_state(hub).owed_at))

    def note(self, record: VisitRecord, hub: HubRow, site: WatchedSite) -> None:
        """Put the overflow of a list into the site's state, which is written with the record."""
        state = site.state
        chained = state.overflow_at > (hub.visited_at or 0.0)
        since = state.overflow_since if chained else (hub.visited_at or record.at)
        if site.urgent.hubs:
            since = min(since, state.overflow_since or since)
        site.state = replace(
            state,
            overflow_at=record.at,
            overflow_since=since,
            overflowed=(*state.overflowed, record.page_id),
        )
        if record.site_change is not None and record.site_change.kind == SiteEventKind.OVERFLOW:
            logger.warning("%s: %s", site.row.name, record.site_change.detail)

    def settle(self, decision: Decision, site: WatchedSite, now: float) -> None:
        """Schedule visits that may recover links lost from lists."""
        record = decision.record
        if site.state.overflowed:
            self._upkeep.follow(site, self._max_next_pages, now)
        # Not taken by a list that goes on: this was the last of its later pages.
        _, first = site.next_pages.pop(record.page_id, (0, None))
        if first is not None and record.status not in HAS_PAGE:
            self._upkeep.owe(site.coverage.covered_by(first), site, now)
        # They have news only when this one has.
        followers = site.coverage.followers.get(record.page_id)
        if followers and decision.visit is not None and decision.visit.novel:
            self._upkeep.owe(followers, site, now)
