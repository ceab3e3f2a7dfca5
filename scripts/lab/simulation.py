"""Tries a policy on a world: one hub in each slot, the same number of visits for every policy.

::

    slot -> the hub of the highest index -> World.visit -> Policy.observe
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from incremental.schedule.budget import BudgetState
from incremental.schedule.state import HubState, SiteState, Terms, Visit
from lab.world import DAY, World

# A link that is never seen counts as seen a day late, and none counts as later than that.
CAP_SECONDS = DAY
_PRICE_STEP = 0.1


class Policy(Protocol):
    """Decides when to visit which hub; the caller keeps the states."""

    def observe(self, hub: HubState, site: SiteState, visit: Visit) -> tuple[HubState, SiteState]:
        """Return both states after *visit*, which may have failed."""

    def index(self, hub: HubState, site: SiteState, budget: BudgetState, now: float) -> float:
        """Return the urgency of a visit, largest first; never falls until the next visit."""


Fetch = tuple[float, str]
"""When, and which hub."""


@dataclass(frozen=True, slots=True)
class Score:
    """How late new links were seen, in minutes, and what it took."""

    mean_minutes: float
    median_minutes: float
    p95_minutes: float
    missed_share: float
    within_15min: float
    within_1h: float
    within_4h: float
    fetches: int
    fetches_per_link: float


def score(
    world: World, fetches: int, *, warm_up_days: float = 14, cool_down_days: float = 1
) -> Score:
    """Return the score of the sightings in *world*.

    Scored are links that first appear between the end of the warm-up and the last day.
    """
    first, last = world.start + warm_up_days * DAY, world.end - cool_down_days * DAY
    delays = sorted(
        min(world.sighted.get(link, math.inf) - appeared, CAP_SECONDS) / 60
        for link, appeared in world.appeared.items()
        if first <= appeared <= last
    )
    n = len(delays)
    if not n:
        raise ValueError(
            f"no link appears between day {warm_up_days:g} and the last {cool_down_days:g} day(s)"
        )

    def within(minutes: float) -> float:
        return sum(delay <= minutes for delay in delays) / n

    return Score(
        mean_minutes=sum(delays) / n,
        median_minutes=_quantile(delays, 0.5),
        p95_minutes=_quantile(delays, 0.95),
        missed_share=sum(delay >= CAP_SECONDS / 60 for delay in delays) / n,
        within_15min=within(15),
        within_1h=within(60),
        within_4h=within(240),
        fetches=fetches,
        fetches_per_link=fetches / len(world.sighted) if world.sighted else math.inf,
    )


def _quantile(ordered: list[float], share: float) -> float:
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


@dataclass
class Crowd:
    """All hubs of a world with their states, and one policy that names the next."""

    policy_of: Callable[[str, Terms], Policy]
    """Makes the policy of a site from its share of the budget."""
    sites: Mapping[str, str]
    """Site by hub."""
    fetches_per_hour: float
    budget: BudgetState = field(default_factory=lambda: BudgetState(trim=-12.0, floor_minutes=30.0))
    # The price is common to all sites, so it is the floor, and the sites' own prices lie far below.

    def __post_init__(self) -> None:
        self.hubs = {hub: HubState(key=hub) for hub in self.sites}
        per_hub = self.fetches_per_hour * 24 / len(self.sites)
        names = list(self.sites.values())
        self.site_states = {name: SiteState() for name in names}
        self.policies = {
            name: self.policy_of(
                name, Terms(requests_per_day=per_hub * names.count(name), min_interval_seconds=0)
            )
            for name in self.site_states
        }

    def index(self, hub: str, now: float) -> float:
        """Return how urgent a hub is."""
        site = self.sites[hub]
        policy = self.policies[site]
        return policy.index(self.hubs[hub], self.site_states[site], self.budget, now)

    def fetch(self, world: World, hub: str, now: float) -> None:
        """Visit a hub and learn from it."""
        site = self.sites[hub]
        self.hubs[hub], self.site_states[site] = self.policies[site].observe(
            self.hubs[hub], self.site_states[site], world.visit(hub, now)
        )

    def move_price(self, paid_minutes: float) -> None:
        """Draw the price towards what the last visit was worth; a first visit has no worth yet."""
        if 0 < paid_minutes < math.inf:
            ratio = min(max(paid_minutes / self.budget.floor_minutes, 0.1), 10.0)
            price = self.budget.floor_minutes * ratio**_PRICE_STEP
            self.budget = BudgetState(trim=self.budget.trim, floor_minutes=price)


def run(world: World, crowd: Crowd) -> Iterator[Fetch]:
    """Fetch the most urgent hub in each slot; of equals the one visited longest ago, then the first."""
    for slot in range(world.slots(crowd.fetches_per_hour)):
        now = world.start + slot * 3600 / crowd.fetches_per_hour

        def urgency(hub: str, at: float = now) -> tuple[float, float]:
            return crowd.index(hub, at), -crowd.hubs[hub].tried_at

        hub = max(crowd.hubs, key=urgency)
        crowd.move_price(crowd.index(hub, now))
        crowd.fetch(world, hub, now)
        yield now, hub
