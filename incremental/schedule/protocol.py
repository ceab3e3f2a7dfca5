"""The interface of revisit policies, for daemon and benchmark alike.

The caller keeps the states (the daemon in its store, the benchmark in memory), reports each visit to
:meth:`Policy.observe`, and queues hubs by :meth:`Policy.due_at`. At the head of the queue a hub's due time
is computed again, and the hub is put back if the price has risen since.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from incremental.schedule.budget import BudgetState
from incremental.schedule.state import HubState, SiteState, Visit

MINUTE = 60.0
HOUR = 3600.0
DAY = 86400.0


@dataclass(frozen=True, slots=True)
class Terms:
    """The user's terms for one site. A policy is made for one set of terms."""

    requests_per_day: float = 48.0
    """Of any kind: robots.txt, hub visits, verification fetches. 0 = leave the site alone."""
    min_interval_seconds: float = 15 * MINUTE
    max_interval_seconds: float = DAY
    """If the budget allows: many hubs and few requests make it longer."""
    windows: tuple[tuple[float, float], ...] = ()
    """Allowed hours of the day (UTC) as (start, end); end before start = over midnight; empty = always."""
    grant: float = 0.0
    """Requests beyond the budget, once, while the site is new: for hubs that nobody has read."""


@dataclass(frozen=True, slots=True)
class VisitExplanation:
    """The numbers behind a hub's due time."""

    policy: str
    rate_per_day: float
    """New links a day that this hub is expected to be the first to show."""
    waiting_links: float
    """Expected number of them waiting now."""
    waiting_minutes: float
    """Their accrued delay, weighted by relevance and cost; compared with the price."""
    price_minutes: float
    due_at: float
    """Next visit, unix seconds; infinite = never under these terms."""
    reason: str
    """One sentence for people."""


class Policy(Protocol):
    """Decides when to visit which hub."""

    name: str

    def observe(self, hub: HubState, site: SiteState, visit: Visit) -> tuple[HubState, SiteState]:
        """Return both states after *visit*, which may have failed."""

    def retire(self, hub: HubState, site: SiteState) -> SiteState:
        """Return the site's state without this hub, which is gone or no hub."""

    def due_at(self, hub: HubState, site: SiteState, budget: BudgetState, now: float) -> float:
        """Return the next visit: in the past = overdue, infinite = never."""

    def index(self, hub: HubState, site: SiteState, budget: BudgetState, now: float) -> float:
        """Return the urgency of a visit, largest first; never falls until the next visit."""

    def why(
        self, hub: HubState, site: SiteState, budget: BudgetState, now: float
    ) -> VisitExplanation:
        """Return the numbers behind :meth:`due_at`."""
