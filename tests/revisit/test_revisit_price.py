"""The price policy: when hubs are due, and why."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incremental.schedule.budget import BudgetState, advance, open_at, spend
from incremental.schedule.price import PricePolicy, hinted
from incremental.schedule.profile import BINS, WEEK
from incremental.schedule.state import HubState, SiteState, Terms, Visit

NOW = 1_760_000_000.0
MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
SITE = SiteState(hubs=1, weight_total=1.0)
FREE = Terms(requests_per_day=2400, min_interval_seconds=0, max_interval_seconds=30 * DAY)
CHEAP = BudgetState(trim=-12, floor_minutes=30.0)
"""A price of half an hour, whatever the site's own would be."""


def _hub(rate: float, **changes: object) -> HubState:
    """Return a hub watched long enough for its rate, links an hour, to be sure."""
    hub = HubState(key="a", visited_at=NOW, tried_at=NOW, first_at=NOW - DAY, visits=50)
    hub = replace(hub, novel=rate * 1e5, exposure_hours=1e5, open_hours=1e5, last_novel_at=NOW)
    return replace(hub, **changes)  # type: ignore[arg-type]  # any field


hubs = st.builds(
    lambda rate, hours, minutes, shown: _hub(
        rate, hours=tuple(hours), minutes=tuple(minutes), shown=shown
    ),
    st.floats(1e-3, 50),
    st.lists(st.floats(0, 50), min_size=WEEK, max_size=WEEK),
    st.lists(st.floats(0, 50), min_size=BINS, max_size=BINS),
    st.integers(0, 200),
)


@settings(deadline=None, max_examples=200)
@given(
    hub=hubs,
    hint=st.none() | st.floats(0, 100),
    price=st.floats(0.1, 1e4),
    hours=st.floats(0, 2 * WEEK),
)
def test_what_is_surely_overdue_is_due(
    hub: HubState, hint: float | None, price: float, hours: float
) -> None:
    hub = hub if hint is None else hinted(hub, NOW + hint * HOUR)
    policy, budget = PricePolicy(FREE), BudgetState(trim=-12, floor_minutes=price)
    # Nobody has a hint before it is given.
    now = NOW + max(hours, hint or 0.0) * HOUR
    if policy.is_overdue(hub, SITE, budget, policy.index(hub, SITE, budget, now), now):
        assert policy.due_at(hub, SITE, budget, now) <= now


def test_most_that_is_overdue_is_surely_so() -> None:
    policy, hub = PricePolicy(FREE), _hub(1.0)  # due after an hour
    for hours, overdue in ((0.9, False), (1.1, True), (100.0, True), (WEEK + 1.0, False)):
        now = NOW + hours * HOUR
        index = policy.index(hub, SITE, CHEAP, now)
        assert policy.is_overdue(hub, SITE, CHEAP, index, now) == overdue


@pytest.mark.parametrize(("rate", "hours"), [(1.0, 1.0), (4.0, 0.5), (0.25, 2.0), (0.01, 10.0)])
def test_constant_rates_are_visited_by_the_square_root_law(rate: float, hours: float) -> None:
    """At a price of half a link-hour: rate t^2 / 2 = 1/2."""
    due_at = PricePolicy(FREE).due_at(_hub(rate), SITE, CHEAP, NOW)
    assert (due_at - NOW) / HOUR == pytest.approx(hours, rel=0.01)


@settings(deadline=None, max_examples=40)
@given(hub=hubs, price=st.floats(0.1, 1e4))
def test_a_hub_is_due_when_its_index_meets_the_price(hub: HubState, price: float) -> None:
    hub = replace(hub, shown=0)  # a list that overflows is due before
    policy, budget = PricePolicy(FREE), BudgetState(trim=-12, floor_minutes=price)
    due_at = policy.due_at(hub, SITE, budget, NOW)
    assert policy.index(hub, SITE, budget, due_at + 1) >= price * 0.999
    if due_at > NOW + 2:
        assert policy.index(hub, SITE, budget, due_at - 1) <= price * 1.001


@settings(deadline=None, max_examples=40)
@given(hub=hubs, hours=st.lists(st.floats(0, 400), min_size=2, max_size=8))
def test_urgency_never_falls_while_nobody_visits(hub: HubState, hours: list[float]) -> None:
    policy = PricePolicy(FREE)
    values = [policy.index(hub, SITE, CHEAP, NOW + hour * HOUR) for hour in sorted(hours)]
    assert all(b >= a * (1 - 1e-9) for a, b in pairwise(values))


@settings(deadline=None, max_examples=40)
@given(
    hub=hubs,
    now=st.floats(0, 4e9),
    visit=st.builds(
        Visit,
        at=st.floats(1, 4e9),
        shown=st.integers(0, 10**6),
        novel=st.integers(0, 10**6),
        baseline=st.booleans(),
        all_new=st.booleans(),
        failed=st.booleans(),
        vanished=st.integers(0, 10**6),
        shared=st.dictionaries(st.sampled_from("abc"), st.integers(1, 10**6)),
    ),
    per_day=st.sampled_from([0.0, 0.1, 48.0, 1e6]),
)
def test_whatever_is_seen_at_whatever_time_there_is_an_answer(
    hub: HubState, now: float, visit: Visit, per_day: float
) -> None:
    """Clocks that jump by decades, floods of links, no budget: numbers, and states that are JSON."""
    policy = PricePolicy(Terms(requests_per_day=per_day))
    learned, site = policy.observe(hub, replace(SITE, seen_at={"b": NOW}), visit)
    due_at = policy.due_at(learned, site, BudgetState(), now)
    assert due_at > 0
    assert policy.index(learned, site, BudgetState(), now) >= 0
    assert math.isinf(due_at) == (per_day == 0)
    assert HubState.from_text(learned.to_text()).visits == learned.visits
    assert policy.why(learned, site, BudgetState(), now).reason


def test_after_errors_a_hub_is_left_alone_longer_and_longer() -> None:
    policy = PricePolicy(FREE)
    hub, site, waits = _hub(5.0, weight=1.0), SITE, []
    for number in range(12):
        at = NOW + number * DAY
        hub, site = policy.observe(hub, site, Visit(at=at, failed=True))
        waits.append(policy.due_at(hub, site, CHEAP, at) - at)
    assert waits[:3] == [10 * MINUTE, 20 * MINUTE, 40 * MINUTE]
    assert waits[-1] == 11 * DAY / 2
    assert "failed 12 times" in PricePolicy(FREE).why(hub, site, CHEAP, NOW).reason


def test_what_the_server_asks_for_is_granted() -> None:
    hub, site = PricePolicy(FREE).observe(
        _hub(50.0), SITE, Visit(at=NOW + HOUR, wait_seconds=5 * HOUR)
    )
    why = PricePolicy(FREE).why(hub, site, CHEAP, NOW + HOUR)
    assert why.due_at == NOW + 6 * HOUR
    assert "asked for a pause" in why.reason


def test_shortest_and_longest_intervals_hold() -> None:
    terms = Terms(requests_per_day=2400, min_interval_seconds=1800, max_interval_seconds=7200)
    policy = PricePolicy(terms)
    assert policy.due_at(_hub(1000.0), SITE, CHEAP, NOW) == NOW + 1800
    assert policy.due_at(_hub(1e-6), SITE, CHEAP, NOW) == NOW + 7200


def test_many_hubs_and_few_requests_stretch_the_longest_interval() -> None:
    policy = PricePolicy(Terms(requests_per_day=12))
    costly = BudgetState(floor_minutes=1e6)
    due_at = policy.due_at(_hub(1e-6), replace(SITE, hubs=300), costly, NOW)
    assert due_at > NOW + 24 * DAY  # else 300 visits a day would be due


def test_a_hub_that_dies_drifts_out_and_comes_back_when_something_tells_of_it() -> None:
    policy = PricePolicy(Terms(requests_per_day=2400))
    quiet = _hub(1e-6, last_novel_at=NOW - 40 * DAY, first_at=NOW - 900 * DAY)
    buried = replace(quiet, last_novel_at=NOW - 200 * DAY)
    waits = [
        (policy.due_at(hub, SITE, CHEAP, NOW) - NOW) / DAY
        for hub in (quiet, buried, hinted(buried, NOW + 1))
    ]
    assert waits[0] == 7
    assert waits[1] == pytest.approx(28, abs=62)
    assert waits[2] <= 1


def test_a_new_hub_gets_early_visits_that_the_site_can_afford() -> None:
    few, many = replace(SITE, hubs=1), replace(SITE, hubs=50)
    hub, policy = HubState(key="a"), PricePolicy(Terms(requests_per_day=48))
    assert policy.due_at(hub, few, BudgetState(), NOW) == NOW
    hub, _ = policy.observe(hub, SiteState(), Visit(at=NOW, baseline=True))
    costly = BudgetState(floor_minutes=1e6)
    assert policy.due_at(hub, few, costly, NOW) == NOW + 30 * MINUTE
    assert policy.due_at(hub, many, costly, NOW) == pytest.approx(NOW + 25 * HOUR)
    assert "early visit" in policy.why(hub, few, costly, NOW).reason


def test_a_list_is_visited_before_its_links_scroll_away() -> None:
    dear = BudgetState(trim=-12, floor_minutes=1e6)
    due_at = PricePolicy(FREE).due_at(_hub(10.0, shown=20), SITE, dear, NOW)
    assert (due_at - NOW) / HOUR == pytest.approx(1.436, rel=0.01)


def test_off_topic_hubs_wait_and_cheap_ones_do_not() -> None:
    policy = PricePolicy(FREE)
    plain, off_topic, cheap = (
        policy.due_at(hub, SITE, CHEAP, NOW)
        for hub in (_hub(1.0), _hub(1.0, judged=99.0), _hub(1.0, unmodified=1.0))
    )
    assert cheap < plain < off_topic


def test_a_change_hint_brings_the_visit_forward_as_far_as_hints_have_kept_their_word() -> None:
    policy = PricePolicy(FREE)
    kept, broken = (
        policy.due_at(hinted(hub, NOW + MINUTE), SITE, CHEAP, NOW)
        for hub in (_hub(0.01, hints=50, hints_confirmed=50), _hub(0.01, hints=50))
    )
    assert NOW < kept < broken <= policy.due_at(_hub(0.01), SITE, CHEAP, NOW)


def test_a_sitemap_that_moves_with_each_deployment_loses_its_say_on_every_hub() -> None:
    policy, site, hub = PricePolicy(FREE), SITE, _hub(0.01)
    before = policy.due_at(hinted(hub, NOW + MINUTE), site, CHEAP, NOW)
    for day in range(40):
        _, site = policy.observe(hinted(hub, NOW), site, Visit(at=NOW + day * DAY, shown=9))
    site = replace(SITE, hints=site.hints, hints_confirmed=site.hints_confirmed)
    assert policy.due_at(hinted(hub, NOW + MINUTE), site, CHEAP, NOW) > before + HOUR


@pytest.mark.parametrize(("window", "hour"), [((9.0, 17.0), 9), ((22.0, 6.0), 22)])
def test_visits_keep_to_the_hours_that_are_allowed(window: tuple[float, float], hour: int) -> None:
    noon_or_night = NOW - NOW % DAY + (20.0 if hour == 9 else 12.0) * HOUR
    hub = replace(_hub(100.0, weight=1.0), visited_at=noon_or_night, tried_at=noon_or_night)
    terms = replace(FREE, windows=(window,))
    due_at = PricePolicy(terms).due_at(hub, SITE, CHEAP, noon_or_night)
    assert due_at % DAY / HOUR == pytest.approx(hour)


def test_a_budget_of_zero_leaves_the_site_alone_and_says_so() -> None:
    policy = PricePolicy(Terms(0))
    why = policy.why(_hub(5.0), SITE, BudgetState(), NOW)
    assert math.isinf(why.due_at)
    assert "budget is zero" in why.reason
    assert policy.index(_hub(5.0), SITE, BudgetState(), NOW + DAY) == 0


@pytest.mark.parametrize(
    ("kind", "quiet_days", "tokens", "says"),
    [
        ("home", 0, 100.0, "at most two hours apart"),
        ("page", 0, 100.0, "longest interval that the settings allow"),
        ("page", 40, 0.0, "nothing new for a month"),
    ],
)
def test_the_longest_interval_says_what_set_it(
    kind: str, quiet_days: float, tokens: float, says: str
) -> None:
    """A home page read every two hours was said to wait as long as the settings allow, a day."""
    terms = Terms(requests_per_day=48)
    since = NOW - 200 * DAY
    hub = _hub(1e-6, kind=kind, first_at=since, last_novel_at=NOW - quiet_days * DAY)
    budget = BudgetState(
        updated_at=NOW, started_at=since, used=(0.0,) * 24, tokens=tokens, floor_minutes=1e9
    )
    assert says in PricePolicy(terms).why(hub, SITE, budget, NOW).reason


def test_the_explanation_has_the_rate_and_the_next_visit() -> None:
    why = PricePolicy(FREE).why(_hub(2.0), SITE, CHEAP, NOW + HOUR)
    assert why.rate_per_day == pytest.approx(48, rel=0.01)
    assert why.due_at == pytest.approx(NOW + HOUR, abs=DAY)


def _day_by_day(hubs: int, per_day: float, days: int) -> list[int]:
    """Run the policy as the crawler does, on hubs of different rates with a night; return visits a day.

    What is due is asked again, and once an hour all are, because the price may have fallen.
    """
    terms = Terms(requests_per_day=per_day)
    policy, site, budget = PricePolicy(terms), SiteState(), BudgetState()
    start, visits = NOW - NOW % DAY, [0] * days
    states = {str(number): HubState(key=str(number)) for number in range(hubs)}
    due, planned_at, now = dict.fromkeys(states, start), start, start
    while now < start + days * DAY:
        key = min(due, key=lambda key: due[key])
        now = min(max(now, open_at(budget, per_day, max(now, due[key]))), planned_at + HOUR)
        budget = advance(budget, per_day, now)
        if now >= planned_at + HOUR:
            planned_at = now
            fresh = {k: policy.due_at(states[k], site, budget, now) for k in states}
            due = {k: min(due[k], fresh[k]) for k in states}
        elif (asked := policy.due_at(states[key], site, budget, now)) > now + 1:
            due[key] = asked
        else:
            hub = states[key]
            novel = _arrived(int(key), hub.visited_at, now) if hub.visits else 0
            budget = spend(budget, per_day, now, visits=1)
            visit = Visit(at=now, shown=30, novel=novel, baseline=not hub.visits)
            states[key], site = policy.observe(hub, site, visit)
            due[key] = policy.due_at(states[key], site, budget, now)
            visits[int((now - start) // DAY)] += 1
    return visits


def _arrived(number: int, since: float, now: float) -> int:
    """Links come every (number + 1) hours, by day only."""
    step = (number + 1) * HOUR
    times = range(int(since // step) + 1, int(now // step) + 1)
    return sum(6 <= time * step % DAY / HOUR < 20 for time in times)


@pytest.mark.parametrize(("hubs", "per_day"), [(10, 48), (40, 48), (9, 200), (10, 12), (3, 12)])
def test_the_price_uses_up_the_budget_within_two_percent_and_never_exceeds_it(
    hubs: int, per_day: int
) -> None:
    visits = _day_by_day(hubs, per_day, 28)
    assert max(visits) <= per_day
    settled = visits[14:]
    assert sum(settled) / len(settled) == pytest.approx(per_day, rel=0.02)


def test_a_hub_has_one_shape_in_memory_however_often_it_is_visited() -> None:
    """Each visit that brings links changes what the shape is made of, and the site's changes by itself."""
    policy, site = PricePolicy(Terms(48)), SiteState()
    hubs = {str(number): HubState(key=str(number)) for number in range(3)}
    for number in range(600):
        for key, hub in hubs.items():
            visit = Visit(at=1e9 + number * 7_200, shown=20, novel=1, baseline=not number)
            hubs[key], site = policy.observe(hub, site, visit)
            policy.due_at(hubs[key], site, BudgetState(), visit.at)
    assert len(policy._shapes) == len(hubs)
