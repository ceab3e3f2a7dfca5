"""The hours of the week and the minutes of the hour: integrals, their inverses, and learning."""

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incremental.schedule.profile import (
    BINS,
    FLAT,
    WEEK,
    Shape,
    learned_hours,
    learned_minutes,
    spread,
)

START = 480_000.0
"""An hour in this century."""


def _mean_one(values: list[float]) -> tuple[float, ...]:
    return tuple(value * len(values) / sum(values) for value in values)


rates = st.floats(0.01, 20.0)
shapes = st.builds(
    lambda hours, minutes: Shape(_mean_one(hours), _mean_one(minutes)),
    st.lists(rates, min_size=WEEK, max_size=WEEK),
    st.lists(rates, min_size=BINS, max_size=BINS),
)
spans = st.floats(0.0, 500.0)


def _summed(shape: Shape, start: float, end: float) -> tuple[float, float]:
    """Integrate bin by bin, as slowly and plainly as it can be done."""
    edges = [start, *(k / BINS for k in range(int(start * BINS) + 1, math.ceil(end * BINS))), end]
    links = delay = 0.0
    for left, right in pairwise(edges):
        rate = shape.at((left + right) / 2)
        delay += links * (right - left) + rate * (right - left) ** 2 / 2
        links += rate * (right - left)
    return links, delay


@settings(deadline=None, max_examples=25)
@given(shape=shapes, offset=spans, span=st.floats(0.01, 300.0))
def test_integrals_are_those_of_the_step_function(shape: Shape, offset: float, span: float) -> None:
    start = START + offset
    links, delay = shape.integrals(start, start + span)
    plain_links, plain_delay = _summed(shape, start, start + span)
    assert links == pytest.approx(plain_links, rel=1e-6, abs=1e-6)
    assert delay == pytest.approx(plain_delay, rel=1e-6, abs=1e-6)


@settings(deadline=None, max_examples=100)
@given(
    shape=shapes,
    offset=spans,
    goal=st.floats(1e-3, 1e4),
    waiting=st.floats(0, 50),
    rate=st.floats(0.01, 100),
)
def test_the_moment_of_a_delay_is_exact_to_the_second(
    shape: Shape, offset: float, goal: float, waiting: float, rate: float
) -> None:
    start = START + offset
    at = shape.hour_of_delay(start, goal, waiting, rate)
    second = 1 / 3600

    def accrued(hour: float) -> float:
        return waiting * (hour - start) + rate * shape.integrals(start, hour)[1]

    if math.isinf(at):
        assert accrued(start + 4 * WEEK) <= goal
    else:
        assert accrued(at - second) <= goal <= accrued(at + second)


@settings(deadline=None, max_examples=50)
@given(shape=shapes, offset=spans, goal=st.floats(1e-3, 500), rate=st.floats(0.5, 100))
def test_the_moment_of_a_number_of_links_is_exact_to_the_second(
    shape: Shape, offset: float, goal: float, rate: float
) -> None:
    start = START + offset
    at = shape.hour_of_links(start, goal, rate)
    if not math.isinf(at):
        before, after = (rate * shape.integrals(start, at + d / 3600)[0] for d in (-1, 1))
        assert before <= goal <= after


def test_a_flat_rate_gives_the_square_root_law() -> None:
    """Delay is rate t^2 / 2, so the moment grows with the square root of the goal."""
    assert FLAT.integrals(START, START + 10) == pytest.approx((10, 50))
    assert FLAT.hour_of_delay(START, 2.0, 0.0, 4.0) == pytest.approx(START + 1)
    assert FLAT.hour_of_delay(START, 8.0, 0.0, 4.0) == pytest.approx(START + 2)


def test_no_time_and_time_that_runs_backwards_bring_nothing() -> None:
    assert FLAT.integrals(START, START) == (0.0, 0.0)
    assert FLAT.integrals(START, START - 5) == (0.0, 0.0)


def test_nothing_that_never_comes_is_waited_for() -> None:
    assert math.isinf(FLAT.hour_of_delay(START, 1.0, 0.0, 1e-9))
    assert math.isinf(FLAT.hour_of_links(START, 1.0, 1e-9))


counts = st.lists(st.floats(0, 1000), min_size=WEEK, max_size=WEEK)


@settings(deadline=None, max_examples=50)
@given(counts=counts)
def test_learned_hours_are_a_rate_with_mean_one(counts: list[float]) -> None:
    hours = learned_hours(counts, FLAT.hours)
    assert sum(hours) == pytest.approx(WEEK)
    assert min(hours) > 0


def test_without_links_the_prior_stands() -> None:
    prior = _mean_one([1.0 + hour % 24 for hour in range(WEEK)])
    assert learned_hours([0.0] * WEEK, prior) == prior
    assert learned_minutes([0.0] * BINS, FLAT.minutes) == FLAT.minutes


def test_a_day_that_repeats_is_learned_from_few_links_also_for_days_without_any() -> None:
    counts = [10.0 if hour in {9, 33, 57} else 0.0 for hour in range(WEEK)]
    hours = learned_hours(counts, FLAT.hours)
    assert hours[5 * 24 + 9] > 1.5 * hours[5 * 24 + 21]


def test_links_are_spread_within_their_interval_and_none_is_lost() -> None:
    hours, minutes = spread(FLAT, START + 0.5, START + 3.25, 11.0)
    assert sum(hours.values()) == pytest.approx(11)
    assert sum(minutes) == pytest.approx(11)
    assert set(hours) == {int(START + k) % WEEK for k in range(4)}


def test_visits_at_odd_minutes_find_the_minute_at_which_a_site_publishes() -> None:
    """Everything comes at minute 2; visits every 50 minutes tell so after some days."""
    shape, counts = FLAT, [0.0] * BINS
    for visit in range(300):
        start, end = START + visit * 50 / 60, START + (visit + 1) * 50 / 60
        links = int(end - 2 / 60) - int(start - 2 / 60)
        added = spread(shape, start, end, float(links))[1]
        counts = [0.98 * old + new for old, new in zip(counts, added, strict=True)]
        shape = Shape(FLAT.hours, learned_minutes(counts, FLAT.minutes))
    assert max(range(BINS), key=lambda index: shape.minutes[index]) == 0
