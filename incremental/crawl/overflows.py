"""After a list overflowed: read its next pages, or the hubs that it covers, until nothing is missing.

::

    a list overflowed                         note    in the visit's own transaction
    coverage is computed again
    next page, while everything there is new  settle  up to [hubs] max_next_pages
    no next page, or too many: the hubs that it covers, and those that they cover if they overflowed, too
"""

from __future__ import annotations

import logging
from dataclasses import replace

from incremental.base.path_aliases import without_path_alias
from incremental.base.texts import hub_why
from incremental.base.urls import canonical_key, normalize
from incremental.crawl.sites import WatchedSite
from incremental.crawl.upkeep import Upkeep
from incremental.decide.decision import Decision
from incremental.fetch.status import HAS_PAGE
from incremental.schedule.allocation import Share
from incremental.visit.visit import VisitTask, hub_task, verification_task
from store import Store
from store.database.texts import to_json
from store.enums import HubClass, HubKind, HubRole, HubStatus, SiteEventKind
from store.values import HubRow, NewHub, SeenLink, SiteChanges, VisitRecord

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
            hub, verification = (
                self._store.read.hub(page_id),
                self._store.read.verification(page_id),
            )
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
        self._follow_all(site, now)
        for share in (Share.REVISIT, Share.COVERED):
            due = self._store.read.due_hubs(site.row.id, now, HubClass(share), limit=None)
            site.urgent.push(*(hub.page_id for hub in due if site.hub_state(hub).owed_at))

    def note(self, decision: Decision, site: WatchedSite) -> None:
        """Put an overflow into the site's state, which is written with the record."""
        record, hub = decision.record, decision.hub
        if not record.overflow or hub is None:
            return
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

    def settle(self, record: VisitRecord, site: WatchedSite, now: float) -> None:
        """Queue what a list may have lost, now that its visit is recorded."""
        self._follow_all(site, now)
        # Not taken by a list that goes on: this was the last of its later pages.
        number = site.next_pages.pop(record.page_id, 0)
        first = site.first_pages.pop(record.page_id, None)
        if number and first is not None and record.status not in HAS_PAGE:
            self._upkeep.owe(site.coverage.covered_by(first), site, now)

    def lead(self, decision: Decision, site: WatchedSite, now: float) -> None:
        """Owe the hubs that have news only when this one has a visit, now that it brought some."""
        if decision.visit is not None and decision.visit.novel:
            self._upkeep.owe(site.coverage.followers.get(decision.record.page_id, ()), site, now)

    def _follow_all(self, site: WatchedSite, now: float) -> None:
        if not site.state.overflowed:
            return
        hubs = [self._store.read.hub(page_id) for page_id in site.state.overflowed]
        lists = [hub for hub in hubs if hub is not None and hub.role != HubRole.PAGE]
        if lists:
            overflowed_at = min(hub.visited_at or now for hub in lists)
            self._upkeep.cover(site, now, overflowed_at=overflowed_at)
        for hub in hubs:
            if hub is not None:
                self._follow(hub, site, now)
                logger.debug("%s overflowed; to be read: %s", hub.url, list(site.urgent.hubs))
        site.state = replace(site.state, overflowed=())
        self._store.write.update_site(site.row.id, revisit=to_json(site.state.to_json()))

    def _follow(self, hub: HubRow, site: WatchedSite, now: float) -> None:
        """Owe the next page of a list, or the hubs that the list covers."""
        number = site.next_pages.pop(hub.page_id, 0)
        first = site.first_pages.pop(hub.page_id, hub.page_id)
        page_id = None if number >= self._max_next_pages else self._next_page(hub, site, now)
        # An archive shows more than the list.
        if page_id is None:
            self._upkeep.owe(site.coverage.covered_by(first), site, now)
            return
        site.next_pages[page_id], site.first_pages[page_id] = number + 1, first
        self._upkeep.owe([page_id], site, now)
        # Before waiting hubs: the next page is the likeliest place of what scrolled off.
        if page_id in site.urgent.hubs:
            site.urgent.push_first(page_id)

    def _next_page(self, hub: HubRow, site: WatchedSite, now: float) -> int | None:
        url = normalize(hub.next_url or "")
        if url is None or not site.scope.verdict(url).inside:
            return None
        url = without_path_alias(url, site.path_aliases)
        new = NewHub(HubKind.HTML, HubRole.LIST, 0.9, hub_why("next_page", page=hub.url), now)
        changes = SiteChanges(added=(SeenLink(canonical_key(url), url, hub=new),))
        (page_id,) = self._store.write.change_site(site.row.id, changes, now).values()
        self._store.write.begin_baseline(page_id, site.row.added_at)
        return page_id
