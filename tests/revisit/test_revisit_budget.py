"""The budget: what a day allows, and what the price does about it."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incremental.schedule.budget import (
    BudgetState,
    advance,
    left_for_visits,
    open_at,
    price_minutes,
    spend,
)

NOW = 1_760_000_000.0
HOUR, DAY = 3600.0, 86_400.0


def _greedy(per_day: float, start: float, end: float, state: BudgetState) -> list[float]:
    """Ask as soon as it is allowed."""
    times, now = [], start
    while (now := open_at(state, per_day, now)) <= end:
        state = spend(state, per_day, now, visits=1)
        times.append(now)
    return times


@settings(deadline=None, max_examples=30)
@given(per_day=st.integers(1, 300), start=st.floats(NOW, NOW + DAY))
def test_a_day_never_holds_more_requests_than_its_budget(per_day: int, start: float) -> None:
    times = _greedy(per_day, start, start + 5 * DAY, BudgetState())
    for midnight in range(int(start // DAY), int(start // DAY) + 6):
        assert sum(at // DAY == midnight for at in times) <= per_day


@settings(deadline=None, max_examples=30)
@given(per_day=st.integers(12, 300))
def test_who_always_asks_gets_the_budget_within_two_percent(per_day: int) -> None:
    times = _greedy(per_day, NOW, NOW + 10 * DAY, BudgetState())
    settled = [at for at in times if at > NOW + 2 * DAY]
    assert len(settled) / 8 == pytest.approx(per_day, rel=0.02, abs=0.5)


@pytest.mark.parametrize("per_day", [12, 48, 480])
def test_bursts_are_bounded_by_four_times_the_mean(per_day: int) -> None:
    times = _greedy(per_day, NOW, NOW + 3 * DAY, BudgetState())
    by_hour = [sum(at // HOUR == hour for at in times) for hour in {at // HOUR for at in times}]
    assert max(by_hour) <= max(per_day / 6, 6)


@pytest.mark.parametrize("per_day", [0.25, 0.5, 2.0])
def test_less_than_a_request_a_day_comes_evenly(per_day: float) -> None:
    times = _greedy(per_day, NOW, NOW + 60 * DAY, BudgetState())
    assert len(times) == pytest.approx(60 * per_day, abs=2)
    assert all(later - sooner > 0.2 * DAY / per_day for sooner, later in pairwise(times[1:]))


def test_a_budget_of_zero_never_opens_and_has_no_price() -> None:
    assert math.isinf(open_at(BudgetState(), 0, NOW))
    assert math.isinf(price_minutes(BudgetState(), 0, 1.0))
    assert advance(advance(BudgetState(), 0, NOW), 0, NOW + DAY).tokens == 0


def test_after_a_stall_of_days_the_site_is_not_flooded() -> None:
    state = spend(BudgetState(), 48, NOW, visits=12)
    times = _greedy(48, NOW + 9 * DAY, NOW + 9 * DAY + HOUR, state)
    assert len(times) <= 2 * 8  # two clock hours at four times the mean


def test_a_clock_that_goes_back_grants_nothing() -> None:
    spent = spend(BudgetState(), 48, NOW, visits=10)
    back = advance(spent, 48, NOW - 5 * HOUR)
    assert (back.tokens, back.used_lately) == (spent.tokens, spent.used_lately)
    assert open_at(back, 48, NOW - 5 * HOUR) < NOW + DAY


def test_a_clock_that_jumps_ahead_grants_a_day_at_most() -> None:
    state = spend(BudgetState(), 48, NOW, visits=12)
    assert advance(state, 48, NOW + 400 * DAY).tokens <= 24


def test_the_anchor_is_the_price_of_the_square_root_law() -> None:
    """One hub with one link an hour and a visit an hour: half an hour of delay piles up."""
    assert price_minutes(BudgetState(), 24, 1.0) == pytest.approx(30)
    assert price_minutes(BudgetState(), 48, 1.0) == pytest.approx(30 / 4)
    assert price_minutes(BudgetState(floor_minutes=99), 48, 1.0) == 99


def test_a_site_known_for_weeks_that_is_silent_does_not_cost_what_an_unknown_one_does() -> None:
    """Its feed was read every two hours, with most of its budget left."""
    young = advance(BudgetState(), 48, NOW)
    assert price_minutes(young, 48, 0.0) > 10
    old = replace(young, started_at=NOW - 100 * DAY)
    assert price_minutes(old, 48, 0.0) < 0.1


def test_the_price_rises_while_visits_are_too_many_and_falls_while_they_are_too_few() -> None:
    busy = idle = advance(BudgetState(), 24, NOW)
    for hour in range(1, 49):
        busy = spend(busy, 24, NOW + hour * HOUR, visits=2)
        idle = spend(idle, 24, NOW + hour * HOUR, visits=hour % 4 == 0)
    assert idle.trim < -0.5 < 0.5 < busy.trim


def test_other_requests_leave_less_for_visits_but_never_less_than_a_part() -> None:
    state = BudgetState()
    for hour in range(48):
        state = spend(state, 48, NOW + hour * HOUR, others=1)
    assert left_for_visits(state, 48) == 24
    assert left_for_visits(state, 24) == 12
    settled = replace(state, started_at=NOW - 8 * DAY)
    assert left_for_visits(settled, 48) == 36


def _after(visits: int, hour: float) -> BudgetState:
    """Return the state at an hour of a settled site's day, with so many visits since midnight."""
    midnight = NOW - NOW % DAY
    state = BudgetState(
        updated_at=midnight - HOUR,
        started_at=midnight - 30 * DAY,
        used=(0.0,) * 24,
        visited=(0.0,) * 24,
        habit=(2.0,) * 24,
    )
    return advance(spend(state, 48, midnight, visits=visits), 48, midnight + hour * HOUR)


@pytest.mark.parametrize("hour", [6.0, 12.0, 18.0, 23.5])
def test_the_price_falls_behind_the_plan_of_the_day_and_rises_ahead_of_it(hour: float) -> None:
    """Two visits an hour are usual: with less than that by now nothing must be left over at midnight."""
    usual = round(2 * hour)
    behind, even, ahead = (
        price_minutes(replace(_after(visits, hour), trim=0.0), 48, 1.0)
        for visits in (usual - 10, usual, min(usual + 10, 48))
    )
    assert behind < 0.8 * even
    assert ahead > 1.25 * even or hour > 23
    assert even == pytest.approx(7.5, rel=0.2) or hour > 23


def test_the_plan_follows_the_habits_of_the_day() -> None:
    """Who is always visited in the evening is not behind at noon."""
    evening = (0.0,) * 18 + (8.0,) * 6
    noon = replace(_after(1, 12.0), habit=evening, trim=0.0)
    assert price_minutes(noon, 48, 1.0) > 1.3 * price_minutes(
        replace(_after(1, 12.0), trim=0.0), 48, 1.0
    )


def test_habits_are_learned_in_a_week_and_a_stall_is_none() -> None:
    state, midnight = BudgetState(), NOW - NOW % DAY
    for hour in range(14 * 24):
        at = midnight + hour * HOUR
        state = spend(state, 48, at, visits=3 * (hour % 24 >= 12))
    assert sum(state.habit[:12]) == pytest.approx(0, abs=0.5)
    assert state.habit[12:] == pytest.approx((3.0,) * 12, abs=0.5)
    assert advance(state, 48, at + 9 * DAY).habit == state.habit


def test_an_evening_without_visits_because_the_day_was_used_up_is_no_habit() -> None:
    """Else a site that was shut once at seven would be shut at seven every day."""
    state, midnight = BudgetState(), NOW - NOW % DAY
    for hour in range(14 * 24):
        at = midnight + hour * HOUR
        busy = 4 * (hour % 24 < 12)
        state = spend(state, 48, at, visits=busy) if busy else advance(state, 48, at)
    assert state.habit[12:23] == pytest.approx((2.0,) * 11, abs=0.5)


def test_the_state_survives_as_json() -> None:
    state = spend(BudgetState(), 48, NOW, visits=3, others=2)
    assert BudgetState.from_text(state.to_text()) == state
