"""What one visit adds to the counts, by exact numbers: limits, fading, hours, dates."""

from dataclasses import replace
from typing import Any

import pytest

from incremental.schedule.profile import FLAT
from incremental.schedule.rates import (
    count_visit,
    learn_hours,
    novel_rate_of,
    rate_of,
    reshaped,
    seen,
    weight_of,
)
from incremental.schedule.state import HubState, SiteState, Visit

NOW = 1_760_000_000.0
HOUR, DAY = 3600.0, 86_400.0
SITE = SiteState()
HUB = HubState(key="a", visited_at=NOW, first_at=NOW, visits=9, shown=20)


def after(
    hours: float, hub: HubState = HUB, open_hours: float | None = None, **visit: Any
) -> HubState:
    return count_visit(hub, Visit(at=NOW + hours * HOUR, **visit), open_hours)


def hours_of(hub: HubState, hours: float, **visit: Any) -> tuple[HubState, SiteState]:
    return learn_hours(hub, SITE, Visit(at=NOW + hours * HOUR, **visit), FLAT)


def test_links_and_hours_add_up_and_fade_by_half_in_fourteen_days() -> None:
    hub = after(10, novel=3)
    assert (hub.novel, hub.exposure_hours, hub.open_hours) == (3.0, 10.0, 10.0)
    hub = count_visit(replace(HUB, novel=8.0, exposure_hours=40.0), Visit(at=NOW + 14 * DAY))
    assert (hub.novel, hub.exposure_hours) == pytest.approx((4.0, 20.0 + 336.0))


def test_no_visit_counts_for_more_than_a_month_of_watching() -> None:
    assert after(40 * 24).exposure_hours == 31 * 24


def test_what_neighbours_took_away_is_no_open_time_and_never_more_than_there_was() -> None:
    assert after(10, open_hours=4.0).open_hours == 4.0
    assert after(10, open_hours=40.0).open_hours == 10.0


def test_a_visit_counts_for_a_hundred_links_or_twenty_times_what_was_expected() -> None:
    assert after(1, novel=100).novel == 100.0
    assert after(1, novel=101).novel == 100.0
    busy = replace(HUB, novel=100.0, open_hours=8.0)  # (0.5 + 100) / (2 + 8) an hour
    assert after(1, busy, novel=5000).novel == pytest.approx(100 + 20 * 10.05, rel=0.01)


def test_what_a_visit_says_besides_links_is_kept() -> None:
    hub = after(2, novel=1, shown=7, all_new=True, wait_seconds=5.0, shared={"b": 2})
    assert (hub.shown, hub.young, hub.censored, hub.visits) == (7, 3, True, 10)
    assert (hub.visited_at, hub.tried_at, hub.last_novel_at) == (NOW + 2 * HOUR,) * 3
    assert (hub.wait_until, hub.first_at, hub.failures) == (NOW + 2 * HOUR + 5, NOW, 0)
    quiet = after(2, replace(hub, owed_at=NOW), all_new=True)
    assert (quiet.shown, quiet.young, quiet.censored, quiet.wait_until) == (7, 0, False, 0.0)
    assert quiet.owed_at == 0.0
    assert not after(2, novel=1, all_new=True, baseline=True).censored
    assert after(2, novel=1, baseline=True).young == 0
    assert after(2, replace(HUB, owed_at=NOW), failed=True).owed_at == NOW


def test_change_hints_are_counted_with_the_visit_that_they_led_to() -> None:
    hinted = replace(HUB, hinted_at=NOW, hints=2.0, hints_confirmed=1.0)
    for novel, kept in ((1, 2.0), (0, 1.0)):
        hub = after(1, hinted, novel=novel)
        assert (hub.hints, hub.hints_confirmed, hub.hinted_at) == (3.0, kept, 0.0)
    assert after(1, novel=1).hints == 0


def test_the_share_of_unchanged_visits_is_a_mean_over_the_last_twenty() -> None:
    assert after(1, replace(HUB, visits=1), not_modified=True).unmodified == 0.5
    assert after(1, replace(HUB, visits=500), not_modified=True).unmodified == 0.05
    assert after(1, replace(HUB, visits=3, unmodified=0.8)).unmodified == pytest.approx(0.6)


def test_of_a_young_link_that_went_half_the_time_is_counted() -> None:
    hub = after(4, replace(HUB, young=6), vanished=2)
    assert (hub.vanished, hub.young_hours) == (2.0, 4 * (6 - 1))
    assert after(4, replace(HUB, young=6), vanished=9).vanished == 6.0


def test_links_are_judged_only_where_somebody_asks_for_a_topic() -> None:
    assert after(1, novel=4, relevant=1.5).judged == 4
    assert after(1, novel=4, relevant=1.5).relevant == 1.5
    assert after(1, novel=4).judged == 0


@pytest.mark.parametrize(
    ("days", "novel", "hours"),
    [
        ((), 0.0, 0.0),
        ((1,), 0.0, 0.0),
        ((1, 2), 1.0, 24.0),
        ((0, 0), 1.0, 0.5),
        ((1, 10), 1.0, 120.0),
        ((1, 20), 0.5, 168.0),
        ((-1, 1, 2), 1.0, 24.0),
    ],
)
def test_dates_of_a_baseline_count_half_and_two_weeks_back(
    days: tuple[float, ...], novel: float, hours: float
) -> None:
    """Given: how many days ago. What is dated in the future is no evidence."""
    dates = tuple(NOW - day * DAY for day in days)
    hub = count_visit(HubState(), Visit(at=NOW, baseline=True, published=dates))
    assert (hub.novel, hub.exposure_hours, hub.open_hours) == pytest.approx((novel, hours, hours))


def test_many_dates_count_as_one_batch() -> None:
    dates = tuple(NOW - n * HOUR for n in range(150))
    hub = count_visit(HubState(), Visit(at=NOW, baseline=True, published=dates))
    assert (hub.novel, hub.exposure_hours) == (50.0, 74.5)


def test_rates_are_shrunk_to_the_prior() -> None:
    hub = replace(HUB, novel=9.5, exposure_hours=38.0, open_hours=18.0)
    assert novel_rate_of(hub, SITE) == 0.25
    assert rate_of(hub, SITE) == 0.5
    assert rate_of(replace(hub, censored=True), SITE) == 0.75
    assert weight_of(replace(HUB, novel=8.0, exposure_hours=0.0), 4.0) == 4.0
    assert weight_of(HUB, 1.0) == 1e-6


# --- hours of the week -------------------------------------------------------------------------


def test_links_are_placed_in_the_time_since_the_last_visit() -> None:
    hub, site = hours_of(HUB, 6, novel=3, shared={"b": 1})
    assert sum(hub.hours) == pytest.approx(4.0)
    assert sum(hub.minutes) == pytest.approx(4.0)
    assert sum(site.hours) == pytest.approx(3.0)
    assert sum(site.minutes) == pytest.approx(3.0)
    first = int(NOW // HOUR) % 168
    assert {n for n, value in enumerate(hub.hours) if value} <= {
        (first + n) % 168 for n in range(7)
    }


def test_no_more_than_twelve_links_of_a_visit_say_when_links_come() -> None:
    assert sum(hours_of(HUB, 6, novel=12)[0].hours) == pytest.approx(12.0)
    assert sum(hours_of(HUB, 6, novel=50)[0].hours) == pytest.approx(12.0)


@pytest.mark.parametrize(
    ("hours", "learned"), [(24.0, True), (24.1, False), (0.0, False), (-1.0, False)]
)
def test_what_was_not_looked_at_for_a_day_says_nothing_of_hours(
    hours: float, *, learned: bool
) -> None:
    # Whole hours, so that a day is a day in floats too.
    hub = replace(HUB, visited_at=NOW // HOUR * HOUR)
    made = Visit(at=hub.visited_at + hours * HOUR, novel=2)
    assert bool(learn_hours(hub, SITE, made, FLAT)[0].hours) is learned


@pytest.mark.parametrize("visit", [{"failed": True}, {"baseline": True}, {"novel": 0}])
def test_visits_without_links_say_nothing_of_hours(visit: dict[str, Any]) -> None:
    assert hours_of(HUB, 3, **{"novel": 2, **visit}) == (HUB, SITE)
    assert hours_of(replace(HUB, visited_at=0.0), 3, novel=2)[0].hours == ()


def test_hours_fade_by_half_in_four_weeks_and_minutes_in_two() -> None:
    old = replace(HUB, hours=(8.0,) * 168, minutes=(8.0,) * 12, counted_at=NOW - 28 * DAY + HOUR)
    hub, _ = hours_of(old, 1, novel=1)
    assert sum(hub.hours) == pytest.approx(168 * 4.0 + 1)
    assert sum(hub.minutes) == pytest.approx(12 * 2.0 + 1)
    assert hub.counted_at == NOW + HOUR


def test_dates_place_links_where_half_of_them_have_one() -> None:
    at = (NOW // DAY + 1) * DAY
    hub = replace(HUB, visited_at=at)
    dated = Visit(at=at + 5 * HOUR, novel=2, published=(at + 2.25 * HOUR,))
    found, _ = learn_hours(hub, SITE, dated, FLAT)
    hour = int(at // HOUR + 2) % 168
    assert (found.hours[hour], found.minutes[3]) == (2.0, 2.0)
    for published in ((at,), (at + 6 * HOUR,), ()):
        spread, _ = learn_hours(hub, SITE, replace(dated, published=published), FLAT)
        assert spread.hours[hour] < 1
    few, _ = learn_hours(hub, SITE, replace(dated, novel=3), FLAT)
    assert few.hours[hour] < 1


def test_the_shape_of_a_site_is_made_again_every_six_hours() -> None:
    site = SiteState(hours=(1.0,) * 168, minutes=(1.0,) * 12, shaped_at=NOW)
    assert reshaped(site, NOW + 6 * HOUR - 1) is site
    later = reshaped(site, NOW + 6 * HOUR)
    assert (later.shaped_at, len(later.shape), len(later.pulse)) == (NOW + 6 * HOUR, 168, 12)
    assert reshaped(site, NOW - 6 * HOUR).shaped_at == NOW - 6 * HOUR
    assert reshaped(SITE, NOW) is SITE


def test_a_hub_without_a_name_is_seen_by_nobody() -> None:
    assert seen(SITE, HubState(), NOW) is SITE
    site = SITE
    for number in range(65):
        site = seen(site, HubState(key=str(number)), NOW + number)
    assert len(site.seen_at) == 64
    assert "0" not in site.seen_at
    assert seen(site, HubState(key="64"), NOW + 99).seen_at["64"] == NOW + 99
