"""The budget: requests a day, turned into a price and into a moment from which a site may be asked.

Every request counts, whatever it was for. Three things hold the budget:

- The *price*: minutes of accrued delay that a visit must be worth. It starts at the anchor, the price
  at which visits by the square-root law use up the budget exactly. Through the day it follows a plan:
  the day's remaining visits against what these hours usually take. What the plan corrects
  every day becomes the price's *trim*.
- The *bucket*: grants arrive evenly, at most half a day's are saved up, and an empty bucket closes the
  site until the next grant.
- The *day* (UTC): never more requests than a day's budget, and in one hour at most four times the mean.

A new site gets a grant beyond all this, once, for the hubs that nobody has read yet. What it pays for
leaves price, bucket and day as they are.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from incremental.base.json_state import JsonState
from incremental.base.times import DAY, HOUR
from incremental.schedule.allocation import (
    QUOTAS,
    RESERVE_SHARE,
    SAVED_DAYS,
    VISITS_SHARE,
    YOUNG_SECONDS,
    YOUNG_VISITS_SHARE,
    Share,
    filled,
    granted_at,
)

# The choice of one visit asks the same of a budget for each hub that is due.
_REMEMBERED = lru_cache(maxsize=256)
# Change of the price's logarithm in a day with e times the planned visits. Visits fall with the square
# root of the price, and habits lag by days: stable up to about 3.
_GAIN = 1.5
# Part of the plan that is spread evenly; the rest is habit.
_EVEN = 0.25
_HABIT_DAYS = 7.0
# Response of the price's logarithm to that of the lead; visits fall with the price's square root.
_STRENGTH = 2.0
# Visits added to both sides of the plan, because one more or less means little.
_DOUBT = 0.5
# How far low-value requests may be ahead of an even day, as a share of what it has left.
_AHEAD = 0.1
# With a fifth, a busy recorded weblog's news waited for 21 minutes instead of 17.
LOW_VALUE_SHARE = QUOTAS[Share.COVERED].turn
# Aim at slightly more than the day allows; the day's limit holds anyway.
_AIM = 1.02
# As a logarithm of visits: the price moves by at most e to the fourth within a day.
_LARGEST_LEAD = 2.0
# The anchor counts what covered hubs once brought, and was 36 times too high on a site in sixteen
# languages; beyond a factor of 50, something else limits the visits.
_TRIM_LIMIT = 4.0
# A stall of any length moves the price by at most a day, so that nothing bursts after it.
_LONGEST_STALL_DAYS = 1.0
_START_MINUTES = 30.0
# How long the grant of a new site waits for a slow host or a daemon that is down; what is left lapses.
_GRANT_SECONDS = DAY
# A site of which few requests a day may be made is one to be careful with.
_MOST_GRANTED_DAYS = 2
# A site counts as known from this weight on: a link a year.
_LEAST = 0.01


@dataclass(frozen=True, slots=True)
class BudgetState(JsonState):
    """Where a budget stands."""

    trim: float = 0.0
    """Logarithm of price over anchor."""
    tokens: float = 0.0
    """Unused grants; negative = overdrawn."""
    updated_at: float = 0.0
    """0 = never used."""
    started_at: float = 0.0
    used: tuple[float, ...] = ()
    """Requests by hour, the current hour first, 24 of them."""
    visited: tuple[float, ...] = ()
    """Hub visits among them."""
    habit: tuple[float, ...] = ()
    """Hub visits by hour of the day (UTC), averaged over about a week; empty = unknown."""
    per_day: float = 0.0
    """The budget when last used, for read-only callers."""
    floor_minutes: float = 0.0
    """Price of a budget shared with other sites; the higher price counts."""
    granted: float = 0.0
    """Requests that the grant of a new site has paid for; not among those used."""

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
    def made_lately(self) -> float:
        """All requests since a day ago: those used, and those of the grant."""
        young = self.updated_at - self.started_at < DAY
        return self.used_lately + (self.granted if young else 0.0)

    @property
    def made_today(self) -> float:
        """The same since midnight, UTC."""
        began_today = self.started_at // DAY == self.updated_at // DAY
        return self.used_today + (self.granted if began_today else 0.0)

    @property
    def _hour(self) -> int:
        return int(self.updated_at // HOUR) % 24


@_REMEMBERED
def advance(state: BudgetState, requests_per_day: float, now: float) -> BudgetState:
    """Return *state* at *now*: grants added, price and averages updated."""
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
    # A clock that goes back grants nothing and forgets nothing.
    days = min(max(now - state.updated_at, 0.0) / DAY, _LONGEST_STALL_DAYS)
    trim = state.trim
    if requests_per_day > 0:  # the price keeps its corrections
        trim += _GAIN * _lead(state, requests_per_day) * days
        trim = min(max(trim, -_TRIM_LIMIT), _TRIM_LIMIT)
    most = max(requests_per_day * SAVED_DAYS, 1.0)
    hours = min(max(int(now // HOUR) - int(state.updated_at // HOUR), 0), 24)
    return replace(
        state,
        trim=trim,
        tokens=filled(state.tokens, requests_per_day, now - state.updated_at, most),
        updated_at=now,
        used=(0.0,) * hours + state.used[: 24 - hours],
        visited=(0.0,) * hours + state.visited[: 24 - hours],
        habit=_habit(state, now) if hours else state.habit,
        per_day=requests_per_day,
    )


def _habit(state: BudgetState, now: float) -> tuple[float, ...]:
    """Return the usual visits by hour, updated; unknown before the first whole day, unchanged by a stall."""
    first = int(state.updated_at // HOUR)
    if now - state.started_at < DAY or now - state.updated_at > DAY / 2:
        return state.habit
    if not state.habit:
        return tuple(state.visited[(first - hour) % 24] for hour in range(24))
    habit = list(state.habit)
    # Hours after the day was used up do not show demand: an even share is assumed, or they would never
    # get visits again.
    closed = state.used_today + 1 > max(math.ceil(state.per_day), 1)
    least = left_for_visits(state, state.per_day) / 24 if closed else 0.0
    for passed in range(int(now // HOUR) - first):
        hour = (first + passed) % 24
        visits = max(state.visited[0] if passed == 0 else 0.0, least)
        habit[hour] += (visits - habit[hour]) / _HABIT_DAYS
    return tuple(habit)


def grant_left(state: BudgetState, grant: float, requests_per_day: float, now: float) -> float:
    """Return how much of a new site's *grant* (requests) is left; negative = the last visit took more."""
    if state.started_at and now - state.started_at >= _GRANT_SECONDS:
        return 0.0
    return min(grant, _MOST_GRANTED_DAYS * requests_per_day) - state.granted


def spend(  # noqa: PLR0913 - the kinds of requests, by name
    state: BudgetState,
    requests_per_day: float,
    now: float,
    *,
    visits: int = 0,
    others: int = 0,
    granted: int = 0,
) -> BudgetState:
    """Return *state* after *visits* of hubs, *others* of any other kind, and *granted* beyond the budget."""
    state = advance(state, requests_per_day, now)
    count = visits + others
    return replace(
        state,
        granted=state.granted + granted,
        # May be overdrawn, and is taken off the rest of the day: robots.txt, and what is worthless later
        # (the next page of a list that overflowed) do not wait for a grant.
        tokens=state.tokens - count,
        used=(state.used[0] + count, *state.used[1:]),
        visited=(state.visited[0] + visits, *state.visited[1:]),
    )


def reserve_at(state: BudgetState, requests_per_day: float, now: float) -> float:
    """Return from when on enough is saved up for low-value requests."""
    if requests_per_day <= 0:
        return math.inf
    # The rest is reserved for news, which comes in batches, and each new page is read.
    wanted = max(requests_per_day * SAVED_DAYS * RESERVE_SHARE, 1.0)
    tokens = advance(state, requests_per_day, now).tokens
    return max(now, now + (wanted - tokens) / requests_per_day * DAY)


def even_share(
    state: BudgetState, requests_per_day: float, now: float, own: float = LOW_VALUE_SHARE
) -> float:
    """Return after which share of the day's hours, at most 1, a low-value request leaves enough to the lists.

    Such requests have a part of each hour, *own*. Beyond it the day must have as many requests left as its
    hours ask for, or nearly.
    """
    if requests_per_day <= 0:
        return 1.0
    state = advance(state, requests_per_day, now)
    # What was saved overnight was soon spent on articles, and a recorded site's day ended at three in the
    # afternoon: its feed was read every 40 minutes until then, and not once in the nine hours after.
    even = (state.used_today / requests_per_day - _AHEAD) / (1 - _AHEAD)
    # Without a part of their own, lists that use up every hour would leave them none.
    spent = (state.used_today - state.visited_today) / (own * requests_per_day)
    return min(even, spent, 1.0)


def open_at(state: BudgetState, requests_per_day: float, now: float) -> float:
    """Return the earliest time all limits allow a request; infinite = never."""
    if requests_per_day <= 0:
        return math.inf
    state = advance(state, requests_per_day, now)
    granted = granted_at(state.tokens, requests_per_day, now)
    # With a clock that went back the state is ahead of now: its hour counts as the current one.
    at = max(now, state.updated_at)
    if state.used_today + 1 > max(math.ceil(requests_per_day), 1):
        return max(granted, (at // DAY + 1) * DAY)
    # Four times the mean, but a small budget may still make a few requests in a row.
    an_hour = max(requests_per_day / 6, min(6.0, requests_per_day / 2), 1.0)
    return granted if state.used[0] + 1 <= an_hour else max(granted, (at // HOUR + 1) * HOUR)


@_REMEMBERED
def left_for_visits(state: BudgetState, requests_per_day: float) -> float:
    """Return the hub visits per day that other requests leave."""
    others = state.used_lately - sum(state.visited)
    young = state.updated_at - state.started_at < YOUNG_SECONDS
    return max(
        requests_per_day - others,
        requests_per_day * (YOUNG_VISITS_SHARE if young else VISITS_SHARE),
    )


@_REMEMBERED
def price_minutes(state: BudgetState, requests_per_day: float, weight_total: float) -> float:
    """Return the price: what a visit must be worth, in minutes of accrued delay.

    *weight_total* is the sum over hubs of the square roots of their rates per hour.
    """
    left = left_for_visits(state, requests_per_day)
    if left <= 0:
        return math.inf
    # Visits by the square-root law at price C link-hours come weight_total / sqrt(2 C) times an hour; the
    # anchor is that solved for C.
    anchor = (max(weight_total, _LEAST) * 24 / left) ** 2 / 2 * 60
    if weight_total <= _LEAST and state.updated_at - state.started_at < YOUNG_SECONDS:
        anchor = _START_MINUTES
    steered = anchor * math.exp(state.trim + _STRENGTH * _lead(state, requests_per_day))
    return max(steered, state.floor_minutes)


def _lead(state: BudgetState, requests_per_day: float) -> float:
    """Return how far the day's visits are ahead of the plan, as a logarithm; negative = behind."""
    if not state.updated_at:
        return 0.0
    left = left_for_visits(state, requests_per_day)
    at = state.updated_at % DAY
    planned = left * (1.0 - at / DAY)
    if state.habit:
        hour = int(at // HOUR)
        usual = sum(state.habit[hour + 1 :]) + state.habit[hour] * (1.0 - at % HOUR / HOUR)
        # The habit gives the hours, not the number.
        usual *= left / max(sum(state.habit), _LEAST)
        planned = _EVEN * planned + (1 - _EVEN) * usual
    room = max(_AIM * left - state.visited_today, 0.0)
    # Ahead of the plan the price rises, so that visits thin out instead of ending; behind, it falls, so
    # that nothing is left over at midnight.
    lead = math.log((planned + _DOUBT) / (room + _DOUBT))
    return min(max(lead, -_LARGEST_LEAD), _LARGEST_LEAD)
