"""The rankers, the key words and the threshold, each alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from topic_pages import crawled_background, pages_of

from classifier.topic.background import Background
from classifier.topic.batch import PageBatch
from classifier.topic.bayes import Density
from classifier.topic.keywords import Keywords
from classifier.topic.rankers import (
    BayesRanker,
    Bm25Ranker,
    CentroidRanker,
    LogisticRanker,
    OneClassSvmRanker,
    Ranker,
)
from classifier.topic.text import weighted_terms
from classifier.topic.thresholds import BY_MEANING, BY_WORDS, Threshold, choose_threshold, corrected
from classifier.topic.values import Verdict

RANKERS: dict[str, Callable[[Background], Ranker]] = {
    "bm25": Bm25Ranker,
    "centroid": CentroidRanker,
    "logistic": LogisticRanker,
    "one-class": OneClassSvmRanker,
    "normal": lambda _: BayesRanker(Density.NORMAL),
    "kernel": lambda _: BayesRanker(Density.KERNEL),
}


def _terms(field: str, count: int, start: int = 0) -> list[dict[str, float]]:
    return [weighted_terms(page) for page in pages_of(field, count, start)]


@pytest.mark.parametrize("name", RANKERS)
def test_a_ranker_puts_its_topic_first_and_names_its_terms(name: str) -> None:
    background = crawled_background(per_field=10)
    ranker = RANKERS[name](background)
    ranker.fit(_terms("astronomy", 5), _terms("cooking", 10) + _terms("banking", 10))
    own = ranker.scores(PageBatch(_terms("astronomy", 5, start=50), background))
    other = ranker.scores(PageBatch(_terms("cooking", 5, start=50), background))
    assert own.mean() > other.max()
    named = {term for term, _ in ranker.terms(_terms("astronomy", 1, start=50)[0], 5)}
    assert named & {
        "galaxi",
        "telescop",
        "star",
        "orbit",
        "planet",
        "comet",
        "nebula",
        "eclips",
        "lunar",
        "cosmic",
        "observatori",
    }


@pytest.mark.parametrize("name", RANKERS)
def test_a_ranker_bears_empty_pages_and_no_negatives(name: str) -> None:
    background = Background()
    ranker = RANKERS[name](background)
    ranker.fit([{"goal": 1.0}], [])
    scores = ranker.scores(PageBatch([{}, {"goal": 1.0}, {"other": 2.0}], background))
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()
    assert ranker.scores(PageBatch([], background)).shape == (0,)
    assert ranker.terms({}, 5) == []


def test_key_words_count_by_rarity_and_saturate() -> None:
    background = Background()
    words = Keywords(["goal", "zeppelin"])
    once, often, rare = ({"goal": 1.0}, {"goal": 9.0}, {"zeppelin": 1.0})
    assert words.score(once, background) < words.score(often, background) < 1.0
    assert words.score(rare, background) > words.score(once, background)


def test_a_phrase_is_there_when_all_its_words_are() -> None:
    words = Keywords(["penalty shootout"])
    assert words.score({"penalti": 1.0}, Background()) == 0.0
    assert words.score({"penalti": 1.0, "shootout": 1.0}, Background()) > 0.0


def test_words_that_everybody_uses_are_no_key_words() -> None:
    assert not Keywords(["the", "", "  ", "的"])
    assert Keywords(["the match"]).phrases == {"the match": ("match",)}


SCORES = st.lists(st.floats(-5, 20), max_size=5)


@given(SCORES, st.lists(st.floats(-3, 3), max_size=100))
def test_any_scores_give_a_threshold_at_which_the_score_is_a_half(
    left_out: list[float], sample: list[float]
) -> None:
    threshold = choose_threshold(left_out, np.array(sample))
    assert threshold.score(threshold.value) == 0.5
    assert threshold.verdict(threshold.value) is Verdict.RELEVANT
    assert threshold.score(threshold.value - 1) < 0.5 < threshold.score(threshold.value + 1)


@given(st.floats(-2, 6), SCORES, SCORES, SCORES)
def test_relevant_pages_only_open_the_gate_and_irrelevant_ones_only_close_it(
    start: float, examples: list[float], right: list[float], wrong: list[float]
) -> None:
    before = Threshold(start, "examples")
    opened = corrected(before, examples=examples, relevant=right, irrelevant=[])
    closed = corrected(before, examples=examples, relevant=[], irrelevant=wrong)
    assert opened.value <= start <= closed.value


def test_below_the_threshold_is_grey_then_irrelevant() -> None:
    threshold = choose_threshold([3.0, 3.5], np.linspace(-2, 2, 100))
    assert threshold.verdict(threshold.value - 0.1) is Verdict.GREY
    assert threshold.verdict(threshold.value - 2) is Verdict.IRRELEVANT
    assert threshold.verdict(-float("inf")) is Verdict.IRRELEVANT


def test_by_meaning_a_topic_of_more_examples_is_thought_to_score_higher_up_to_five() -> None:
    means = [BY_MEANING.mean_with(count) for count in (0, 1, 2, 5, 12)]
    assert means == pytest.approx([1.8, 1.8, 1.95, 2.4, 2.4])
    assert BY_WORDS.mean_with(5) == BY_WORDS.mean


def test_corrections_part_the_pages() -> None:
    sample = np.random.default_rng(0).normal(size=500)
    free = choose_threshold([3.0, 4.0], sample)
    wrong = [2.4, 2.5, 2.6, 2.7]
    trained = corrected(free, examples=[3.0, 4.0], relevant=[3.5], irrelevant=wrong)
    assert trained.source == "corrections"
    assert free.source == "examples"
    assert 2.7 < trained.value <= 3.0
