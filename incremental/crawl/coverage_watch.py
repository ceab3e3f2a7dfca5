"""Computing which hubs of a site are covered; the rule is in :mod:`incremental.schedule.coverage`."""

from __future__ import annotations

import logging

from incremental.base.times import DAY, HOUR, MINUTE
from incremental.crawl.sites import WatchedSite
from incremental.schedule import replanning
from incremental.schedule.coverage import MIN_ANNOUNCED, ShownPages, coverage
from store import Store
from store.enums import HubKind, HubRole, HubStatus
from store.values import ARTICLE, HubRow

logger = logging.getLogger("hubwatch.coverage")

REFRESH_SECONDS = 0.5 * DAY
REPLAN_TOLERANCE_SECONDS = 5 * MINUTE
REFRESH_BASELINES = 10
# A hub shows a page in time if it does so this soon after the announcement, or at its next visit.
IN_TIME_SECONDS = 6 * HOUR
# How long gained older pages count as evidence: a feed that never shows them does not cover the list.
GAINED_SECONDS = 30 * DAY
_PREFERENCE = {HubKind.FEED: 3.0, HubKind.HTML: 1.0, HubKind.SITEMAP: 2.0}


class CoverageWatch:
    """Keeps the coverage of each site up to date."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def refresh(self, site: WatchedSite, now: float, *, overflowed_at: float | None = None) -> None:
        """Compute coverage again after half a day, after enough first visits of hubs, or an overflow."""
        fresh = now - site.coverage_at < REFRESH_SECONDS and site.baselines < REFRESH_BASELINES
        if fresh and overflowed_at is None:
            return
        site.coverage_at, site.baselines = now, 0
        before = site.coverage.covered
        hubs = [
            h
            for h in self._store.read.hubs(site.row.id)
            if h.state in (HubStatus.ACTIVE, HubStatus.DORMANT)
            and h.role not in (HubRole.PAGE, ARTICLE)
        ]
        site.coverage = coverage(self._shown(site.row.id, hubs, now, overflowed_at))
        for hub in hubs:
            covered = hub.page_id in site.coverage.covered
            if covered != (hub.state == HubStatus.DORMANT) and not hub.failures:
                self._store.write.update_hub(
                    hub.page_id, state=HubStatus.DORMANT if covered else HubStatus.ACTIVE
                )
            # Its due time is that of a covered hub, days away.
            if hub.page_id in before and not covered:
                due_at = site.due_at(hub.page_id, hub.role, site.hub_state(hub), now)
                self._store.write.update_hub(hub.page_id, due_at=due_at)
        logger.debug(
            "%s: %d of %d hubs are covered", site.row.name, len(site.coverage.covered), len(hubs)
        )

    def replan(self, site: WatchedSite, now: float) -> None:
        """Bring visits forward after the price has fallen."""
        # A hub's due time is computed again only when the old one comes, however far the price has
        # fallen.
        if not replanning.is_due(site.planned_at, site.planned_price, site.price, now):
            return
        site.planned_at, site.planned_price = now, site.price(now)
        for hub in self._store.read.hubs(site.row.id):
            if (
                hub.visited_at is None
                or hub.state == HubStatus.DROPPED
                or hub.role in (HubRole.PAGE, ARTICLE)
            ):
                continue
            if site.is_covered(hub.page_id, hub.role):
                continue
            due_at = site.due_at(hub.page_id, hub.role, site.hub_state(hub), now)
            if due_at < hub.due_at - REPLAN_TOLERANCE_SECONDS:
                self._store.write.update_hub(hub.page_id, due_at=due_at)

    def _shown(
        self, site_id: int, hubs: list[HubRow], now: float, overflowed_at: float | None
    ) -> dict[int, ShownPages]:
        pages: dict[int, set[int]] = {hub.page_id: set() for hub in hubs}
        announced: dict[int, dict[int, float]] = {hub.page_id: {} for hub in hubs}
        patience = {
            hub.page_id: max(IN_TIME_SECONDS, 1.5 * (hub.interval_seconds or 0.0)) for hub in hubs
        }
        # A list that overflowed covers what shows the same as it did before: by now it may show only new
        # pages, which the others do not.
        for hub, page in self._store.read.articles_shown(site_id, gone_since=overflowed_at):
            if hub in pages:
                pages[hub].add(page)
        evidence = self._store.read.announced_shown(site_id)
        if len({page for _, page, _, _ in evidence}) >= MIN_ANNOUNCED:
            # Never as the only evidence: where a site imports its past, its news need not appear.
            evidence += self._store.read.gained_shown(site_id, now - GAINED_SECONDS)
        for hub, page, seen_at, announced_at in evidence:
            if hub in announced and seen_at <= announced_at + patience[hub]:
                announced[hub][page] = announced_at
        return {
            hub.page_id: ShownPages(
                pages=pages[hub.page_id],
                announced=announced[hub.page_id].keys(),
                news=tuple(announced[hub.page_id].values()),
                chosen=hub.role == HubRole.USER,
                anchor=hub.role in (HubRole.SEED, HubRole.HOME)
                or hub.kind in (HubKind.FEED, HubKind.SITEMAP),
                late=hub.kind == HubKind.SITEMAP,
                preference=_PREFERENCE.get(hub.kind, 0.0)
                + (hub.role in (HubRole.SEED, HubRole.HOME)),
            )
            for hub in hubs
        }
