"""The price policy: visit a hub when its accrued delay is worth a visit.

Accrued delay of a hub since its last visit u::

    I(t) = w/c * integral from u to t of (t - s) lambda(s) ds

*lambda* is the learned rate with its hours and minutes, *w* the share of links on topic times the cost
of vanishing links, *c* the cost of a visit. A hub is due when I reaches the price
(:mod:`incremental.schedule.budget`). For constant rates this is the square-root law, which minimises the
mean delay (Olston and Pandey 2008, equation 4, links waiting as the cost).

Hubs may show the same links: after a neighbour's visit the links that it showed wait no longer. The first
hub that shows a link gets the credit. For each neighbour a hub keeps two counts: links new to it but known
from the neighbour, and links that the neighbour could have shown first (they arrived before its last visit).
Their ratio is the share of this hub's links that the neighbour's visit takes away.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from incremental.base.texts import Text
from incremental.schedule.budget import BudgetState, price_minutes
from incremental.schedule.pacing import (
    early_visit_at,
    in_window,
    longest_interval,
    retry_at,
)
from incremental.schedule.profile import HOUR, WEEK, Shape
from incremental.schedule.rates import (
    RATE_HALF_LIFE_DAYS,
    count_visit,
    hub_shape,
    learn_hours,
    novel_rate_of,
    pooled,
    rate_of,
    reshaped,
    seen,
    weight_of,
)
from incremental.schedule.state import HubState, SiteState, Terms, Visit, VisitExplanation

# Delay that a link counts as if it is never seen.
LOST_LINK_HOURS = 24.0
_PRIOR_YOUNG_HOURS = 20.0
# Largest mean x of a Poisson count with E[(count - K)+] / x = 1 %, and the same for more K by its
# normal approximation K - 0.91 sqrt(K) (90.9 at 100).
_MOST_LINKS = ((5, 1.94), (10, 5.73), (15, 9.95), (20, 14.36), (30, 23.5), (50, 42.4), (100, 90.9))
# Of as many hubs as a site may have, and more; a shape with its states takes 33 kB.
_SHAPES_KEPT = 512
# Index over price from which on rounding does not matter.
_SURELY = 1 + 1e-6
_HINT_PRIOR = 2.0
_HINT_FADE = 0.98
# Assumed saving of a "not modified" answer over a full page.
_CHEAP_304 = 0.3


_NEIGHBOURS = 10
# Pseudo-links that were not shared.
_DOUBT = 1.0


@dataclass(frozen=True, slots=True)
class Backlog:
    """New links expected on a hub at :attr:`since`, after the last visit of the hub or of a neighbour."""

    since: float
    """Hours since the epoch."""
    links: float
    delay: float
    """Link-hours."""


def backlog(hub: HubState, site: SiteState, shape: Shape, rate: float) -> Backlog:
    """Return what waits after the neighbours' latest visits; *rate* in links per hour."""
    start = hub.visited_at / HOUR
    cuts = sorted(
        (site.seen_at[key] / HOUR, 1.0 - _share(counts))
        for key, counts in hub.overlaps.items()
        if site.seen_at.get(key, 0.0) > hub.visited_at
    )
    links = delay = 0.0
    kept = 1.0
    for _, keep in cuts:
        kept *= keep
    for at, keep in cuts:
        arrived, waited = shape.integrals(start, at)
        delay += links * (at - start) + kept * rate * waited
        links += kept * rate * arrived
        kept = min(kept / keep, 1.0) if keep else 1.0
        start = at
    return Backlog(start, links, delay)


def learn_overlap(hub: HubState, site: SiteState, visit: Visit, shape: Shape) -> HubState:
    """Return the hub with its neighbours' counts updated; *hub* is the state before the visit."""
    fresh = visit.novel + sum(visit.shared.values())
    if visit.failed or visit.baseline or not fresh or not hub.visited_at or not hub.key:
        return hub
    start, end = hub.visited_at / HOUR, visit.at / HOUR
    arrived = shape.integrals(start, end)[0]
    fade = 0.5 ** (max(end - start, 0.0) / 24 / RATE_HALF_LIFE_DAYS)
    counts = {key: [value * fade for value in pair] for key, pair in hub.overlaps.items()}
    for key in {*counts, *visit.shared}:
        hits, chances = counts.get(key, [0.0, 0.0])
        shared = float(visit.shared.get(key, 0))
        # The neighbour could have shown first only what arrived before its last visit.
        before = shape.integrals(start, site.seen_at.get(key, 0.0) / HOUR)[0]
        chance = fresh * min(before / arrived, 1.0) if arrived > 0 else shared
        counts[key] = [hits + shared, chances + max(chance, shared)]
    best = sorted(counts, key=lambda key: counts[key][0], reverse=True)[:_NEIGHBOURS]
    return replace(hub, overlaps={key: counts[key] for key in best})


def _share(counts: list[float]) -> float:
    hits, chances = counts
    return min(hits / (chances + _DOUBT), 0.99)


class PricePolicy:
    """Due when accrued delay reaches the price; see the module."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._shapes: dict[str | int, tuple[HubState, SiteState, Shape]] = {}

    def observe(self, hub: HubState, site: SiteState, visit: Visit) -> tuple[HubState, SiteState]:
        """Learn rate, hours, overlap, vanishing links, and the hub's part of the site."""
        shape = self._shape(hub, site)
        before = hub
        # Links shared with hubs that are not followed are no arrivals here.
        if visit.shared:
            followed = site.seen_at if hub.key else ()
            shared = {key: links for key, links in visit.shared.items() if key in followed}
            visit = replace(visit, shared=shared)
        open_hours = self._open_hours(hub, site, visit.at)
        hub = learn_overlap(hub, site, visit, shape)
        hub, site = learn_hours(hub, site, visit, shape)
        hub = count_visit(hub, visit, open_hours)
        if hub.visits:
            hub = replace(hub, weight=weight_of(hub, _worth(hub)))
        if not visit.failed:
            site = seen(site, hub, visit.at)
        site = _hints_counted(before, site, visit)
        return hub, reshaped(pooled(site, before, hub), visit.at)

    def retire(self, hub: HubState, site: SiteState) -> SiteState:
        """Remove the hub's part from the site's sums."""
        return pooled(site, hub, replace(hub, weight=0.0))

    def due_at(self, hub: HubState, site: SiteState, budget: BudgetState, now: float) -> float:
        """Return when the accrued delay reaches the price, within the limits of server and user."""
        terms = self.terms
        if terms.requests_per_day <= 0:
            return math.inf
        if hub.failures:
            return in_window(max(retry_at(hub, now), hub.wait_until), terms)
        if not hub.visits:
            return in_window(now, terms)
        visited_at = min(hub.visited_at, now)
        latest = visited_at + longest_interval(hub, site, budget, terms, now)
        at = min(
            self._crossing(hub, site, budget), early_visit_at(hub, site, budget, terms), latest
        )
        at = max(at, visited_at + terms.min_interval_seconds, hub.wait_until)
        return in_window(at, terms)

    def index(self, hub: HubState, site: SiteState, budget: BudgetState, now: float) -> float:
        """Return the accrued delay in minutes, the price at the longest interval; infinite before a visit."""
        if self.terms.requests_per_day <= 0:
            return 0.0
        if not hub.visits:
            return math.inf
        waiting, delay = self._waiting(hub, site, now)
        value = _worth(hub) * (delay + _hinted(hub, site, now)) * 60
        if waiting > most_links(hub.shown):
            value += LOST_LINK_HOURS * 60 * (waiting - most_links(hub.shown))
        longest = longest_interval(hub, site, budget, self.terms, now)
        overdue = min(max(now - hub.visited_at, 0.0) / longest, 1e6)
        return max(value, self._price(site, budget) * overdue)

    def is_overdue(
        self, hub: HubState, site: SiteState, budget: BudgetState, index: float, now: float
    ) -> bool:
        """Whether :meth:`due_at` surely lies before *now*, by the hub's *index*; False = it may yet."""
        if hub.failures or not hub.visits or self.terms.windows:
            return False
        latest = max(hub.visited_at + self.terms.min_interval_seconds, hub.wait_until)
        # Over a longer time due_at() does not look at the links that a list drops.
        if not latest <= now <= hub.visited_at + WEEK * HOUR:
            return False
        return index > _SURELY * self._price(site, budget)

    def why(
        self, hub: HubState, site: SiteState, budget: BudgetState, now: float
    ) -> VisitExplanation:
        """Return rate and next visit, and the rule that set it."""
        due_at = self.due_at(hub, site, budget, now)
        return VisitExplanation(
            rate_per_day=24 * novel_rate_of(hub, site),
            due_at=due_at,
            reason=self._reason(hub, site, budget, due_at, now),
        )

    def _reason(
        self, hub: HubState, site: SiteState, budget: BudgetState, due_at: float, now: float
    ) -> str:
        visited_at = min(hub.visited_at, now)
        longest = longest_interval(hub, site, budget, self.terms, now)
        tests: tuple[tuple[Callable[[], bool], str], ...] = (
            (lambda: math.isinf(due_at), "no_budget"),
            (lambda: hub.failures > 0, "failed"),
            (lambda: not hub.visits, "never"),
            (lambda: due_at == hub.wait_until, "asked_to_wait"),
            (lambda: due_at > in_window(due_at - 1, self.terms) + 1, "not_now"),
            (
                lambda: due_at == early_visit_at(hub, site, budget, self.terms),
                "quick_look",
            ),
            (
                lambda: due_at == visited_at + self.terms.min_interval_seconds,
                "shortest",
            ),
            (lambda: due_at >= visited_at + longest, self._limit(longest)),
        )
        name = next((name for holds, name in tests if holds()), "worth_it")
        return Text("reason.failed", n=hub.failures) if name == "failed" else Text(f"reason.{name}")

    def _limit(self, longest: float) -> str:
        """Return what set the *longest* interval: the settings, spare requests, or silence and many hubs."""
        limit = self.terms.max_interval_seconds
        return "longest" if longest == limit else "spare" if longest < limit else "rarely"

    def _crossing(self, hub: HubState, site: SiteState, budget: BudgetState) -> float:
        """Return when accrued delay reaches the price, or earlier when links begin to scroll off."""
        shape, rate = self._shape(hub, site), rate_of(hub, site)
        state = backlog(hub, site, shape, rate)
        goal = self._price(site, budget) / 60 / _worth(hub)
        links = state.links
        if hub.hinted_at > hub.visited_at:
            state, links = _with_hint(hub, site, state)
        at = shape.hour_of_delay(state.since, goal - state.delay, links, rate)
        # A list of K links drops the oldest when more than K arrive between two visits.
        room = most_links(hub.shown) - state.links
        if rate * shape.integrals(state.since, min(at, state.since + WEEK))[0] > room:
            at = min(at, shape.hour_of_links(state.since, room, rate))
        return at * HOUR

    def _waiting(self, hub: HubState, site: SiteState, now: float) -> tuple[float, float]:
        """Return the expected waiting links and their delay in link-hours."""
        shape, rate = self._shape(hub, site), rate_of(hub, site)
        state = backlog(hub, site, shape, rate)
        arrived, delay = shape.integrals(state.since, now / HOUR)
        hours = max(now / HOUR - state.since, 0.0)
        return state.links + rate * arrived, state.delay + state.links * hours + rate * delay

    def _open_hours(self, hub: HubState, site: SiteState, now: float) -> float:
        """Return the hours since the last visit, less what neighbours' visits took away."""
        shape = self._shape(hub, site)
        state = backlog(hub, site, shape, 1.0)
        hours = max(now - hub.visited_at, 0.0) / HOUR
        arrived = shape.integrals(hub.visited_at / HOUR, now / HOUR)[0]
        if not hub.visited_at or arrived <= 0:
            return 0.0
        waiting = state.links + shape.integrals(state.since, now / HOUR)[0]
        return hours * waiting / arrived

    def _price(self, site: SiteState, budget: BudgetState) -> float:
        return price_minutes(budget, self.terms.requests_per_day, site.weight_total)

    def _shape(self, hub: HubState, site: SiteState) -> Shape:
        """Return the hub's shape, cached while its inputs are the same."""
        # One shape for each hub: those of earlier inputs are never asked for again. A key by id() is sound
        # because the cached state keeps its list alive.
        key = hub.key or id(hub.hours)
        kept = self._shapes.get(key)
        if kept is not None and kept[0].hours is hub.hours and kept[1].shape is site.shape:
            return kept[2]
        shape = hub_shape(hub, site)
        self._shapes.pop(key, None)
        if len(self._shapes) >= _SHAPES_KEPT:
            del self._shapes[next(iter(self._shapes))]
        self._shapes[key] = (hub, site, shape)
        return shape


def hinted(hub: HubState, at: float) -> HubState:
    """Return the hub with a change hint (lastmod); its worth is learned from the visits after hints."""
    return hub if hub.hinted_at else replace(hub, hinted_at=at)


def _worth(hub: HubState) -> float:
    """Return w/c: share on topic times cost of vanishing links, over cost of a visit."""
    relevant = (hub.relevant + 1.0) / (hub.judged + 1.0)
    return relevant * loss_factor(hub) / (hub.cost - _CHEAP_304 * hub.unmodified)


def _hint_links(hub: HubState, site: SiteState) -> float:
    """Return the links that a change hint promises: its precision so far, shrunk to the site's."""
    # By site as well: a sitemap that changes with each deployment loses weight for all its hubs.
    usual = (site.hints_confirmed + 1.0) / (site.hints + 2.0)
    return (hub.hints_confirmed + _HINT_PRIOR * usual) / (hub.hints + _HINT_PRIOR)


def _hints_counted(hub: HubState, site: SiteState, visit: Visit) -> SiteState:
    """Return the site with the change hint before this visit counted, and whether it was confirmed."""
    if not hub.hinted_at or visit.failed or visit.baseline:
        return site
    return replace(
        site,
        hints=site.hints * _HINT_FADE + 1,
        hints_confirmed=site.hints_confirmed * _HINT_FADE + (visit.novel > 0),
    )


def _hinted(hub: HubState, site: SiteState, now: float) -> float:
    """Return the delay, in link-hours, of the links that a change hint promises."""
    if hub.hinted_at <= hub.visited_at:
        return 0.0
    return _hint_links(hub, site) * max(now - hub.hinted_at, 0.0) / HOUR


def _with_hint(hub: HubState, site: SiteState, state: Backlog) -> tuple[Backlog, float]:
    """Return the backlog with the promised links waiting since the change hint."""
    promised = _hint_links(hub, site)
    since = hub.hinted_at / HOUR
    # The promised links wait from *since* on; seen from state.since that is a head start or a debt.
    delay = state.delay + promised * (state.since - since)
    return Backlog(state.since, state.links, delay), state.links + promised


def loss_factor(hub: HubState) -> float:
    """Return the cost factor of waiting: at vanishing rate m per hour, an hour also costs m lost links."""
    # Some pages (a front page ranked by votes) drop links of any age, which shows in how many links that
    # were new at one visit are gone at the next.
    return 1.0 + LOST_LINK_HOURS * hub.vanished / (hub.young_hours + _PRIOR_YOUNG_HOURS)


def most_links(shown: int) -> float:
    """Return how many links may arrive at a list of *shown* links at 1 % loss; infinite below five."""
    if shown < _MOST_LINKS[0][0]:
        return math.inf
    if shown >= _MOST_LINKS[-1][0]:
        return float(shown - 0.91 * shown**0.5)
    above = next(i for i, entry in enumerate(_MOST_LINKS) if entry[0] > shown)
    (left, low), (right, high) = _MOST_LINKS[above - 1], _MOST_LINKS[above]
    return low + (high - low) * (shown - left) / (right - left)
