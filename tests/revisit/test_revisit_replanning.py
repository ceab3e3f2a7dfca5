"""A site that rests is planned again when its price has fallen, and is not looked at before."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from incremental.base.times import DAY, HOUR
from incremental.schedule.budget import BudgetState, advance, price_minutes, spend
from incremental.schedule.replanning import LEAST_SECONDS, MOST_SECONDS, is_due, next_at

NOW = 20_000 * DAY


def price_of(budget: BudgetState, at: float) -> float:
    return price_minutes(advance(budget, 48.0, at), 48.0, 0.5)


def test_a_plan_is_kept_while_the_price_is_about_the_same() -> None:
    assert not is_due(NOW, 10.0, lambda _: 9.1, NOW + 2 * HOUR)
    assert is_due(NOW, 10.0, lambda _: 8.9, NOW + 2 * HOUR)
    assert not is_due(NOW, 10.0, lambda _: 1.0, NOW + LEAST_SECONDS - 1)
    assert is_due(NOW, 10.0, lambda _: 10.0, NOW + MOST_SECONDS)
    assert is_due(NOW, 10.0, lambda _: 10.0, NOW - 1)


def test_what_will_be_cheaper_tonight_is_looked_at_tonight() -> None:
    def price(at: float) -> float:
        return 5.0 if at >= NOW + 3.5 * HOUR else 10.0

    assert next_at(NOW, 10.0, price, NOW) == NOW + 4 * HOUR
    assert next_at(NOW, 4.0, price, NOW) == NOW + MOST_SECONDS
    assert next_at(0.0, 0.0, price, NOW) == NOW + HOUR


@given(
    visited=st.integers(0, 60),
    trim=st.floats(-1, 1),
    hour=st.floats(0, 23.9),
    waited=st.floats(0, 7 * HOUR),
)
def test_looking_every_hour_would_find_nothing_before(
    visited: int, trim: float, hour: float, waited: float
) -> None:
    at = NOW + hour * HOUR
    begun = advance(replace(BudgetState(), trim=trim), 48.0, at)
    budget = spend(begun, 48.0, at, visits=visited)
    price: Callable[[float], float] = partial(price_of, budget)
    now = at + waited
    found = next_at(at, price(at), price, now)
    assert now < found <= max(at + MOST_SECONDS, now) + HOUR
    assert is_due(at, price(at), price, found)
    hours = range(1, round((found - now) / HOUR))
    assert not any(is_due(at, price(at), price, now + one * HOUR) for one in hours)
