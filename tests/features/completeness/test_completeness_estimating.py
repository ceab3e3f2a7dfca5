"""What overlaps and losses say of the pages that nobody showed."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental.features.completeness.estimating import (
    Audits,
    Estimate,
    Loss,
    estimate,
    loss_of,
)

KINDS = ("article", "feed", "list", "sitemap")
VIEWS = st.lists(st.sets(st.sampled_from(KINDS), min_size=1), max_size=40)
LOSSES = st.builds(
    lambda days, alone, more, after: Loss(days, alone, alone + more, 30.0, after, 30.0),
    st.floats(0, 30),
    st.integers(0, 50),
    st.integers(1, 50),
    st.integers(0, 100),
)
DAY = 86_400.0


def known(views: list[set[str]], loss: Loss | None = None) -> Estimate:
    found = estimate(views, loss=loss)
    assert found is not None
    return found


def test_kinds_that_agree_miss_next_to_nothing() -> None:
    found = known([{"feed", "list"}] * 30)
    assert found.share > 0.97
    assert found.high == 1.0
    assert found.high - found.low < 0.06


def test_kinds_that_share_half_of_their_pages_missed_some() -> None:
    """Two kinds that each show half of 100 pages at random share 25, and neither shows another 25."""
    found = known([{"feed"}] * 25 + [{"list"}] * 25 + [{"feed", "list"}] * 25)
    assert found.low < 0.75 < found.high


def test_kinds_that_agreed_until_lately_missed_some_since() -> None:
    """Of the last 80 pages each kind showed a quarter, so 45 are on neither; before, both showed all."""
    lately = [{"feed"}] * 15 + [{"list"}] * 15 + [{"feed", "list"}] * 5
    found = known(lately[::2] + lately[1::2] + [{"feed", "list"}] * 70)
    assert found.low < 105 / 150 + 0.1
    assert found.share < 0.85


def test_one_kind_alone_says_nothing() -> None:
    assert estimate([{"list"}] * 50) is None
    assert estimate([]) is None
    assert estimate([{"feed", "list"}] * 4) is None
    assert estimate([{"list"}] * 50 + [{"feed", "list"}] * 9) is None


def test_kinds_that_show_different_sections_say_nothing_of_each_other() -> None:
    assert estimate([{"feed"}] * 60 + [{"list"}] * 60) is None
    assert estimate([{"feed"}] * 60 + [{"list"}] * 60 + [{"feed", "list"}] * 12) is None


def test_a_kind_that_shows_few_pages_does_not_make_the_others_incomplete() -> None:
    found = known([{"feed", "list"}] * 40 + [{"article", "feed", "list"}] * 3)
    assert found.share > 0.97


def test_lost_hubs_take_away_what_they_alone_showed() -> None:
    shares = [
        known([{"feed", "list"}] * after, Loss(30.0, 100 - after, 100, 30.0, after, 30.0)).share
        for after in (100, 75, 50)
    ]
    assert shares == sorted(shares, reverse=True)
    assert shares[2] == pytest.approx(0.5, abs=0.1)
    half_the_time = known([{"feed", "list"}] * 75, Loss(15.0, 50, 100, 30.0, 25, 15.0))
    assert half_the_time.share == pytest.approx(0.75, abs=0.06)


def test_lost_hubs_whose_pages_are_found_elsewhere_take_little_away() -> None:
    """The others are visited more often now: as many new pages are found as before."""
    found = known([{"feed", "list"}] * 100, Loss(30.0, 50, 100, 30.0, 100, 30.0))
    assert found.share > 0.85
    assert found.high > 0.97


def test_audits_that_recapture_everything_narrow_the_interval() -> None:
    """Two kinds that agree on little leave much open; of forty pages that audits drew, all were known."""
    views = [{"feed"}] * 10 + [{"list"}] * 10 + [{"feed", "list"}] * 20
    apart, audited = known(views), estimate(views, audits=Audits(40))
    assert audited is not None
    assert audited.low > apart.low + 0.02
    assert audited.high - audited.low < apart.high - apart.low


def test_audits_are_believed_against_views_that_agree() -> None:
    """All hubs show the same pages, and half of what audits drew was on none of them."""
    found = estimate([{"feed", "list"}] * 30, audits=Audits(20, missed=10))
    assert found is not None
    assert found.low < 0.5 < found.high
    assert found.share == pytest.approx(0.5, abs=0.1)


def test_audits_alone_say_how_complete_one_kind_is() -> None:
    found = estimate([{"list"}] * 50, audits=Audits(30, missed=3))
    assert found is not None
    assert found.low < 0.9 < found.high
    assert estimate([{"list"}] * 50, audits=Audits(4)) is None


def test_audits_say_nothing_of_lost_pages_unless_they_showed_such_pages_before() -> None:
    views, loss = [{"feed", "list"}] * 60, Loss(30.0, 40, 100, 30.0, 60, 30.0)
    blind = estimate(views, loss=loss, audits=Audits(30))
    assert blind is not None
    assert blind.share < 0.75
    seeing = estimate(views, loss=replace(loss, audited=True), audits=Audits(30))
    assert seeing is not None
    assert seeing.share > blind.share + 0.1


def test_a_loss_is_counted_from_the_pages_before_it() -> None:
    shown = [{1}, {1, 2}, {2}, {1}, {3, 1}]
    found = [((5 + n) * DAY, hubs, n == 3) for n, hubs in enumerate(shown)]
    found.append((25 * DAY, {2}, True))
    loss = loss_of(found, {1: 20 * DAY}, 5 * DAY, since=10 * DAY, now=40 * DAY)
    assert loss == Loss(20.0, 2, 5, 15.0, 1, 20.0, audited=True)
    assert loss_of(found, {4: 20 * DAY}, 5 * DAY, since=10 * DAY, now=40 * DAY) is None
    assert loss_of(found, {}, 40 * DAY, since=10 * DAY, now=40 * DAY) is None
    long_ago = loss_of(found, {1: 9 * DAY}, 5 * DAY, since=10 * DAY, now=40 * DAY)
    assert long_ago is not None
    assert long_ago.days == 30.0


@given(views=VIEWS, lost=st.none() | LOSSES)
def test_an_estimate_lies_in_its_interval_and_is_the_same_again(
    views: list[set[str]], lost: Loss | None
) -> None:
    found = estimate(views, loss=lost)
    if found is not None:
        assert 0 <= found.low <= found.share <= found.high <= 1
        assert found == estimate(views, loss=lost)


@given(views=VIEWS, loss=LOSSES)
def test_a_loss_never_makes_more_complete(views: list[set[str]], loss: Loss) -> None:
    whole, less = estimate(views), estimate(views, loss=loss)
    if whole is not None and less is not None:
        assert less.share <= whole.share + 0.02  # the draws differ


@pytest.mark.parametrize(
    "loss",
    [
        Loss(30.0, alone=20, before=90, before_days=90.0, after=900, after_days=10.0),
        Loss(30.0, alone=1, before=300, before_days=3.0, after=0, after_days=30.0),
        Loss(30.0, alone=20, before=90, before_days=90.0, after=500, after_days=10.0),
    ],
)
def test_counts_that_hardly_any_draw_explains_leave_an_interval(loss: Loss) -> None:
    found = known([{"feed", "list"}] * 30, loss)
    assert 0.0 <= found.low < found.high <= 1.0
