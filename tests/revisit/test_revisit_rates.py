"""What visits teach: rates, hours, overlap and what vanishes."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incremental.schedule.price import backlog, learn_overlap, loss_factor, most_links
from incremental.schedule.profile import FLAT
from incremental.schedule.rates import (
    LARGEST_BATCH,
    count_visit,
    novel_rate_of,
    pooled,
    prior_of,
    rate_of,
    seen,
)
from incremental.schedule.state import HubState, SiteState, Visit

NOW = 1_760_000_000.0
HOUR, DAY = 3600.0, 86_400.0
SITE = SiteState()


def _watched(links: int, hours: float, visits: int = 200) -> HubState:
    hub = count_visit(HubState(key="a"), Visit(at=NOW, baseline=True, shown=20))
    for number in range(1, visits + 1):
        hub = count_visit(hub, Visit(at=NOW + number * hours * HOUR, shown=20, novel=links))
    return hub


@pytest.mark.parametrize(("links", "hours"), [(0, 6.0), (1, 2.0), (3, 0.5), (1, 24.0)])
def test_the_rate_comes_near_to_links_over_hours(links: int, hours: float) -> None:
    assert rate_of(_watched(links, hours), SITE) == pytest.approx(links / hours, rel=0.1, abs=0.01)


def test_a_hub_that_changes_its_ways_is_followed_within_weeks() -> None:
    hub = _watched(links=4, hours=1.0, visits=24 * 60)
    start = hub.visited_at
    for number in range(1, 24 * 28):
        hub = count_visit(hub, Visit(at=start + number * HOUR))
    assert 0.5 < novel_rate_of(hub, SITE) < 1.3  # two half-lives: a quarter of four


def test_a_failed_visit_is_no_exposure() -> None:
    hub = _watched(links=1, hours=2.0, visits=10)
    failed = count_visit(hub, Visit(at=hub.visited_at + DAY, failed=True, wait_seconds=60))
    assert rate_of(failed, SITE) == rate_of(hub, SITE)
    assert (failed.failures, failed.visited_at) == (1, hub.visited_at)
    assert failed.wait_until == failed.tried_at + 60


def test_a_clock_that_went_back_is_no_exposure() -> None:
    hub = _watched(links=1, hours=2.0, visits=10)
    back = count_visit(hub, Visit(at=hub.visited_at - DAY, novel=0))
    assert back.exposure_hours == hub.exposure_hours


def test_a_clock_that_jumps_ahead_by_years_and_back_is_forgotten_within_days() -> None:
    hub = _watched(links=1, hours=1.0)
    now = hub.visited_at
    hub = count_visit(hub, Visit(at=now + 3650 * DAY))
    for number in range(1, 24 * 14):
        hub = count_visit(hub, Visit(at=now + number * HOUR, novel=1))
    assert rate_of(hub, SITE) > 0.4


def test_a_million_links_at_once_are_one_event() -> None:
    hub = _watched(links=0, hours=1.0, visits=100)
    burst = count_visit(hub, Visit(at=hub.visited_at + HOUR, shown=10**6, novel=10**6))
    assert burst.novel <= LARGEST_BATCH


def test_a_page_of_new_links_may_hide_more() -> None:
    hub = _watched(links=1, hours=2.0)
    full = count_visit(hub, Visit(at=hub.visited_at + HOUR, shown=20, novel=20, all_new=True))
    part = count_visit(hub, Visit(at=hub.visited_at + HOUR, shown=20, novel=20))
    assert rate_of(full, SITE) == pytest.approx(1.5 * rate_of(part, SITE))


def test_printed_dates_give_a_first_rate() -> None:
    """Ten entries, one every twelve hours: half of two a day, since dates count half."""
    dates = tuple(NOW - k * DAY / 2 for k in range(10))
    dated = count_visit(HubState(), Visit(at=NOW, baseline=True, shown=10, published=dates))
    plain = count_visit(HubState(), Visit(at=NOW, baseline=True, shown=10))
    assert rate_of(dated, SITE) * 24 == pytest.approx(2.3, abs=0.3)
    assert rate_of(plain, SITE) == 0.25


def test_a_new_hub_is_expected_to_be_like_its_sites_hubs() -> None:
    site = SITE
    for rate in (0.01, 0.02, 0.03, 0.02):
        site = pooled(site, HubState(), HubState(weight=rate**0.5))
    links, hours = prior_of(site)
    assert links / hours == pytest.approx(0.02)
    assert prior_of(SITE) == (0.5, 2.0)


def test_the_sites_sums_follow_each_hub() -> None:
    """A weight is the root of a rate: the sums are those of weights, of rates and of their squares."""
    site = pooled(pooled(SITE, HubState(), HubState(weight=2.0)), HubState(), HubState(weight=3.0))
    assert (site.hubs, site.weight_total) == (2, 5.0)
    assert (site.rate_total, site.rate_square_total) == (4.0 + 9.0, 16.0 + 81.0)
    site = pooled(site, HubState(weight=3.0), HubState(weight=1.0))
    assert (site.hubs, site.weight_total) == (2, 3.0)
    assert (site.rate_total, site.rate_square_total) == (4.0 + 1.0, 16.0 + 1.0)
    assert pooled(site, HubState(weight=9.0), HubState(weight=0.1)).rate_square_total == 0.0


def test_hubs_that_differ_much_say_little_of_a_new_one() -> None:
    """Moments: of rates 1, 1, 1 and 9 the mean is 3 and the variance 12, so 3/4 of a link weighs."""
    site = SITE
    for rate in (1.0, 1.0, 1.0, 9.0):
        site = pooled(site, HubState(), HubState(weight=rate**0.5))
    assert prior_of(site) == pytest.approx((0.75, 0.25))
    two = pooled(pooled(SITE, HubState(), HubState(weight=1)), HubState(), HubState(weight=1))
    assert prior_of(two) == (0.5, 2.0)
    assert prior_of(pooled(two, HubState(), HubState(weight=1))) == pytest.approx((1.0, 1.0))
    wild = SITE
    for rate in (1e-6, 1e-6, 1e-6, *(1e-6,) * 60, 9.0):
        wild = pooled(wild, HubState(), HubState(weight=rate**0.5))
    assert prior_of(wild)[0] == 0.05


weights = st.lists(st.floats(0.01, 10), min_size=1, max_size=20)


@settings(deadline=None)
@given(weights=weights)
def test_retired_hubs_leave_nothing_behind(weights: list[float]) -> None:
    site = SITE
    for weight in weights:
        site = pooled(site, HubState(), HubState(weight=weight))
    for weight in weights:
        site = pooled(site, HubState(weight=weight), HubState())
    assert site.hubs == 0
    assert site.weight_total == pytest.approx(0, abs=1e-6)


def test_what_a_neighbour_shows_waits_no_longer() -> None:
    hub = replace(_watched(1, 1.0, visits=3), overlaps={"b": [99.0, 99.0]})
    at = hub.visited_at + 2 * HOUR
    site = seen(SITE, HubState(key="b"), at)
    alone, helped = backlog(hub, SITE, FLAT, 1.0), backlog(hub, site, FLAT, 1.0)
    assert (alone.since, alone.links) == (hub.visited_at / HOUR, 0.0)
    assert helped.since == at / HOUR
    assert helped.links == pytest.approx(2 * 0.01)


def test_overlap_is_learned_from_what_the_neighbour_had_the_chance_to_show() -> None:
    hub, site = HubState(key="a", visited_at=NOW), seen(SITE, HubState(key="b"), NOW + HOUR)
    for number in range(1, 41):
        at = NOW + 2 * HOUR * number
        learned = learn_overlap(hub, site, Visit(at=at, novel=2, shared={"b": 2}), FLAT)
        site = seen(site, HubState(key="b"), at + HOUR)
        hub = replace(learned, visited_at=at)
    hits, chances = hub.overlaps["b"]
    assert hits / chances == pytest.approx(1.0, abs=0.01)  # 2 of 4 shared, and b could see half


def test_only_ten_neighbours_and_sixty_four_visits_are_kept() -> None:
    site = SITE
    for number in range(200):
        site = seen(site, HubState(key=f"h{number}"), NOW + number)
    shared = {f"h{number}": 1 + number for number in range(150, 200)}
    hub = learn_overlap(
        HubState(key="a", visited_at=NOW), site, Visit(at=NOW + DAY, shared=shared), FLAT
    )
    assert len(site.seen_at) == 64
    assert set(hub.overlaps) == {f"h{number}" for number in range(190, 200)}


def test_links_that_vanish_make_waiting_dearer() -> None:
    hub = _watched(links=0, hours=1.0, visits=1)
    for number in range(1, 100):
        at = hub.visited_at + HOUR
        hub = count_visit(hub, Visit(at=at, shown=30, novel=4, vanished=1 if number > 1 else 0))
    assert loss_factor(HubState()) == 1.0
    assert loss_factor(hub) == pytest.approx(1 + 24 * 0.25 / 0.9, rel=0.1)


@pytest.mark.parametrize(("shown", "links"), [(5, 1.94), (10, 5.73), (30, 23.5), (100, 90.9)])
def test_a_list_may_lose_one_link_in_a_hundred(shown: int, links: float) -> None:
    assert most_links(shown) == pytest.approx(links, rel=1e-3)
    assert most_links(shown + 3) > most_links(shown)


def test_states_survive_as_json() -> None:
    hub = replace(_watched(1, 1.0, visits=3), overlaps={"b": [1.0, 2.0]})
    site = seen(SITE, hub, NOW)
    assert HubState.from_text(hub.to_text()) == hub
    assert SiteState.from_text(site.to_text()[:-1] + ',"from_a_later_version":1}') == site
    assert HubState().to_text() == "{}"


def test_equal_lists_of_other_numbers_are_written_as_their_field_has_them() -> None:
    hub, site = HubState(hours=(1.0, 2.0)), SiteState(overflowed=(1, 2))
    assert HubState.from_text(hub.to_text()) == hub
    assert SiteState.from_text(site.to_text()) == site


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_no_state_is_written_that_could_not_be_read(number: float) -> None:
    for state in (
        HubState(interval=number),
        HubState(hours=(number,)),
        HubState(overlaps={"b": [number]}),
    ):
        with pytest.raises(ValueError, match="not JSON compliant"):
            state.to_text()
