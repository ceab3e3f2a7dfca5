"""What a revisit policy is: three questions about plain values, for daemon and benchmark alike.

The caller keeps the states (the daemon in its store, the benchmark in memory), tells each visit with
:meth:`Policy.observe`, and keeps hubs in a queue ordered by :meth:`Policy.due_at`. Recomputing is
lazy: when a hub comes to the head of the queue it is asked again, and pushed back if the price has
risen in the meantime.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from incremental.revisit.budget import BudgetState
from incremental.revisit.state import HubState, SiteState, Visit

MINUTE = 60.0
HOUR = 3600.0
DAY = 86400.0


@dataclass(frozen=True, slots=True)
class Terms:
    """What the user asked of one site. A policy is made for one set of terms."""

    requests_per_day: float = 48.0
    """Of any kind: robots.txt, hub visits, verification fetches of new pages. 0 = leave the site alone."""
    min_interval_seconds: float = 15 * MINUTE
    max_interval_seconds: float = DAY
    """Kept as far as the budget allows: many hubs and few requests make it longer."""
    windows: tuple[tuple[float, float], ...] = ()
    """Hours of the day (UTC) in which hubs may be visited, as (start, end); end before start = over
    midnight. None given = always."""


@dataclass(frozen=True, slots=True)
class VisitExplanation:
    """Why a hub is visited when it is: the numbers behind the decision."""

    policy: str
    rate_per_day: float
    """New links a day that this hub is expected to be the first to show."""
    waiting_links: float
    """Expected number of them that nobody has seen yet, now."""
    waiting_minutes: float
    """Their delays added up, weighed by relevance and cost: what is compared with the price."""
    price_minutes: float
    due_at: float
    """Next visit, unix seconds; infinite = never under these terms."""
    reason: str
    """One sentence for people."""


class Policy(Protocol):
    """Decides when to visit which hub."""

    name: str

    def observe(self, hub: HubState, site: SiteState, visit: Visit) -> tuple[HubState, SiteState]:
        """Return both states after *visit*, failed visits included."""

    def retire(self, hub: HubState, site: SiteState) -> SiteState:
        """Return the site's state without this hub: gone, removed, or no hub after all."""

    def due_at(self, hub: HubState, site: SiteState, budget: BudgetState, now: float) -> float:
        """Return when to visit the hub next: in the past = overdue, infinite = never."""

    def index(self, hub: HubState, site: SiteState, budget: BudgetState, now: float) -> float:
        """Return how urgent a visit is now; never falls while no visit is made. Largest first."""

    def why(
        self, hub: HubState, site: SiteState, budget: BudgetState, now: float
    ) -> VisitExplanation:
        """Return the numbers behind :meth:`due_at`."""
