"""Which hubs are covered by which, and what is read when a list that covers others overflowed."""

from collections.abc import Iterable
from typing import Any

import pytest

from incremental.schedule.coverage import MAX_PEERS, Coverage, ShownPages, coverage

FEED, HOME, CITY, SPORT, TAG, MAP = 1, 2, 3, 4, 5, 6
HOUR, DAY = 3600.0, 86_400.0


def shown(
    pages: range | set[int], announced: range | set[int] = range(0), **fields: Any
) -> ShownPages:
    return ShownPages(frozenset(pages), frozenset(announced), **fields)


def magazine() -> dict[int, ShownPages]:
    """A feed that shows all that was announced, a home page that is slower, two sections, and a tag."""
    return {
        FEED: shown(range(20), range(20), anchor=True, preference=3.0),
        HOME: shown(range(8), range(8), anchor=True, preference=2.0),
        CITY: shown({*range(0, 20, 2), 30, 32}, {*range(0, 20, 2)}, preference=1.0),
        SPORT: shown({*range(1, 20, 2), 31}, {*range(1, 20, 2)}, preference=1.0),
        TAG: shown({2, 4}, {2, 4}, preference=1.0),
    }


def test_hubs_that_show_nothing_announced_beside_what_others_show_are_covered() -> None:
    assert coverage(magazine()).covered.keys() == {HOME, CITY, SPORT, TAG}


def test_without_hubs_nothing_is_covered() -> None:
    assert coverage({}) == Coverage()


def test_a_hub_is_covered_by_the_one_that_shows_most_of_what_it_shows() -> None:
    hubs = {
        FEED: shown(range(10), range(6)),
        HOME: shown(range(10, 30), range(10, 16)),
        TAG: shown({1, 2, 10, 11, 12}, {1, 10}),
    }
    assert coverage(hubs).covered == {TAG: HOME}
    assert coverage({**hubs, TAG: shown({1, 2, 10, 11}, {1, 10})}).covered == {TAG: FEED}


def test_a_hub_that_shows_nothing_is_covered_behind_nobody() -> None:
    found = coverage({FEED: shown(range(5), range(5)), TAG: shown(set())})
    assert found.covered == {TAG: None}
    assert found.backups == {}


@pytest.mark.parametrize(("announced", "by_news"), [(3, False), (4, True), (5, True)])
def test_four_pages_that_were_announced_decide_and_fewer_do_not(
    announced: int, *, by_news: bool
) -> None:
    """The archive shows thirty pages of old; what was announced stands in the feed."""
    archive = shown(range(100, 130))
    hubs = {FEED: shown(range(announced), range(announced), anchor=True), TAG: archive}
    assert (TAG in coverage(hubs).covered) is by_news
    # An anchor that shows nothing of its own rests only by such evidence.
    hubs = {
        TAG: shown(range(announced), range(announced)),
        HOME: shown(range(announced), anchor=True),
    }
    assert (HOME in coverage(hubs).covered) is by_news


def test_what_a_user_called_a_hub_is_never_covered() -> None:
    hubs = magazine() | {TAG: shown({2}, {2}, chosen=True)}
    assert TAG not in coverage(hubs).covered


def test_the_fewest_hubs_that_show_all_are_watched() -> None:
    """Greedy: the largest first, then what adds most to it."""
    hubs = {
        HOME: shown(set(), {0, 1, 2, 3, 4, 5}),
        CITY: shown(set(), {0, 1, 2, 6, 9, 10}),
        SPORT: shown(set(), {3, 4, 5, 7, 8}),
        TAG: shown(set(), {6, 7}),
    }
    assert coverage(hubs).covered.keys() == {TAG}
    assert coverage({**hubs, CITY: shown(set(), {0, 1, 2})}).covered.keys() == {CITY}


def test_a_tie_goes_to_what_is_cheaper_to_read() -> None:
    same = (range(8), range(8))
    for feed, home in ((3.0, 1.0), (1.0, 3.0)):
        hubs = {FEED: shown(*same, preference=feed), HOME: shown(*same, preference=home)}
        assert coverage(hubs).covered.keys() == {HOME if feed > home else FEED}


def test_without_a_preference_a_hub_comes_after_any_that_is_preferred() -> None:
    same = (range(8), range(8))
    hubs = {FEED: shown(*same), HOME: shown(*same, preference=0.5)}
    assert coverage(hubs).covered.keys() == {FEED}


def test_what_better_hubs_have_taken_is_counted_before_the_next_is_chosen() -> None:
    """The city page shows six, of which the home page leaves one; that one the sport page has as well."""
    hubs = {
        HOME: shown(set(), {0, 1, 2, 3, 4, 5, 9}),
        CITY: shown(set(), {0, 1, 2, 3, 4, 6}),
        SPORT: shown(set(), {6, 7, 8}),
    }
    assert coverage(hubs).covered.keys() == {CITY}


def test_a_sitemap_covers_nothing_by_what_it_merely_lists() -> None:
    hubs = {MAP: shown(range(100), late=True), HOME: shown(range(10))}
    assert coverage(hubs).covered.keys() == {MAP}


def test_a_sitemap_that_shows_pages_in_time_covers_as_others_do() -> None:
    hubs = {MAP: shown(range(9), range(9), late=True), HOME: shown(range(4), range(4))}
    assert coverage(hubs).covered == {HOME: MAP}


# --- after an overflow -------------------------------------------------------------------------


def test_behind_the_watched_hub_stand_the_fewest_that_show_what_it_shows() -> None:
    """The feed overflowed: the sections are read; if they did, too, the home page; and a tag only then."""
    found = coverage(magazine())
    assert found.covered_by(FEED) == (CITY, SPORT)
    assert found.covered_by(CITY) == found.covered_by(SPORT) == (HOME,)
    assert found.covered_by(HOME) == (TAG,)
    assert found.covered_by(TAG) == ()


def test_those_that_add_most_come_first() -> None:
    hubs = magazine() | {HOME: shown(range(16), range(16), anchor=True)}
    assert coverage(hubs).covered_by(FEED)[0] == HOME
    assert set(coverage(hubs).covered_by(FEED)[1:]) == {CITY, SPORT}


def test_what_shows_only_pages_never_announced_comes_last() -> None:
    hubs = magazine() | {TAG: shown({2, 40, 41}), MAP: shown({2, 42, 43, 44})}
    found = coverage(hubs)
    assert found.covered_by(FEED) == (CITY, SPORT)
    assert found.covered_by(HOME) == (MAP, TAG)
    everything = {hub for hub in hubs for hub in found.covered_by(hub)}
    assert everything == {HOME, CITY, SPORT, TAG, MAP}


def test_a_hub_with_nothing_in_common_with_the_layer_above_stands_behind_its_nearest() -> None:
    hubs = {
        FEED: shown(range(10), range(10)),
        CITY: shown(range(6), range(6)),
        TAG: shown({8, 9}),
    }
    found = coverage(hubs)
    assert found.covered_by(FEED) == (CITY, TAG)
    assert found.covered_by(CITY) == ()


def test_a_section_without_news_of_late_is_read_if_no_other_shows_what_the_feed_lost() -> None:
    """City and science have told news, sport has not; the home page shows what all of them do."""
    science = 7
    hubs = {
        FEED: shown(range(40), range(40, 46), anchor=True, preference=3.0),
        HOME: shown(range(40), anchor=True, preference=2.0),
        CITY: shown({*range(10), 40, 41}, {40, 41}, preference=1.0),
        science: shown({*range(10, 20), 42, 43}, {42, 43}, preference=1.0),
        SPORT: shown(range(20, 40), preference=1.0),
    }
    assert coverage(hubs).covered_by(FEED) == (CITY, science, HOME)
    del hubs[HOME]
    assert coverage(hubs).covered_by(FEED) == (CITY, science, SPORT)


def test_a_covered_sitemap_is_asked_with_the_first_and_covers_none_of_them() -> None:
    hubs = magazine() | {MAP: shown(range(60), range(20), late=True)}
    assert coverage(hubs).covered_by(FEED) == (CITY, SPORT, MAP)


def test_watched_hubs_whose_lists_are_longer_are_read_as_well() -> None:
    """The home page shows ten of what the feed shows, and something of its own."""
    hubs = {
        HOME: shown(range(10), {*range(10), 99}),
        FEED: shown(range(50), range(50)),
        TAG: shown({*range(60, 66)}, {*range(60, 66)}),
    }
    found = coverage(hubs)
    assert found.covered == {}
    assert found.covered_by(HOME) == (FEED,)
    assert found.covered_by(FEED) == ()
    assert found.covered_by(TAG) == ()


def test_of_many_longer_lists_the_longest_are_read() -> None:
    """Each shows a page that was told of its own, so that none rests."""
    hubs = {n: shown({0, *range(100 * n, 100 * n + n)}, {0, 100 * n}) for n in range(1, 8)}
    assert coverage(hubs).covered_by(1) == (7, 6, 5)
    assert coverage(hubs).covered_by(7) == (6, 5, 4)
    assert MAX_PEERS == 3


# --- lists that change together ------------------------------------------------------------------


def deployed(days: Iterable[int], *, late_hours: float = 0.0, **fields: Any) -> ShownPages:
    """A list whose own pages came on these days, or somewhat later."""
    news = tuple(day * DAY + late_hours * HOUR for day in days)
    pages = {int(at) for at in news}
    return shown(pages, pages, news=news, **fields)


def test_a_list_that_has_news_only_when_another_has_is_led_by_it() -> None:
    """A register's advisories, packages and key words change in one deployment."""
    hubs = {
        CITY: deployed(range(0, 120, 6)),
        SPORT: deployed(range(0, 120, 12), late_hours=4),
        TAG: deployed(range(0, 120, 24), late_hours=20),
    }
    found = coverage(hubs)
    assert found.covered == {SPORT: CITY, TAG: CITY}
    assert set(found.followers[CITY]) == {SPORT, TAG}
    assert found.follows(TAG)
    assert not found.follows(CITY)


def test_what_is_covered_because_it_shows_the_same_does_not_follow() -> None:
    same = deployed(range(0, 120, 6))
    found = coverage({CITY: same, SPORT: same})
    assert found.covered == {SPORT: CITY}
    assert not found.follows(SPORT)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(deployed(range(0, 24, 6), late_hours=4), id="too seldom to tell"),
        pytest.param(deployed(range(0, 120, 12), late_hours=50), id="days later"),
        pytest.param(deployed([0, 12, 24, 36, 48, 60, 63, 75]), id="sometimes alone"),
        pytest.param(deployed(range(0, 120, 12), late_hours=4, chosen=True), id="the user's hub"),
    ],
)
def test_a_list_that_may_have_news_alone_is_watched(other: ShownPages) -> None:
    found = coverage({CITY: deployed(range(0, 120, 6)), SPORT: other})
    assert found.covered == {}
    assert found.followers == {}


def test_among_daily_news_lists_come_together_by_chance() -> None:
    found = coverage({CITY: deployed(range(60)), SPORT: deployed(range(0, 60, 6), late_hours=4)})
    assert found.covered == {}
