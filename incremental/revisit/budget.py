"""The budget: requests a day, turned into a price and into a moment from which a site may be asked.

Every request counts, whatever it was for. Three things hold the budget:

- The *price*: minutes of accrued delay that a visit must be worth. It starts at the anchor, the price
  at which visits by the square-root law would use up the budget exactly. Through the day it is held to
  a plan: what is left of the day's visits against what the same hours take usually. Ahead of the plan
  it rises, so that visits thin out instead of ending; behind it, it falls, so that nothing is left over
  at midnight. What the plan corrects day after day becomes the price's own *trim*.
- The *bucket*: grants flow in evenly, at most half a day's are saved up, and an empty bucket shuts
  the site until the next grant.
- The *day* (UTC): in none are there more requests than a day's budget, and in one hour at most four
  times the mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from incremental.revisit.state import JsonState

_DAY = 86400.0
_HOUR = 3600.0
_SAVED_DAYS = 0.5
_RESERVE_SHARE = 0.9
"""Below it the price has not fallen far enough yet for hubs to use the budget: with half of what can be
saved as the bound, articles took a third of flink's requests from its lists."""
_GAIN = 1.5
"""By how much the logarithm of the price moves in a day in which visits are e times ahead of the plan.
Visits fall with the square root of the price, and habits lag by days: stable up to about 3."""
_EVEN = 0.25
"""How much of the plan is an even spread; the rest is habit."""
_YOUNG_DAYS = 7.0
_HABIT_DAYS = 7.0
_STRENGTH = 2.0
"""By how much the price's logarithm answers to that of the lead. Visits fall with its square root."""
_DOUBT = 0.5
"""Visits added to both sides of the plan: one visit more or less says little."""
_AIM = 1.02
"""Aimed at is a little more than the day allows, which ends at its budget whatever the aim."""
_LARGEST_LEAD = 2.0
"""Of the logarithm of visits: the price moves by at most e to the fourth within a day."""
_TRIM_LIMIT = 2.0
"""The anchor is right within a factor of a few: further away something else limits the visits."""
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
    habit: tuple[float, ...] = ()
    """Hub visits in each hour of the day (UTC), averaged over about a week; empty = not known yet."""
    per_day: float = 0.0
    """The budget, as it was when it was last looked at: for whoever only reads."""
    floor_minutes: float = 0.0
    """Price of a budget that is shared with other sites: the higher price counts."""

    @property
    def used_lately(self) -> float:
        """Requests in the current hour and the 23 before it."""
        return sum(self.used)

    @property
    def used_today(self) -> float:
        """Requests since midnight, UTC."""
        return sum(self.used[: self._hour + 1])

    @property
    def visited_today(self) -> float:
        """Hub visits among them."""
        return sum(self.visited[: self._hour + 1])

    @property
    def _hour(self) -> int:
        return int(self.updated_at // _HOUR) % 24


def advance(state: BudgetState, requests_per_day: float, now: float) -> BudgetState:
    """Return *state* at *now*: grants added, price and averages moved on.

    A clock that goes back grants nothing and forgets nothing; a stall, however long, fills the
    bucket and moves the price by a day at most, so that nothing bursts.
    """
    if not state.updated_at:
        tokens = min(requests_per_day, max(1.0, requests_per_day / 4))
        empty = (0.0,) * 24
        return replace(
            state,
            tokens=tokens,
            updated_at=now,
            started_at=now,
            used=empty,
            visited=empty,
            per_day=requests_per_day,
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
        habit=_habit(state, now) if hours else state.habit,
        per_day=requests_per_day,
    )


def _habit(state: BudgetState, now: float) -> tuple[float, ...]:
    """Return what the hours of the day take usually, with the hours that have passed counted in.

    A day without any visit, or a stall, is no habit. Nothing is known before the first whole day.
    """
    first = int(state.updated_at // _HOUR)
    if now - state.started_at < _DAY or now - state.updated_at > _DAY / 2:
        return state.habit
    if not state.habit:
        return tuple(state.visited[(first - hour) % 24] for hour in range(24))
    habit = list(state.habit)
    # Hours in which the day was used up say nothing of what is wanted then: an even share is assumed,
    # or they would stay without visits for ever.
    closed = state.used_today + 1 > max(math.ceil(state.per_day), 1)
    least = left_for_visits(state, state.per_day) / 24 if closed else 0.0
    for passed in range(int(now // _HOUR) - first):
        hour = (first + passed) % 24
        visits = max(state.visited[0] if passed == 0 else 0.0, least)
        habit[hour] += (visits - habit[hour]) / _HABIT_DAYS
    return tuple(habit)


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


def reserve_at(state: BudgetState, requests_per_day: float, now: float) -> float:
    """Return from when on so much is saved up that a request may go to what is worth little.

    Most of what can be saved stays for what turns up: news come in batches, and each new page is read.
    """
    if requests_per_day <= 0:
        return math.inf
    wanted = max(requests_per_day * _SAVED_DAYS * _RESERVE_SHARE, 1.0)
    tokens = advance(state, requests_per_day, now).tokens
    return max(now, now + (wanted - tokens) / requests_per_day * _DAY)


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
    """Return from when on the day and the hour have room for one more request.

    With a clock that went back *state* is ahead of *now*: its hour counts as the current one.
    """
    at = max(now, state.updated_at)
    if state.used_today + 1 > max(math.ceil(requests_per_day), 1):
        return (at // _DAY + 1) * _DAY
    an_hour = max(requests_per_day / 6, min(6.0, requests_per_day / 2), 1.0)
    return now if state.used[0] + 1 <= an_hour else (at // _HOUR + 1) * _HOUR


def left_for_visits(state: BudgetState, requests_per_day: float) -> float:
    """Return how many hub visits a day other requests leave.

    Three quarters of the budget at least, half of it in the first week: a site with much to explore must
    not lose sight of what it knows.
    """
    others = state.used_lately - sum(state.visited)
    young = state.updated_at - state.started_at < _YOUNG_DAYS * _DAY
    return max(requests_per_day - others, requests_per_day * (0.5 if young else 0.75))


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
    steered = anchor * math.exp(state.trim + _STRENGTH * _lead(state, requests_per_day))
    return max(steered, state.floor_minutes)


def _lead(state: BudgetState, requests_per_day: float) -> float:
    """Return how far the day's visits are ahead of the plan, as a logarithm; below zero = behind.

    Visits go with the inverse square root of the price, so twice this makes up for it.
    """
    if not state.updated_at:
        return 0.0
    left = left_for_visits(state, requests_per_day)
    at = state.updated_at % _DAY
    planned = left * (1.0 - at / _DAY)
    if state.habit:
        hour = int(at // _HOUR)
        usual = sum(state.habit[hour + 1 :]) + state.habit[hour] * (1.0 - at % _HOUR / _HOUR)
        # The habit tells when, not how many.
        usual *= left / max(sum(state.habit), _LEAST)
        planned = _EVEN * planned + (1 - _EVEN) * usual
    room = max(_AIM * left - state.visited_today, 0.0)
    lead = math.log((planned + _DOUBT) / (room + _DOUBT))
    return min(max(lead, -_LARGEST_LEAD), _LARGEST_LEAD)


def _trimmed(state: BudgetState, requests_per_day: float, days: float) -> float:
    """Let the price remember what it had to be corrected by."""
    if requests_per_day <= 0:
        return state.trim
    trim = state.trim + _GAIN * _lead(state, requests_per_day) * days
    return min(max(trim, -_TRIM_LIMIT), _TRIM_LIMIT)
