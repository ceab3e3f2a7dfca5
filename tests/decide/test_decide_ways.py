"""How a hub is read from now on."""

import pytest

from incremental.base.times import DAY, HOUR
from incremental.decide.ways import cost_of, failed_way, is_other_source, next_way
from incremental.parse.hub_way import Way, WayKind, read_way
from incremental.schedule.price import PricePolicy
from incremental.schedule.state import HubState, SiteState, Terms, Visit

NOW = 1_717_400_000.0


def way(kind: WayKind, **fields: object) -> Way:
    return Way(kind=kind, sign="mount", searched_at=NOW, **fields)  # type: ignore[arg-type]


def after(before: Way, *, links: int = 9, came: int = 0, days: float = 1) -> Way:
    """One more visit in the same way, so many days after the last search."""
    return next_way(before, before, links=links, came=came, now=NOW + days * DAY)


def test_a_page_that_is_no_shell_is_read_as_it_is() -> None:
    assert next_way(Way(), way(WayKind.JSON), links=9, came=0, now=NOW) == Way()


def test_a_way_is_kept_as_json_and_is_undecided_before() -> None:
    kept = way(WayKind.JSON, url="https://news.example/api")
    assert read_way(kept.to_text()) == kept
    assert read_way("") is None
    assert read_way("{}") == Way()


@pytest.mark.parametrize(
    ("kind", "days"),
    [
        (WayKind.PLAIN, 7),
        (WayKind.BROWSER_MISSING, 7),
        (WayKind.RENDERED, 14),
        (WayKind.JSON, 30),
        (WayKind.EMBEDDED, 30),
    ],
)
def test_what_brings_nothing_new_is_searched_again_in_time(kind: WayKind, days: float) -> None:
    assert not after(way(kind), days=days - 1).again
    assert after(way(kind), days=days).again
    assert not after(way(kind), days=days, came=1).again


def test_after_a_search_the_days_begin_again() -> None:
    asked = way(WayKind.JSON, again=True)
    found = next_way(way(WayKind.JSON), asked, links=9, came=0, now=NOW + 40 * DAY)
    assert found.searched_at == NOW + 40 * DAY
    assert not found.again


def test_a_source_that_shows_nothing_is_searched_for_again() -> None:
    blank = way(WayKind.EMBEDDED)
    for _ in range(3):
        assert not blank.again
        blank = after(blank, links=0)
    assert blank.again


def test_a_browser_that_shows_nothing_is_given_up_for_a_week() -> None:
    blank = way(WayKind.RENDERED)
    for _ in range(3):
        assert blank.kind == WayKind.RENDERED
        blank = after(blank, links=0)
    assert blank.kind == WayKind.PLAIN
    assert blank.problem
    assert next_way(blank, blank, links=0, came=0, now=NOW + 9 * DAY).again


def test_three_failures_let_it_search_again() -> None:
    assert not failed_way(way(WayKind.RENDERED), 2).again
    assert failed_way(way(WayKind.RENDERED), 3).again
    assert not failed_way(Way(), 3).again


def test_links_come_from_elsewhere_when_the_kind_changes() -> None:
    assert is_other_source(way(WayKind.JSON), way(WayKind.BROWSER_MISSING))
    assert is_other_source(way(WayKind.RENDERED), None)
    assert not is_other_source(Way(), None)
    assert not is_other_source(way(WayKind.JSON), way(WayKind.JSON))
    assert not is_other_source(None, way(WayKind.JSON))


def test_a_browser_costs_its_requests_and_its_time() -> None:
    assert cost_of(None) == cost_of(Way()) == 1.0
    assert cost_of(way(WayKind.RENDERED, requests=4, seconds=10.0)) == 6.0


def test_a_hub_that_costs_more_is_visited_less_often() -> None:
    """By the square-root law: four times the cost, twice the interval."""
    policy, due = PricePolicy(Terms(requests_per_day=100)), []
    for cost in (1.0, 4.0):
        hub, site = HubState(), SiteState()
        for number in range(200):
            visit = Visit(NOW + number * HOUR, shown=20, novel=1, baseline=not number, cost=cost)
            hub, site = policy.observe(hub, site, visit)
        due.append(hub.weight)
    assert due[1] == pytest.approx(due[0] / 2, rel=0.1)
