"""The threshold of a topic: what the sample and marked pages make of it."""

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from classifier.topic.decision import DOUBTFUL, GROWTH, STEP, Decision, Line, Usual, decide
from classifier.words.values import Verdict

MARKS = st.lists(st.floats(-4, 8), max_size=6)
SAMPLES = st.lists(st.floats(-3, 6), max_size=100)


def stream(share: float, apart: float = 3.0, pages: int = 1_000) -> NDArray[np.float64]:
    """Standardised scores of a stream of which a topic has so large a share."""
    drawn = np.random.default_rng(0)
    own = round(share * pages)
    scores = np.concatenate([drawn.normal(apart, 0.8, own), drawn.normal(0, 0.7, pages - own)])
    return np.asarray((scores - scores.mean()) / scores.std())


def moved(sample: NDArray[np.float64], before: Decision, after: Decision) -> float:
    """How far the threshold moved, in rarity; down is negative."""
    line = Line.of(sample)
    return float(line.rarity(after.value) - line.rarity(before.value))


@given(SAMPLES, MARKS, MARKS)
def test_the_score_is_a_half_at_the_threshold_and_rises_everywhere(
    sample: list[float], right: list[float], wrong: list[float]
) -> None:
    decision = decide(Usual(np.array(sample)), relevant=right, irrelevant=wrong)
    assert decision.slope > 0
    assert decision.score(decision.value) == 0.5
    assert decision.verdict(decision.value) is Verdict.RELEVANT
    assert decision.score(decision.value - 0.5) < 0.5 < decision.score(decision.value + 0.5)


@given(SAMPLES, MARKS, MARKS, st.floats(-4, 8))
def test_one_click_moves_the_threshold_its_way_and_no_further_than_a_step(
    sample: list[float], right: list[float], wrong: list[float], page: float
) -> None:
    scores = np.array(sample)
    before = decide(Usual(scores), relevant=right, irrelevant=wrong)
    opened = decide(Usual(scores), relevant=[*right, page], irrelevant=wrong)
    closed = decide(Usual(scores), relevant=right, irrelevant=[*wrong, page])
    assert -STEP - 1e-6 <= moved(scores, before, opened) <= 1e-6
    assert -1e-6 <= moved(scores, before, closed) <= STEP + 1e-6


@given(SAMPLES, MARKS, MARKS, st.randoms())
def test_clicks_count_the_same_in_any_order(
    sample: list[float], right: list[float], wrong: list[float], chance: Random
) -> None:
    scores = np.array(sample)
    before = decide(Usual(scores), relevant=right, irrelevant=wrong)
    chance.shuffle(right)
    chance.shuffle(wrong)
    after = decide(Usual(scores), relevant=right, irrelevant=wrong)
    assert moved(scores, before, after) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2, 0.3])
def test_the_share_that_is_accepted_follows_the_topic_s(share: float) -> None:
    sample = stream(share)
    assert 0.9 * share < (sample >= decide(Usual(sample)).value).mean() < share + 0.04


@pytest.mark.parametrize("share", [0.1, 0.2])
def test_a_shown_score_is_the_chance_of_being_relevant(share: float) -> None:
    sample = stream(share, apart=2.0)
    decision = decide(Usual(sample))
    shown = [decision.score(score) for score in sample.tolist()]
    assert np.mean(shown) == pytest.approx(share, abs=0.08)


@pytest.mark.parametrize("share", [0.1, 0.03, 0.01])
def test_no_click_of_a_dozen_on_the_worst_mistakes_opens_or_closes_the_gate(share: float) -> None:
    """Pages marked one after the other, the farthest on the wrong side first."""
    sample = stream(share, apart=2.0)
    relevant = np.arange(len(sample)) < round(share * len(sample))
    marked: list[int] = []
    accepted = []
    for _ in range(12):
        decision = decide(
            Usual(sample),
            relevant=[sample[one] for one in marked if relevant[one]],
            irrelevant=[sample[one] for one in marked if not relevant[one]],
        )
        said = sample >= decision.value
        accepted.append((said.mean(), said[relevant].mean()))
        mistakes = np.where(said != relevant, np.abs(sample - decision.value), -1.0)
        mistakes[marked] = -1.0
        marked.append(int(mistakes.argmax()))
    assert np.abs(np.diff(accepted, axis=0)).max() < 0.25
    assert accepted[-1][0] > 0


def test_two_thumbs_down_do_not_silence_a_topic() -> None:
    sample = stream(0.1)
    before = (sample >= decide(Usual(sample)).value).mean()
    after = (sample >= decide(Usual(sample), irrelevant=[3.0, 2.8]).value).mean()
    assert before / 2 < after <= before


def test_a_marked_page_counts_by_what_was_said_of_it_before_the_topic_learned_from_it() -> None:
    sample = stream(0.1)
    known = decide(Usual(sample), irrelevant=[3.0])
    refused = decide(Usual(sample), irrelevant=[4.0], before=Usual(sample + 1.0))
    assert refused.value == pytest.approx(known.value, abs=0.01)
    assert refused.value > decide(Usual(sample)).value


def test_a_mark_that_brings_all_of_a_site_near_the_topic_does_not_accept_it_all() -> None:
    """A sentence on chips, and a mark on one of the stories of a site that is all on one subject."""
    unmarked, near = stream(0.02), stream(0.5) + 3.0
    everyday = np.random.default_rng(1).normal(-1.0, 0.5, 40)
    before = Usual(unmarked, everyday, at_most=0.02)
    passed = (unmarked >= decide(before).value).mean()
    shares = []
    for marks in (1, 2, 3):
        decision = decide(Usual(near, everyday), relevant=[0.0] * marks, before=before)
        shares.append((near >= decision.value).mean())
    once = GROWTH * passed
    assert passed < shares[0] <= once < shares[1] <= GROWTH * once < shares[2] <= GROWTH**2 * once


@pytest.mark.parametrize("share", [0.03, 0.01])
def test_clicks_on_wrong_pages_alone_leave_few_of_them(share: float) -> None:
    """A topic that is rarer than expected, its worst page rejected eight times."""
    sample = np.sort(stream(share, apart=2.0))
    accepted = [
        (sample >= decide(Usual(sample), irrelevant=sample[-n:].tolist()).value).mean()
        for n in (1, 3, 8)
    ]
    assert (sample >= decide(Usual(sample)).value).mean() > accepted[0] > accepted[1] > accepted[2]
    assert accepted[2] < 2 * share


def test_what_scores_like_everyday_pages_is_not_relevant_however_much_there_is_of_it() -> None:
    sample = stream(0.1, apart=1.0)
    everyday = np.random.default_rng(1).normal(1.0, 0.8, 40)
    usual = Usual(sample, everyday)
    assert (sample >= decide(Usual(sample)).value).mean() > 0.1
    assert (sample >= decide(usual).value).mean() < 0.05
    assert decide(usual, relevant=[1.0, 1.2]).value < decide(usual).value


@pytest.mark.parametrize("sample", [[], [0.0] * 40, [5.0] * 40])
def test_pages_that_say_nothing_leave_the_priors(sample: Sequence[float]) -> None:
    line = Line.of(np.array(sample))
    assert 0 < line.slope < 30
    assert -3 < decide(Usual(np.array(sample))).value < 10


def test_below_the_threshold_is_undecided_then_irrelevant() -> None:
    decision = decide(Usual(stream(0.1)))
    undecided = decision.value - 0.1
    assert decision.verdict(undecided) is Verdict.DOUBTFUL
    assert DOUBTFUL <= decision.score(undecided) < 0.5
    assert decision.verdict(decision.value - 2) is Verdict.IRRELEVANT
    assert decision.verdict(-float("inf")) is Verdict.IRRELEVANT
