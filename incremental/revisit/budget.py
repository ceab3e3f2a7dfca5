"""The budget: requests a day, turned into a price and into a moment from which a site may be asked.

Every request counts, whatever it was for. Three things hold the budget:

- The *price*: minutes of accrued delay that a visit must be worth. It follows the visits of the last
  24 hours: up while there are more than the budget leaves for them, down while there are fewer, so
  that visits move to the hours of the day in which they pay. It starts at the anchor, the price at
  which visits by the square-root law would use up the budget exactly; and it rises steeply while what
  the day leaves for visits runs out, so that they thin out instead of ending.
- The *bucket*: grants flow in evenly, at most half a day's are saved up, and an empty bucket shuts
  the site until the next grant.
- The *day*: in the current and the 23 hours before there are never more requests than a day's
  budget, and in one hour at most four times the mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from incremental.revisit.state import JsonState

_DAY = 86400.0
_HOUR = 3600.0
_SAVED_DAYS = 0.5
_GAIN = 1.5
"""By how much the logarithm of the price moves in a day for visits e times too many. Visits fall with
the square root of the price, and a mean over a day lags by half a day: stable up to about 6."""
_AIM = 0.99
"""Share of the visits left that the price aims at: above it the day would close before it ends."""
_NEARLY_USED = 0.9
_STEEPNESS = 2.0
"""Logarithm of the price when a day's visits are used up over that at nine tenths of them."""
_LARGEST_ERROR = 2.0
_TRIM_LIMIT = 2.0
"""The anchor is right within a factor of a few: further away something else limits the visits."""
_SHUT = 0.01
"""Least excess assumed while the day's visits are used up: the demand turned away is unknown."""
_LONGEST_STALL_DAYS = 1.0
_START_MINUTES = 30.0
_LEAST = 0.01
"""Weight of a site from which on it is taken for known: a link in a year of hours."""


@dataclass(frozen=True, slots=True)
class BudgetState(JsonState):
    """Where a budget stands."""

    trim: float = 0.0
    """Logarithm of the price over its anchor."""
    tokens: float = 0.0
    """Requests granted and not used; below zero = overdrawn."""
    updated_at: float = 0.0
    """0 = never used."""
    started_at: float = 0.0
    used: tuple[float, ...] = ()
    """Requests by hour, the current hour first, 24 of them."""
    visited: tuple[float, ...] = ()
    """Hub visits among them."""
    floor_minutes: float = 0.0
    """Price of a budget that is shared with other sites: the higher price counts."""

    @property
    def used_today(self) -> float:
        """Requests in the current hour and the 23 before it."""
        return sum(self.used)


def advance(state: BudgetState, requests_per_day: float, now: float) -> BudgetState:
    """Return *state* at *now*: grants added, price and averages moved on.

    A clock that goes back grants nothing and forgets nothing; a stall, however long, fills the
    bucket and moves the price by a day at most, so that nothing bursts.
    """
    if not state.updated_at:
        tokens = min(requests_per_day, max(1.0, requests_per_day / 4))
        empty = (0.0,) * 24
        return replace(
            state, tokens=tokens, updated_at=now, started_at=now, used=empty, visited=empty
        )
    days = max(now - state.updated_at, 0.0) / _DAY
    granted = requests_per_day * days
    hours = min(max(int(now // _HOUR) - int(state.updated_at // _HOUR), 0), 24)
    return replace(
        state,
        trim=_trimmed(state, requests_per_day, min(days, _LONGEST_STALL_DAYS)),
        tokens=min(state.tokens + granted, max(requests_per_day * _SAVED_DAYS, 1.0)),
        updated_at=now,
        used=(0.0,) * hours + state.used[: 24 - hours],
        visited=(0.0,) * hours + state.visited[: 24 - hours],
    )


def spend(
    state: BudgetState, requests_per_day: float, now: float, *, visits: int = 0, others: int = 0
) -> BudgetState:
    """Return *state* after so many requests: *visits* of hubs, and *others* of any other kind."""
    state = advance(state, requests_per_day, now)
    count = visits + others
    return replace(
        state,
        tokens=state.tokens - count,
        used=(state.used[0] + count, *state.used[1:]),
        visited=(state.visited[0] + visits, *state.visited[1:]),
    )


def open_at(state: BudgetState, requests_per_day: float, now: float) -> float:
    """Return from when on the budget allows one more request; infinite when it is zero."""
    if requests_per_day <= 0:
        return math.inf
    state = advance(state, requests_per_day, now)
    granted = now
    # A hair less than one: what adds up to one grant in floats may miss it by rounding.
    if state.tokens < 1 - 1e-9:
        granted = now + (1 - state.tokens) / requests_per_day * _DAY
    return max(granted, _day_opens_at(state, requests_per_day, now))


def _day_opens_at(state: BudgetState, requests_per_day: float, now: float) -> float:
    """Return when enough hours have passed for one more request in a day and in an hour."""
    hour = int(now // _HOUR)
    a_day = max(math.ceil(requests_per_day), 1)
    an_hour = max(requests_per_day / 6, min(6.0, requests_per_day / 2), 1.0)
    if state.used[0] + 1 <= an_hour and state.used_today + 1 <= a_day:
        return now
    for passed in range(1, 25):
        if sum(state.used[: 24 - passed]) + 1 <= a_day:
            return (hour + passed) * _HOUR
    return now + _DAY  # pragma: no cover - after 24 hours nothing is left to count


def left_for_visits(state: BudgetState, requests_per_day: float) -> float:
    """Return how many hub visits a day other requests leave.

    Half of the budget at least: a site with much to explore must not lose sight of what it knows.
    """
    others = state.used_today - sum(state.visited)
    return max(requests_per_day - others, requests_per_day / 2)


def price_minutes(state: BudgetState, requests_per_day: float, weight_total: float) -> float:
    """Return the price: what a visit must be worth, in minutes of accrued delay.

    *weight_total* is the sum over hubs of the square roots of their rates per hour. Visits by the
    square-root law at price C link-hours come ``weight_total / sqrt(2 C)`` times an hour: solved
    for C that is the anchor.
    """
    left = left_for_visits(state, requests_per_day)
    if left <= 0:
        return math.inf
    anchor = (weight_total * 24 / left) ** 2 / 2 * 60 if weight_total > _LEAST else _START_MINUTES
    nearly = sum(state.visited) / left - _NEARLY_USED
    scarce = _STEEPNESS * min(max(nearly / (1 - _NEARLY_USED), 0.0), 1.0)
    return max(anchor * math.exp(state.trim + scarce), state.floor_minutes)


def _trimmed(state: BudgetState, requests_per_day: float, days: float) -> float:
    """Move the price by how the visits of the last day compare with what is left for them."""
    if requests_per_day <= 0:
        return state.trim
    # Of a site that is watched for less than a day only so much can be asked.
    watched = min(max((state.updated_at - state.started_at) / _DAY, 1 / 24), 1.0)
    aim = _AIM * left_for_visits(state, requests_per_day) * watched
    error = math.log(max(sum(state.visited), 1e-3) / aim)
    if sum(state.visited) + 1 > left_for_visits(state, requests_per_day):
        error = max(error, _SHUT)
    error = min(max(error, -_LARGEST_ERROR), _LARGEST_ERROR)
    return min(max(state.trim + _GAIN * error * days, -_TRIM_LIMIT), _TRIM_LIMIT)
