"""The limits around the price: longest intervals, quick looks, retries, pings, hours."""

from math import inf

import pytest

from incremental.schedule.budget import BudgetState, left_for_visits
from incremental.schedule.pacing import (
    early_visit_at,
    in_window,
    longest_interval,
    retry_at,
)
from incremental.schedule.state import HubState, ListKind, SiteState, Terms

NOW = 1_760_000_000.0
MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
TERMS = Terms(requests_per_day=48)
USED_UP = BudgetState(updated_at=NOW, started_at=NOW, used=(0.0,) * 24, visited=(0.0,) * 24)


def _longest(
    quiet_days: float, *, hubs: int = 1, visits: float = 48, known_days: float = 0
) -> float:
    """Return the longest interval in days of a hub that brought nothing for so long."""
    novel_at = NOW - quiet_days * DAY
    hub = HubState(last_novel_at=novel_at, first_at=NOW - max(known_days, quiet_days) * DAY)
    terms = Terms(requests_per_day=visits)
    return longest_interval(hub, SiteState(hubs=hubs), USED_UP, terms, NOW) / DAY


@pytest.mark.parametrize(
    ("quiet_days", "days"), [(0, 1), (30, 1), (30.1, 7), (180, 7), (180.1, 90), (4000, 90)]
)
def test_what_is_silent_for_a_month_or_half_a_year_is_visited_weekly_or_quarterly(
    quiet_days: float, days: float
) -> None:
    assert _longest(quiet_days) == days


def test_a_hub_that_never_brought_anything_is_silent_since_it_was_first_read() -> None:
    hub = HubState(first_at=NOW - 31 * DAY)
    assert longest_interval(hub, SiteState(hubs=1), USED_UP, TERMS, NOW) == 7 * DAY


def test_a_tenth_of_the_visits_goes_to_hubs_only_because_of_their_longest_interval() -> None:
    assert _longest(0, hubs=48) == pytest.approx(10)
    assert _longest(0, hubs=4) == 1
    assert _longest(31, hubs=48) == pytest.approx(10)
    assert _longest(181, hubs=4800) == pytest.approx(1000)
    assert _longest(0, hubs=48, visits=0) == 1
    assert _longest(0, hubs=1, visits=0.5) == pytest.approx(20)


@pytest.mark.parametrize(("visits", "seconds"), [(1, 15 * MINUTE), (2, HOUR), (3, 4 * HOUR)])
def test_a_new_hub_is_visited_after_a_quarter_an_hour_and_four_hours(
    visits: int, seconds: float
) -> None:
    budget = BudgetState(updated_at=NOW, started_at=NOW, used=(0.0,) * 24, visited=(0.0,) * 24)
    plenty = Terms(requests_per_day=10_000)
    hub = HubState(visits=visits, visited_at=NOW)
    assert early_visit_at(hub, SiteState(hubs=1), budget, plenty) == NOW + seconds
    sparing = Terms(requests_per_day=48)
    mean = 30 / left_for_visits(budget, 48) * DAY
    assert early_visit_at(hub, SiteState(hubs=30), budget, sparing) == NOW + max(mean, seconds)
    assert early_visit_at(hub, SiteState(), budget, Terms(requests_per_day=1)) == NOW + DAY


@pytest.mark.parametrize("visits", [0, 4])
def test_a_hub_that_is_unread_or_well_known_gets_no_early_visit(visits: int) -> None:
    hub = HubState(visits=visits, visited_at=NOW)
    assert early_visit_at(hub, SiteState(hubs=1), BudgetState(), TERMS) == inf


@pytest.mark.parametrize(
    ("failures", "seconds"),
    [(1, 10 * MINUTE), (2, 20 * MINUTE), (3, 40 * MINUTE), (8, 1280 * MINUTE), (9, DAY), (40, DAY)],
)
def test_what_fails_is_tried_again_after_ten_minutes_doubling_up_to_a_day(
    failures: int, seconds: float
) -> None:
    hub = HubState(failures=failures, tried_at=NOW, visited_at=NOW - HOUR)
    assert retry_at(hub, NOW) == NOW + seconds
    never_read = HubState(failures=failures, tried_at=NOW)
    assert retry_at(never_read, NOW) == NOW + seconds


@pytest.mark.parametrize(
    ("days", "longest"), [(1, 1), (4, 2), (8, 4), (40, 20), (120, 60), (400, 90)]
)
def test_what_failed_for_days_is_tried_after_half_of_that_time(days: float, longest: float) -> None:
    hub = HubState(failures=60, tried_at=NOW, visited_at=NOW - days * DAY)
    assert retry_at(hub, NOW) == NOW + longest * DAY
    home = HubState(kind=ListKind.HOME, failures=60, tried_at=NOW, visited_at=NOW - days * DAY)
    assert retry_at(home, NOW) == NOW + DAY


def test_a_try_in_the_future_counts_as_made_now() -> None:
    assert retry_at(HubState(failures=1, tried_at=NOW + 9 * DAY), NOW) == NOW + 10 * MINUTE


@pytest.mark.parametrize(
    ("windows", "hour", "opens"),
    [
        ((), 3.0, 3.0),
        (((8, 18),), 8.0, 8.0),
        (((8, 18),), 17.9, 17.9),
        (((8, 18),), 18.0, 32.0),
        (((8, 18),), 3.0, 8.0),
        (((22, 6),), 23.0, 23.0),
        (((22, 6),), 5.9, 5.9),
        (((22, 6),), 6.0, 22.0),
        (((8, 9), (12, 13)), 9.0, 12.0),
        (((12, 13), (8, 9)), 14.0, 32.0),
    ],
)
def test_visits_wait_for_the_next_hours_that_are_allowed(
    windows: tuple[tuple[float, float], ...], hour: float, opens: float
) -> None:
    midnight = NOW // DAY * DAY
    terms = Terms(windows=windows)
    assert in_window(midnight + hour * HOUR, terms) == pytest.approx(midnight + opens * HOUR)


def test_never_stays_never() -> None:
    assert in_window(inf, Terms(windows=((8, 18),))) == inf
