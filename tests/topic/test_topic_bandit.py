"""The bandit tries everything once, then what pays, and never forgets the rest."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifier.papers.bandit import Bandit, page_reward

OPERATORS = ("forward", "backward", "keyword", "related")


def test_each_operator_is_tried_once_first() -> None:
    bandit = Bandit.over(OPERATORS)
    tried = []
    for _ in OPERATORS:
        name = bandit.choose()
        assert name is not None
        tried.append(name)
        bandit = bandit.rewarded(name, reward=0.9 if name == "forward" else 0.0, pages=10)
    assert tried == list(OPERATORS)


def test_the_score_is_mean_reward_and_bonus() -> None:
    """Formula (11): 30 pages in all, 10 of this operator, rewards .4 and .2."""
    bandit = Bandit.over(("forward", "related"))
    bandit = bandit.rewarded("forward", reward=0.4, pages=6)
    bandit = bandit.rewarded("forward", reward=0.2, pages=4)
    bandit = bandit.rewarded("related", reward=0.1, pages=20)
    assert bandit.scores()["forward"] == pytest.approx(0.3 + math.sqrt(2 * math.log(30) / 10))


def test_what_finds_nothing_is_left_for_others() -> None:
    bandit = Bandit.over(("dry", "rich"))
    chosen = []
    for _ in range(40):
        name = bandit.choose()
        assert name is not None
        chosen.append(name)
        found = 10 if name == "rich" else 0
        bandit = bandit.rewarded(name, reward=0.6 if found else 0.0, pages=found)
    assert chosen.count("rich") > chosen.count("dry")


def test_an_operator_that_is_off_is_not_chosen() -> None:
    bandit = Bandit.over(OPERATORS)
    assert bandit.choose({"backward"}) == "backward"
    assert bandit.choose(()) is None


def test_pages_of_earlier_rounds_and_of_the_tail_earn_nothing() -> None:
    ranked = list("abcdefghij")
    assert page_reward(ranked, {"a"}, seen=()) == 1.0
    assert page_reward(ranked, {"a"}, seen={"a"}) == 0.0
    assert page_reward(ranked, {"i", "j"}, seen=()) == 0.0
    assert page_reward(ranked, {"a", "j"}, seen=()) == 0.5


def test_a_round_that_returned_nothing_earns_nothing() -> None:
    assert page_reward([], (), ()) == 0.0


@given(
    st.lists(st.integers(0, 40), unique=True, max_size=30),
    st.sets(st.integers(0, 60), max_size=20),
    st.sets(st.integers(0, 60), max_size=20),
)
def test_rewards_stay_between_0_and_1(
    ranked: list[int], returned: set[int], seen: set[int]
) -> None:
    names = [str(one) for one in ranked]
    given_back, before = {str(one) for one in returned}, {str(one) for one in seen}
    assert 0.0 <= page_reward(names, given_back, before) <= 1.0
