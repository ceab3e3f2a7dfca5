"""Naive Bayes on link contexts (paper 004): the densities, the scorer, its state."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifier.topic.background import Background
from classifier.topic.bayes import BayesModel, Density, Example, TermNumbers
from classifier.topic.bayes_lessons import MAX_LESSONS
from classifier.topic.bayes_scorer import FIRST_LESSON, BayesScorer
from classifier.topic.errors import TopicModelError
from classifier.topic.scoring import TopicStart
from classifier.topic.values import LinkContext, PageText

TEXTS = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 9), min_size=1, max_size=6)


def packed(texts: Sequence[Mapping[str, float]], numbers: TermNumbers) -> list[Example]:
    return [numbers.example(text) for text in texts]


def weight(text: Mapping[str, float], term: str, texts: Sequence[Mapping[str, float]]) -> float:
    """Paper 004's weight of a term in a text, by the book."""
    if term not in text:
        return 0.0
    holding = sum(term in one for one in texts)
    return (0.5 + 0.5 * text[term] / max(text.values())) * math.log(len(texts) / holding)


def kernel_density(at: float, values: Sequence[float]) -> float:
    """John and Langley's density, without its constant."""
    n = len(values)
    return sum(math.exp(-n * (at - value) ** 2 / 2) for value in values) / math.sqrt(n)


def test_a_weight_is_half_plus_half_its_share_of_the_commonest() -> None:
    example = TermNumbers().example({"law": 4, "sea": 2, "odd": 0})
    assert example.weights.tolist() == [1.0, 0.75]


def test_terms_beyond_the_book_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("classifier.topic.bayes.MAX_TERMS", 1)
    assert len(TermNumbers().example({"law": 4, "sea": 2})) == 1


@given(st.lists(TEXTS, min_size=1, max_size=5), st.lists(TEXTS, min_size=1, max_size=5), TEXTS)
def test_kernel_evidence_is_that_of_the_formula(
    positives: list[dict[str, int]], negatives: list[dict[str, int]], text: dict[str, int]
) -> None:
    """Each held term's ratio of densities against that of its absence; bounded votes."""
    numbers, texts = TermNumbers(), [*positives, *negatives]
    model = BayesModel(packed(positives, numbers), packed(negatives, numbers), Density.KERNEL)
    expected = 0.0
    for term, count in text.items():
        holding = sum(term in one for one in texts)
        if holding:
            values = [[weight(one, term, texts) for one in part] for part in (positives, negatives)]
            at = (0.5 + 0.5 * count / max(text.values())) * math.log(len(texts) / holding)
            held, absent = (
                math.log(kernel_density(x, values[0]) / kernel_density(x, values[1]))
                for x in (at, 0)
            )
            expected += min(max(held - absent, -3.0), 3.0)
    found = model.evidence(packed([text], numbers))
    assert found.tolist() == pytest.approx([expected], abs=1e-6)


@pytest.mark.parametrize("density", Density)
def test_terms_of_a_class_speak_for_it(density: Density) -> None:
    numbers = TermNumbers()
    model = BayesModel(
        packed([{"law": 2, "court": 1}, {"law": 1, "judge": 1}], numbers),
        packed([{"goal": 2, "match": 1}, {"goal": 1, "team": 1}, {"team": 1}], numbers),
        density,
    )
    law, goal, neither = model.evidence(packed([{"law": 1}, {"goal": 1}, {"new": 1}], numbers))
    assert law > neither == 0.0 > goal
    assert model.log_odds(packed([{"new": 1}], numbers))[0] == pytest.approx(model.base)
    assert model.votes(numbers.example({"law": 1, "goal": 1}))[0][0] == numbers.number("law")


def test_a_class_without_examples_is_refused() -> None:
    numbers = TermNumbers()
    with pytest.raises(ValueError, match="each class needs an example"):
        BayesModel(packed([{"law": 1}], numbers), [], Density.NORMAL)


@given(st.lists(TEXTS, min_size=1, max_size=4), st.lists(TEXTS, min_size=1, max_size=4))
@pytest.mark.parametrize("density", Density)
def test_evidence_is_finite(
    density: Density, positives: list[dict[str, int]], negatives: list[dict[str, int]]
) -> None:
    numbers = TermNumbers()
    model = BayesModel(packed(positives, numbers), packed(negatives, numbers), density)
    assert np.isfinite(model.log_odds(packed([*positives, *negatives, {}], numbers))).all()


LAW = "court judge law appeal verdict statute lawyer tribunal"
SPORT = "goal match team player league referee stadium coach"


def page(number: int, words: str) -> PageText:
    return PageText(
        f"https://s.example/{number}", words, body=f"{words} page {words}", language="en"
    )


def led_by(words: str, number: int) -> list[LinkContext]:
    return [LinkContext(f"https://s.example/{number}", words, parent_url="https://s.example/0")]


def taught(pages: int, *, background: tuple[PageText, ...] = ()) -> BayesScorer:
    """A scorer after a crawl that met law and sport in turn."""
    start = TopicStart((page(0, LAW),), background=background)
    scorer = BayesScorer(start, Background(), Density.KERNEL)
    scorer.observe(page(0, LAW), [], [], 1.0)
    for number in range(1, pages + 1):
        words = LAW if number % 2 else SPORT
        scorer.observe(page(number, words), led_by(words.split()[number % 8], number), [])
    return scorer


QUESTIONS = [
    LinkContext("https://s.example/q", "judge"),
    LinkContext("https://s.example/r", "goal"),
]


def test_before_its_first_lesson_all_links_are_alike() -> None:
    scorer = taught(FIRST_LESSON - 1)
    assert scorer.score_links(QUESTIONS).tolist() == [0.5, 0.5]
    assert "no model yet" in scorer.notes[0]


def test_fetched_pages_teach_which_links_to_follow() -> None:
    scorer = taught(FIRST_LESSON)
    on_topic, off_topic = scorer.score_links(QUESTIONS)
    assert on_topic > 0.5 > off_topic
    assert scorer.version == 1
    assert not scorer.notes


def test_background_pages_are_negative_examples_from_the_start() -> None:
    scorer = taught(0, background=(page(90, SPORT), page(91, SPORT)))
    on_topic, off_topic = scorer.score_pages([page(5, LAW), page(6, SPORT)])
    assert on_topic > 0.5 > off_topic


def test_a_users_word_teaches_at_once() -> None:
    """Pages about law are off topic for this user after all."""
    scorer = taught(FIRST_LESSON)
    before = scorer.score_links(QUESTIONS)[0]
    for number in range(50, 56):
        scorer.observe(page(number, LAW), led_by("judge", number), [], 0.0)
    assert scorer.score_links(QUESTIONS)[0] < before


def test_lessons_are_bounded() -> None:
    scorer = taught(MAX_LESSONS + 30)
    assert len(scorer.to_json()["lessons"]) == MAX_LESSONS


def test_a_restored_scorer_scores_as_before() -> None:
    scorer = taught(30)
    restored = BayesScorer(TopicStart((page(0, LAW),)), Background(), Density.KERNEL)
    restored.restore(json.loads(json.dumps(scorer.to_json())))
    again = BayesScorer(TopicStart((page(0, LAW),)), Background(), Density.KERNEL)
    again.restore(json.loads(json.dumps(restored.to_json())))
    assert restored.score_links(QUESTIONS).tolist() == again.score_links(QUESTIONS).tolist()
    assert restored.score_links(QUESTIONS)[0] > 0.5 > restored.score_links(QUESTIONS)[1]


@pytest.mark.parametrize(
    "damage",
    [
        {"format": 2},
        {"lessons": [[0.5, None, []]]},
        {"lessons": [[2.0, None, [[[0], [1.0]]]]]},
        {"lessons": [[0.5, None, [[[99], [1.0]]]]]},
        {"lessons": [[0.5, None, [[[0], [1.0, 0.5]]]]]},
        {"terms": "law"},
    ],
)
def test_a_damaged_state_is_refused_and_nothing_changes(damage: dict[str, object]) -> None:
    scorer = taught(FIRST_LESSON)
    before = scorer.score_links(QUESTIONS).tolist()
    with pytest.raises(TopicModelError, match="damaged or of another version"):
        scorer.restore({"format": 1, "terms": ["law"], "lessons": [], **damage})
    assert scorer.score_links(QUESTIONS).tolist() == before


@pytest.mark.parametrize(
    "odd", [PageText(""), PageText("x", "one"), PageText("x", body="\x00 ∑ 1 2")]
)
def test_odd_pages_have_a_score(odd: PageText) -> None:
    scorer = taught(FIRST_LESSON)
    scorer.observe(odd, [LinkContext("")], [])
    assert 0.0 <= scorer.score_pages([odd])[0] <= 1.0
    assert scorer.score_links([]).tolist() == []
