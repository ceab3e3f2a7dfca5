"""How often a watched page is visited: by its own rate, the site's price, and the user's bounds."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental.schedule.refreshing import (
    LEAST_PRICE_MINUTES,
    LONGEST_SECONDS,
    Counted,
    WatchTerms,
    bounds,
    counted,
    interval_seconds,
)

DAY, HOUR, MINUTE = 86_400.0, 3_600.0, 60.0
TERMS = WatchTerms(30.0, 15 * MINUTE, DAY)
_SPANS = st.floats(0, 1e9)


def watched(every_seconds: float, days: float, checks_a_day: float = 24) -> Counted:
    """What is learned of a page that changes so often."""
    seen, step, since = Counted(), DAY / checks_a_day, 0.0
    for _ in range(int(days * checks_a_day)):
        since += step
        changed = since >= every_seconds
        since = 0.0 if changed else since
        seen = counted(seen, step, changed=changed)
    return seen


def test_the_rate_is_learned() -> None:
    assert watched(6 * HOUR, 60).rate == pytest.approx(1 / 360, rel=0.1)
    assert watched(10 * DAY, 60).rate == pytest.approx(1 / 14_400, rel=0.3)


def test_what_changes_more_often_is_visited_sooner() -> None:
    spans = [interval_seconds(watched(hours * HOUR, 30), TERMS) for hours in (2, 12, 96)]
    assert spans == sorted(spans)
    assert spans[0] < spans[1] / 2


def test_a_visit_is_due_when_its_delay_is_worth_the_price() -> None:
    seen = watched(12 * HOUR, 30)
    minutes = interval_seconds(seen, TERMS) / MINUTE
    assert seen.rate * minutes**2 / 2 == pytest.approx(TERMS.price_minutes)


def test_a_budget_that_nobody_uses_does_not_make_every_visit_worthwhile() -> None:
    free, least = WatchTerms(0.0, 1.0, DAY), WatchTerms(LEAST_PRICE_MINUTES, 1.0, DAY)
    assert interval_seconds(Counted(), free) == interval_seconds(Counted(), least) > HOUR


def test_old_changes_fade() -> None:
    busy = watched(2 * HOUR, 30)
    quiet = counted(busy, 90 * DAY, changed=False)
    assert interval_seconds(quiet, TERMS) > 2 * interval_seconds(busy, TERMS)


@pytest.mark.parametrize(
    ("every", "expected"),
    [
        (None, (900.0, LONGEST_SECONDS)),
        (7_200.0, (7_200.0, 7_200.0)),
        (60.0, (60.0, 60.0)),
        (10 * DAY, (10 * DAY, 10 * DAY)),
    ],
)
def test_what_the_user_gives_outranks_the_site(
    every: float | None, expected: tuple[float, float]
) -> None:
    assert bounds(every, 900.0, 30 * DAY) == expected


@given(
    st.lists(st.tuples(st.floats(-1e9, 1e9), st.booleans()), max_size=20), _SPANS, _SPANS, _SPANS
)
def test_the_interval_is_finite_and_within_bounds(
    seen: list[tuple[float, bool]], price: float, one: float, other: float
) -> None:
    state = Counted()
    for seconds, changed in seen:
        state = counted(state, seconds, changed=changed)
    terms = WatchTerms(price, min(one, other), max(one, other))
    wait = interval_seconds(state, terms)
    assert math.isfinite(wait)
    assert terms.min_seconds <= wait <= terms.max_seconds
