"""What overlaps and losses say of the pages that nobody showed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental.features.completeness.estimating import Estimate, Loss, estimate, losses

KINDS = ("article", "feed", "list", "sitemap")
VIEWS = st.lists(st.sets(st.sampled_from(KINDS), min_size=1), max_size=40)
LOSSES = st.builds(
    lambda time, alone, more: Loss(time, alone, alone + more),
    st.floats(0, 1),
    st.integers(0, 50),
    st.integers(1, 50),
)
DAY = 86_400.0


def known(views: list[set[str]], lost: list[Loss] | None = None) -> Estimate:
    found = estimate(views, lost or [])
    assert found is not None
    return found


def test_kinds_that_agree_miss_next_to_nothing() -> None:
    found = known([{"feed", "list"}] * 30)
    assert found.share > 0.97
    assert found.high == 1.0
    assert found.high - found.low < 0.06


def test_kinds_that_share_half_of_their_pages_missed_some() -> None:
    """A tenth each way alone, as dice would have it: of 100 pages each kind shows half, a quarter no one."""
    found = known([{"feed"}] * 25 + [{"list"}] * 25 + [{"feed", "list"}] * 25)
    assert found.low < 0.75 < found.high


def test_one_kind_alone_says_nothing() -> None:
    assert estimate([{"list"}] * 50) is None
    assert estimate([]) is None
    assert estimate([{"feed", "list"}] * 2) is None


def test_a_kind_that_shows_few_pages_does_not_make_the_others_incomplete() -> None:
    found = known([{"feed", "list"}] * 40 + [{"article", "feed", "list"}] * 3)
    assert found.share > 0.97


def test_lost_hubs_take_away_what_they_alone_showed() -> None:
    views = [{"feed", "list"}] * 30
    shares = [known(views, [Loss(1.0, alone, 40)]).share for alone in (0, 10, 20, 30)]
    assert shares == sorted(shares, reverse=True)
    assert shares[2] == pytest.approx(0.5, abs=0.06)
    half_the_time = known(views, [Loss(0.5, 20, 40)])
    assert half_the_time.share == pytest.approx(0.75, abs=0.06)


def test_what_lost_hubs_showed_is_counted_among_earlier_pages() -> None:
    earlier = [{1}, {1, 2}, {2}, {1}, {3, 1}]
    (loss,) = losses(earlier, {1: 20 * DAY}, since=10 * DAY, now=40 * DAY)
    assert loss == Loss(pytest.approx(2 / 3), 2, 5)
    assert losses(earlier, {4: 20 * DAY}, since=10 * DAY, now=40 * DAY) == []
    (long_ago,) = losses(earlier, {1: 2 * DAY}, since=10 * DAY, now=40 * DAY)
    assert long_ago.share_of_time == 1.0


@given(views=VIEWS, lost=st.lists(LOSSES, max_size=2))
def test_an_estimate_lies_in_its_interval_and_is_the_same_again(
    views: list[set[str]], lost: list[Loss]
) -> None:
    found = estimate(views, lost)
    if found is not None:
        assert 0 <= found.low <= found.share <= found.high <= 1
        assert found == estimate(views, lost)


@given(views=VIEWS, loss=LOSSES)
def test_a_loss_never_makes_more_complete(views: list[set[str]], loss: Loss) -> None:
    whole, less = estimate(views), estimate(views, [loss])
    if whole is not None and less is not None:
        assert less.share <= whole.share + 0.02  # the draws differ
