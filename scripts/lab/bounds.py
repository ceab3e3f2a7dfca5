"""How well any policy could do: with known rates, and with known arrivals.

Both bounds choose each hub's visits on its own by dynamic programming at a price for a visit, and find
the price at which all hubs together make the given number of visits (a Lagrange multiplier). They are
free to visit at any moment, not only in slots. Where hubs overlap, a link belongs to the hub that
showed it first, and to the one with most links if several did: there they are estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incremental.schedule.profile import BINS, HOUR, WEEK, Shape
from lab.simulation import Fetch
from lab.world import World

# Batches of links among which the last visit before is looked for.
_WINDOW = 200
_LOST_HOURS = 24.0
_SEARCH_STEPS = 14
_CLOSE_ENOUGH = 0.003

Floats = NDArray[np.float64]
Plan = list[tuple[str, float]]
"""Hub and hour since the epoch."""


def credited(world: World) -> dict[str, list[tuple[float, float]]]:
    """Return each hub's links as (appeared, visible until), each link once."""
    owner: dict[str, tuple[float, int, str, float]] = {}
    for hub, stays in world.stays.items():
        for first, last, link in stays:
            claim = (first, -len(stays), hub, last)
            if link not in owner or claim < owner[link]:
                owner[link] = claim
    links: dict[str, list[tuple[float, float]]] = {hub: [] for hub in world.stays}
    for first, _, hub, last in owner.values():
        links[hub].append((first, last))
    return {hub: sorted(stays) for hub, stays in links.items()}


def follow(world: World, fetches: list[Fetch]) -> list[Fetch]:
    """Make the visits of a plan and return them."""
    for at, hub in fetches:
        world.visit(hub, at)
    return fetches


def clairvoyant(world: World, count: int) -> list[Fetch]:
    """Return *count* visits that make the total delay least when every arrival is known."""
    hubs = {hub: _batches(links) for hub, links in credited(world).items() if links}

    def planned(price: float) -> Plan:
        return [
            (hub, hour)
            for hub, batches in hubs.items()
            for hour in _best_of_batches(batches, price)
        ]

    return _fetches(world, count, _at_count(planned, count))


@dataclass(frozen=True, slots=True)
class _Batches:
    """Links of one hub by the moment of their appearance."""

    hours: Floats
    costs: list[Floats]
    """For the visit at batch j: delay, in hours, of all links after batch i, for i = j-1, j-2, ..."""


def _batches(links: list[tuple[float, float]]) -> _Batches:
    appeared = np.array([first for first, _ in links]) / HOUR
    until = np.array([last for _, last in links]) / HOUR
    hours, starts = np.unique(appeared, return_index=True)
    ends = np.append(starts[1:], appeared.size)
    costs = []
    for j, hour in enumerate(hours):
        first = max(j - _WINDOW + 1, 0)
        part = slice(starts[first], ends[j])
        delay = np.where(until[part] > hour, hour - appeared[part], _LOST_HOURS)
        delay = np.minimum(delay, _LOST_HOURS)
        by_batch = np.add.reduceat(delay, starts[first : j + 1] - starts[first])
        costs.append(np.cumsum(by_batch[::-1]))
    return _Batches(hours, costs)


def _best_of_batches(batches: _Batches, price: float) -> list[float]:
    """Return the hours of visits, always right after a batch, that cost least at *price* hours each."""
    n = len(batches.costs)
    total = np.zeros(n + 1)  # total[j]: visited at batch j - 1, all before it settled
    before = np.zeros(n + 1, dtype=int)
    for j, costs in enumerate(batches.costs):
        candidates = total[j - costs.size + 1 : j + 1][::-1] + costs
        best = int(np.argmin(candidates))
        total[j + 1] = candidates[best] + price
        before[j + 1] = j - best
    return [float(batches.hours[j - 1]) for j in _backwards(before, n)]


def known_rate_optimum(
    world: World, count: int, rates: Mapping[str, tuple[float, Shape]] | None = None
) -> list[Fetch]:
    """Return *count* visits that make the expected delay least when rates are known, times are not.

    *rates* holds links an hour and shape by hub; measured on the world itself if not given. A week is
    planned on a grid of five minutes and repeated.
    """
    rates = measured_rates(world) if rates is None else rates
    hubs = [hub for hub in world.hubs if hub in rates and rates[hub][0] > 0]
    grid = _Grid.of([rates[hub] for hub in hubs])
    first, last = world.start / HOUR, world.end / HOUR

    def planned(price: float) -> Plan:
        weekly = grid.visits(price)
        weeks = np.arange(first // WEEK, last // WEEK + 1) * WEEK
        plan: Plan = []
        for hub, hours in zip(hubs, weekly, strict=True):
            times = (weeks[:, None] + hours[None, :]).ravel()
            plan += [(hub, float(at)) for at in times[(times > first) & (times <= last)]]
        return plan

    return _fetches(world, count, _at_count(planned, count))


def measured_rates(world: World) -> dict[str, tuple[float, Shape]]:
    """Return what the whole world's arrivals say of each hub: nobody can know this beforehand."""
    hours = (world.end - world.start) / HOUR
    rates = {}
    for hub, links in credited(world).items():
        if not links:
            continue
        at = np.array([first for first, _ in links]) / HOUR
        week = np.bincount(at.astype(int) % WEEK, minlength=WEEK) + 0.1
        minutes = np.bincount((at % 1 * BINS).astype(int), minlength=BINS) + 0.1
        shape = Shape(tuple(week / week.mean()), tuple(minutes / minutes.mean()))
        rates[hub] = (len(links) / hours, shape)
    return rates


@dataclass(frozen=True, slots=True)
class _Grid:
    """Expected links and their delay since the start of a week, hubs by grid points."""

    hours: Floats
    links: Floats
    delay: Floats

    @classmethod
    def of(cls, rates: list[tuple[float, Shape]]) -> _Grid:
        hours = np.arange(WEEK * BINS + 1) / BINS
        sums = [[shape.integrals(0.0, float(hour)) for hour in hours] for _, shape in rates]
        scale = np.array([rate for rate, _ in rates])[:, None]
        both = np.array(sums)
        return cls(hours, both[:, :, 0] * scale, both[:, :, 1] * scale)

    def visits(self, price: float) -> list[Floats]:
        """Return each hub's hours of visits within the week, its end included, least in cost."""
        rows, points = self.links.shape
        base = np.zeros_like(
            self.links
        )  # cost so far - delay + links * hour: a line for each visit
        before = np.zeros((rows, points), dtype=int)
        for j in range(1, points):
            costs = base[:, :j] - self.links[:, :j] * self.hours[j]
            before[:, j] = costs.argmin(axis=1)
            least = costs[np.arange(rows), before[:, j]] + self.delay[:, j] + price
            base[:, j] = least - self.delay[:, j] + self.links[:, j] * self.hours[j]
        return [self.hours[_backwards(row, points - 1)] for row in before]


def _backwards(before: NDArray[np.int_], last: int) -> list[int]:
    """Return the chain of visits that ends at *last*, in order, without the start."""
    chain = []
    while last > 0:
        chain.append(last)
        last = int(before[last])
    return chain[::-1]


def _at_count(planned: Callable[[float], Plan], count: int) -> Plan:
    """Return the plan at the price at which there are about *count* visits, and not more."""
    free = planned(0.0)
    if len(free) <= count:
        return free
    low, high = 1e-6, 1.0
    while len(plan := planned(high)) > count:
        low, high = high, high * 8
    for _ in range(_SEARCH_STEPS):
        if len(plan) > count * (1 - _CLOSE_ENOUGH):
            break
        middle = (low * high) ** 0.5
        tried = planned(middle)
        if len(tried) > count:
            low = middle
        else:
            high, plan = middle, tried
    return plan


def _fetches(world: World, count: int, plan: Plan) -> list[Fetch]:
    """Return *plan* in order of time; visits that it does not need are spread over the hubs evenly."""
    fetches = [(hour * HOUR, hub) for hub, hour in plan]
    spare = count - len(fetches)
    step = (world.end - world.start) / max(spare, 1)
    fetches += [(world.start + k * step, world.hubs[k % len(world.hubs)]) for k in range(spare)]
    return sorted(fetches)
