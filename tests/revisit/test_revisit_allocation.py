"""How a site's requests are divided, and what unused ones are for."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental.schedule.allocation import AFTER_GAIN, QUOTAS, Allocation, Share, article_share
from incremental.schedule.budget import BudgetState, advance, even_share, reserve_at, spend
from incremental.schedule.pacing import longest_interval, share_at
from incremental.schedule.state import HubState, ListKind, SiteState, Terms

DAY, HOUR = 86_400.0, 3_600.0
NOW = 1_717_400_000.0
TODAY = NOW // DAY * DAY


def served(waiting: set[Share], requests: int, *, articles: float = 0.1) -> Counter[Share]:
    site = Allocation(articles=articles)
    return Counter(turn(site, waiting) for _ in range(requests))


def turn(site: Allocation, waiting: set[Share]) -> Share:
    share = site.turn(waiting, young=False, articles=site.articles)
    site.count(share)
    return share


def test_when_everything_waits_each_class_gets_its_share() -> None:
    parts = {share: quota.turn for share, quota in QUOTAS.items() if quota.turn}
    got = served(set(parts), 1_000)
    for share, part in parts.items():
        assert got[share] == pytest.approx(1_000 * part / sum(parts.values()), rel=0.15)


def test_what_one_class_does_not_use_the_others_get() -> None:
    got = served({Share.REVISIT, Share.COVERED}, 800)
    assert got[Share.COVERED] == pytest.approx(100, rel=0.15)


def test_covered_hubs_wait_for_known_ones_by_a_few_requests_only() -> None:
    """Sixty of them due at once do not hold up the home page, nor are they forgotten behind it."""
    site = Allocation()
    for _ in range(200):
        site.count(Share.REVISIT)
    order = [turn(site, {Share.REVISIT, Share.COVERED}) for _ in range(40)]
    assert order[0] is Share.COVERED
    assert Share.REVISIT in order[:9]
    assert order.count(Share.COVERED) < 15


def test_articles_that_never_gained_a_link_deserve_ever_less() -> None:
    young, old = article_share(40, 0, 100.0, 0.5), article_share(40, 0, 40 * 365.0, 0.5)
    assert 0.12 >= young > old
    assert article_share(40, 3, 40 * 365.0, 0.5) > 2 * old


def test_news_that_waits_to_be_verified_takes_turns_with_the_lists() -> None:
    got = served({Share.REVISIT, Share.VERIFY, Share.ARTICLE}, 300)
    assert got[Share.VERIFY] == pytest.approx(got[Share.REVISIT] * 5 / 7, rel=0.1)


def test_in_its_first_week_a_site_looks_for_hubs_and_after_a_gain_reads_its_articles() -> None:
    waiting = {Share.REVISIT, Share.EXPLORE, Share.ARTICLE}
    even = Allocation(used={Share.REVISIT: 7.0, Share.EXPLORE: 2.0, Share.ARTICLE: 1.1})
    assert even.turn(waiting, young=False, articles=0.1) is Share.REVISIT
    assert even.turn(waiting, young=True, articles=0.1) is Share.EXPLORE
    assert even.turn(waiting, young=False, articles=AFTER_GAIN) is Share.ARTICLE


def taken(site: Allocation, share: Share, per_day: float, now: float) -> int:
    """Make requests of a bounded class until none may be made any more."""
    count = 0
    while site.open_at(share, per_day, now) <= now:
        site.draw(share)
        count += 1
    return count


@pytest.mark.parametrize(
    ("share", "at_once", "a_day"),
    [(Share.URGENT, 12, 24), (Share.READ, 3, 12), (Share.REFRESH, 0, 1)],
)
def test_a_bounded_class_has_its_share_day_after_day(
    share: Share, at_once: int, a_day: int
) -> None:
    site = Allocation()
    assert taken(site, share, 48, NOW) == at_once
    hours = [taken(site, share, 48, NOW + n * HOUR / 2) for n in range(1, 49 * 4)]
    assert sum(hours) == pytest.approx(4 * a_day, abs=1)
    assert taken(site, share, 48, NOW + 90 * DAY) == max(at_once, 2)


def test_what_one_bounded_class_saves_the_others_do_not_take() -> None:
    site = Allocation({Share.READ: 0.5, Share.REFRESH: 0.0})
    assert taken(site, Share.READ, 48, NOW) == 6
    assert site.open_at(Share.READ, 48, NOW) == pytest.approx(NOW + HOUR)
    assert site.open_at(Share.REFRESH, 48, NOW + 9 * DAY) == float("inf")
    assert taken(site, Share.URGENT, 48, NOW) == 12


def test_a_site_of_few_requests_gets_over_an_overflow_and_one_of_none_is_left_alone() -> None:
    assert taken(Allocation(), Share.URGENT, 4, NOW) == 8
    assert Allocation().open_at(Share.URGENT, 0, NOW) == float("inf")


def test_a_clock_that_goes_back_grants_nothing() -> None:
    site = Allocation()
    taken(site, Share.URGENT, 48, NOW)
    assert taken(site, Share.URGENT, 48, NOW - 5 * DAY) == 0


@given(st.integers(0, 200), st.integers(0, 50), st.floats(0, 1e6), st.floats(0, 50))
def test_the_share_of_articles_is_bounded(
    articles: int, gains: int, days: float, weight: float
) -> None:
    assert 0.02 <= article_share(articles, gains, days, weight) <= 0.3


def test_a_reserve_is_kept_for_what_turns_up() -> None:
    state = spend(advance(BudgetState(), 48, NOW), 48, NOW, visits=6)
    opens = reserve_at(state, 48, NOW)
    # Twelve were granted at once and six of them used; nine tenths of the twenty-four that can be saved.
    assert opens == pytest.approx(NOW + (0.9 * 24 - 6) / 2 * HOUR)
    assert reserve_at(state, 48, opens) <= opens + 1
    assert reserve_at(state, 0, NOW) == float("inf")


def _midnight(per_day: float) -> BudgetState:
    return advance(advance(BudgetState(), per_day, TODAY - DAY), per_day, TODAY)


def test_what_is_of_little_use_waits_until_the_day_has_requests_to_spare() -> None:
    spent = spend(_midnight(48), 48, TODAY, visits=14, others=10)
    # Half of the day's requests are gone: nine tenths of an even share of the rest are kept.
    assert even_share(spent, 48, TODAY + 2 * HOUR) == pytest.approx((0.5 - 0.1) / 0.9)


def test_lists_that_use_up_every_hour_leave_a_part_of_it_to_the_others() -> None:
    spent = spend(_midnight(48), 48, TODAY, visits=40, others=2)
    # A tenth of 48 a day: two requests are those of ten hours.
    assert even_share(spent, 48, TODAY) * 24 == pytest.approx(10)
    assert even_share(spend(_midnight(48), 48, TODAY, visits=40), 48, TODAY) <= 0


def test_a_budget_of_hardly_anything_waits_for_tomorrow_at_most() -> None:
    assert even_share(spend(_midnight(0.5), 0.5, TODAY, others=1), 0.5, TODAY) == 1
    assert even_share(BudgetState(), 0, TODAY) == 1


@pytest.mark.parametrize(
    ("share", "windows", "hours"),
    [
        (0.25, (), 6.0),
        (1.0, (), 24.0),
        (-0.5, (), 0.0),
        (0.5, ((0.0, 3.0),), 1.5),
        (0.5, ((22.0, 4.0),), 3.0),
        (0.75, ((22.0, 4.0),), 22.5),
        (0.75, ((1.0, 2.0), (12.0, 13.0)), 12.5),
    ],
)
def test_a_share_of_the_day_is_one_of_its_allowed_hours(
    share: float, windows: tuple[tuple[float, float], ...], hours: float
) -> None:
    at = share_at(share, TODAY, replace(Terms(), windows=windows))
    assert at == pytest.approx(TODAY + hours * HOUR)
    assert share_at(share, TODAY + 23.5 * HOUR, replace(Terms(), windows=windows)) >= at


def _spent() -> BudgetState:
    return spend(advance(BudgetState(), 48, NOW), 48, NOW, visits=12)


def test_a_home_page_is_read_daily_however_many_silent_hubs_its_site_has() -> None:
    site = SiteState(hubs=162)
    spent = replace(_spent(), started_at=NOW - 2 * DAY)
    home = HubState(kind=ListKind.HOME, first_at=NOW - 300 * DAY)
    assert longest_interval(home, site, spent, Terms(), NOW) == DAY
    assert longest_interval(home, site, spent, Terms(), NOW + DAY) == 2 * HOUR
    assert longest_interval(home, site, _spent(), Terms(), NOW) == 2 * HOUR  # on its first day


def test_silent_hubs_come_sooner_when_the_budget_is_not_used() -> None:
    site, hub = SiteState(hubs=162), HubState(first_at=NOW)
    spent = replace(_spent(), started_at=NOW - 2 * DAY)
    busy = longest_interval(hub, site, spent, Terms(), NOW)
    idle = longest_interval(hub, site, spent, Terms(), NOW + DAY)
    feed = HubState(kind=ListKind.FEED, first_at=NOW - 300 * DAY)
    assert longest_interval(feed, site, spent, Terms(), NOW) == 90 * DAY
    assert longest_interval(feed, site, spent, Terms(), NOW + DAY) == 2 * HOUR
    assert busy > 30 * DAY
    assert 6 * DAY < idle < 7 * DAY
