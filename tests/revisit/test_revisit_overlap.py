"""Hubs that show the same links: what a neighbour showed waits no longer."""

from dataclasses import replace

import pytest

from incremental.schedule.price import Backlog, backlog, learn_overlap
from incremental.schedule.profile import FLAT
from incremental.schedule.rates import RATE_HALF_LIFE_DAYS, seen
from incremental.schedule.state import HubState, SiteState, Visit

NOW = 1_760_000_000.0
HOUR, DAY = 3600.0, 86_400.0
HUB = HubState(key="a", visited_at=NOW)


def _site(**hours: float) -> SiteState:
    """A site whose hubs were visited so many hours after NOW."""
    site = SiteState()
    for key, hour in hours.items():
        site = seen(site, HubState(key=key), NOW + hour * HOUR)
    return site


def _learned(
    hub: HubState, site: SiteState, hours: float, **visit: object
) -> dict[str, list[float]]:
    made = Visit(at=NOW + hours * HOUR, **visit)  # type: ignore[arg-type]  # fields by name
    return dict(learn_overlap(hub, site, made, FLAT).overlaps)


# --- what waits --------------------------------------------------------------------------------


def test_without_a_neighbours_visit_all_waits_since_our_own() -> None:
    hub = replace(HUB, overlaps={"b": [9.0, 9.0]})
    for site in (SiteState(), _site(b=0), _site(b=-1), _site(c=5)):
        assert backlog(hub, site, FLAT, 2.0) == Backlog(NOW / HOUR, 0.0, 0.0)


def test_a_neighbour_takes_away_its_share_of_what_came_before_its_visit() -> None:
    """Two an hour, three hours, half of them shared: three links wait, each since 1.5 hours on average."""
    hub = replace(HUB, overlaps={"b": [2.0, 3.0]})
    found = backlog(hub, _site(b=3), FLAT, 2.0)
    assert found.since == pytest.approx(NOW / HOUR + 3)
    assert found.links == pytest.approx(3.0)
    assert found.delay == pytest.approx(2.0 * 0.5 * 3**2 / 2)


def test_two_neighbours_take_away_one_after_the_other() -> None:
    """What came in the first two hours both have shown, what came in the third the later one alone."""
    hub = replace(HUB, overlaps={"b": [2.0, 3.0], "c": [1.0, 1.0]})
    found = backlog(hub, _site(b=2, c=3), FLAT, 1.0)
    assert found.since == pytest.approx(NOW / HOUR + 3)
    assert found.links == pytest.approx(0.25 * 2 + 0.5 * 1)
    delay = 0.25 * 2**2 / 2 + 0.25 * 2 * 1 + 0.5 * 1 / 2
    assert found.delay == pytest.approx(delay)


def test_a_neighbour_never_takes_away_everything() -> None:
    hub = replace(HUB, overlaps={"b": [1e9, 1e9]})
    assert backlog(hub, _site(b=100), FLAT, 1.0).links == pytest.approx(1.0)


def test_a_share_is_doubted_by_one_link() -> None:
    hub = replace(HUB, overlaps={"b": [1.0, 1.0]})
    assert backlog(hub, _site(b=1), FLAT, 1.0).links == pytest.approx(0.5)


# --- what is learned ---------------------------------------------------------------------------


def test_what_the_neighbour_could_show_counts_and_what_it_showed() -> None:
    """It was visited halfway: of four links two had come by then, one of which it showed."""
    counts = _learned(HUB, _site(b=1), 2, novel=3, shared={"b": 1})
    assert counts["b"] == pytest.approx([1.0, 2.0])


def test_what_it_showed_it_had_the_chance_to_show() -> None:
    """Links come in bunches: by the clock it could show one of ten, and it showed six."""
    counts = _learned(HUB, _site(b=1), 10, novel=4, shared={"b": 6})
    assert counts["b"] == pytest.approx([6.0, 6.0])


def test_a_neighbour_that_was_not_visited_since_had_no_chance() -> None:
    hub = replace(HUB, overlaps={"b": [2.0, 4.0]})
    counts = _learned(hub, _site(b=-5), 1, novel=8)
    assert counts["b"] == pytest.approx([2.0, 4.0], rel=0.01)


def test_a_neighbour_visited_after_all_of_them_came_had_every_chance_and_no_more() -> None:
    hub = replace(HUB, overlaps={"b": [0.0, 0.0]})
    assert _learned(hub, _site(b=9), 1, novel=8)["b"] == pytest.approx([0.0, 8.0])


def test_counts_fade_by_half_in_the_half_life_of_rates() -> None:
    hub = replace(HUB, overlaps={"b": [8.0, 16.0]})
    counts = _learned(hub, SiteState(), 24 * RATE_HALF_LIFE_DAYS, novel=1)
    assert counts["b"] == pytest.approx([4.0, 8.0])


def test_a_clock_that_went_back_fades_nothing_and_counts_what_was_shown() -> None:
    hub = replace(HUB, overlaps={"b": [8.0, 16.0]})
    counts = _learned(hub, _site(b=-9), -5, shared={"b": 3})
    assert counts["b"] == pytest.approx([11.0, 19.0])


@pytest.mark.parametrize(
    "visit", [{"failed": True}, {"baseline": True}, {"novel": 0, "shared": {}}]
)
def test_failures_baselines_and_visits_without_anything_fresh_teach_nothing(
    visit: dict[str, object],
) -> None:
    hub = replace(HUB, overlaps={"b": [8.0, 16.0]})
    made = Visit(at=NOW + DAY, **{"novel": 2, "shared": {"b": 1}, **visit})  # type: ignore[arg-type]  # fields by name
    assert learn_overlap(hub, _site(b=1), made, FLAT) is hub


@pytest.mark.parametrize("hub", [replace(HUB, key=""), replace(HUB, visited_at=0.0)])
def test_a_hub_without_a_name_or_a_first_visit_has_no_neighbours(hub: HubState) -> None:
    assert _learned(hub, _site(b=1), 2, shared={"b": 1}) == {}


def test_the_ten_that_showed_most_are_kept() -> None:
    shared = {f"n{number}": number for number in range(1, 13)}
    assert set(_learned(HUB, SiteState(), 1, shared=shared)) == {f"n{n}" for n in range(3, 13)}
