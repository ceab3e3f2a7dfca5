"""The simplest policy: fixed intervals that divide a site's budget among its hubs.

A hub's interval is inverse to its weight. Nothing is learned about hours.
"""

from __future__ import annotations

import math
from dataclasses import replace

from incremental.base.texts import Text
from incremental.schedule.budget import BudgetState, left_for_visits
from incremental.schedule.pacing import in_window, retry_at
from incremental.schedule.protocol import DAY, HOUR, Terms, VisitExplanation
from incremental.schedule.rates import count_visit
from incremental.schedule.state import HubState, ListKind, SiteState, Visit

_KIND_WEIGHT = {ListKind.HOME: 4.0, ListKind.FEED: 4.0, ListKind.SITEMAP: 1.0, ListKind.PAGE: 1.0}
_UNPRODUCTIVE_VISITS = 6


class FixedPolicy:
    """See the module."""

    name = "fixed"

    def __init__(self, terms: Terms) -> None:
        self.terms = terms

    def observe(self, hub: HubState, site: SiteState, visit: Visit) -> tuple[HubState, SiteState]:
        """Count the visit and move the hub's share."""
        hub = count_visit(hub, visit)
        weight = _weight(hub)
        site = replace(
            site,
            hubs=site.hubs + (hub.weight == 0),
            weight_total=max(site.weight_total - hub.weight, 0.0) + weight,
        )
        return replace(hub, weight=weight), site

    def retire(self, hub: HubState, site: SiteState) -> SiteState:
        """Give the hub's share back to the others."""
        if not hub.weight:
            return site
        total = max(site.weight_total - hub.weight, 0.0)
        return replace(site, hubs=max(site.hubs - 1, 0), weight_total=total)

    def due_at(self, hub: HubState, site: SiteState, budget: BudgetState, now: float) -> float:
        """Return the last visit plus the hub's interval; a new hub is due at once."""
        interval = self._interval(hub, site, budget)
        if math.isinf(interval):
            return math.inf
        if not hub.tried_at:
            return now
        at = retry_at(hub, now) if hub.failures else min(hub.tried_at, now) + interval
        return in_window(max(at, hub.wait_until), self.terms)

    def index(self, hub: HubState, site: SiteState, budget: BudgetState, now: float) -> float:
        """Return elapsed time over interval."""
        interval = self._interval(hub, site, budget)
        return max(now - hub.tried_at, 0.0) / interval

    def why(
        self, hub: HubState, site: SiteState, budget: BudgetState, now: float
    ) -> VisitExplanation:
        """Return the interval and its reason."""
        interval = self._interval(hub, site, budget)
        rate = hub.novel / hub.exposure_hours if hub.exposure_hours else 0.0
        elapsed_hours = max(now - hub.visited_at, 0.0) / HOUR if hub.visited_at else 0.0
        share = hub.weight / site.weight_total if site.weight_total else 1.0
        return VisitExplanation(
            policy=self.name,
            rate_per_day=rate * 24,
            waiting_links=rate * elapsed_hours,
            waiting_minutes=rate * elapsed_hours**2 * 30,
            price_minutes=0.0,
            due_at=self.due_at(hub, site, budget, now),
            reason=(
                Text("reason.no_budget")
                if math.isinf(interval)
                else Text("reason.shared", hours=f"{interval / HOUR:.1f}", share=f"{share:.0%}")
            ),
        )

    def _interval(self, hub: HubState, site: SiteState, budget: BudgetState) -> float:
        """Return the hub's interval in seconds; all hubs together keep the budget."""
        terms = self.terms
        visits_per_day = left_for_visits(budget, terms.requests_per_day)
        if visits_per_day <= 0:
            return math.inf
        weight = hub.weight or _weight(hub)
        shared = max(site.weight_total, weight) / weight / visits_per_day * DAY
        # Covered hubs do not use their share: the intervals shrink until the budget is used.
        shared *= math.exp(budget.trim / 2)
        longest = max(terms.max_interval_seconds, max(site.hubs, 1) / visits_per_day * DAY)
        return min(max(shared, terms.min_interval_seconds), longest)


def _weight(hub: HubState) -> float:
    """Return the hub's weight in the division of the budget."""
    # The home page, feeds and hubs with new pages weigh more, a hub that never brought one less.
    weight = _KIND_WEIGHT[ListKind(hub.kind)]
    if hub.novel > 0:
        return weight + 3.0 * min(1.0, hub.novel)
    return weight / 2 if hub.visits > _UNPRODUCTIVE_VISITS else weight
