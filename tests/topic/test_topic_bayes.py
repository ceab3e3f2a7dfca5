"""Naive Bayes on link contexts (paper 004): the densities, the scorer, its state."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from topic_pages import give_feedback

from classifier.links.bayes_order import FIRST_TRAINING, MAX_TRAINING_EXAMPLES, BayesOrder
from classifier.papers.bayes import BayesModel, Density, TermExample, TermNumbers
from classifier.topic.model import TopicModel
from classifier.words.background import Background
from classifier.words.errors import TopicModelError
from classifier.words.values import LinkContext, PageText

TEXTS = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 9), min_size=1, max_size=6)


def packed(texts: Sequence[Mapping[str, float]], numbers: TermNumbers) -> list[TermExample]:
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
    monkeypatch.setattr("classifier.papers.bayes.MAX_TERMS", 1)
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


@cache
def law() -> TopicModel:
    """A topic of one example."""
    return TopicModel.learn([page(0, LAW)], background=Background())


def trained(pages: int) -> BayesOrder:
    """An order after a crawl that met law and sport in turn."""
    order = BayesOrder()
    order.observe(page(0, LAW), [], [], 1.0, law())
    for number in range(1, pages + 1):
        words = LAW if number % 2 else SPORT
        led_here = led_by(words.split()[number % 8], number)
        order.observe(page(number, words), led_here, [], 0.5, law())
    return order


QUESTIONS = [
    LinkContext("https://s.example/q", "judge"),
    LinkContext("https://s.example/r", "goal"),
]


def test_before_its_first_training_all_links_are_alike() -> None:
    assert trained(FIRST_TRAINING - 1).expect(QUESTIONS, law()) == [0.5, 0.5]


@pytest.mark.parametrize("density", Density)
def test_fetched_pages_teach_which_links_to_follow(density: Density) -> None:
    order = BayesOrder(density)
    for number in range(1, FIRST_TRAINING + 1):
        words = LAW if number % 2 else SPORT
        order.observe(
            page(number, words), led_by(words.split()[number % 8], number), [], 0.5, law()
        )
    on_topic, off_topic = order.expect(QUESTIONS, law())
    assert on_topic > 0.5 > off_topic


def test_a_link_takes_after_the_page_that_shows_it() -> None:
    order = trained(FIRST_TRAINING)
    shown = [
        LinkContext("https://s.example/x", "x", parent_url=f"https://s.example/{number}")
        for number in (1, 2)
    ]
    by_law, by_sport = order.expect(shown, law())
    assert by_law > by_sport


def test_a_users_word_teaches_at_once_and_outranks_the_cosine() -> None:
    """Pages about law are off topic for this user after all."""
    order = trained(FIRST_TRAINING)
    before = order.expect(QUESTIONS, law())[0]
    corrected = give_feedback(law(), page(1, LAW), relevant=False)
    assert order.expect(QUESTIONS, corrected)[0] < before


def test_training_examples_are_bounded() -> None:
    assert (
        len(trained(MAX_TRAINING_EXAMPLES + 30).to_json()["training_examples"])
        == MAX_TRAINING_EXAMPLES
    )


def test_a_page_that_is_read_again_gives_no_second_training_example() -> None:
    order = trained(FIRST_TRAINING)
    order.renew(page(1, LAW), [], 0.5, law())
    assert len(order.to_json()["training_examples"]) == FIRST_TRAINING


def test_a_restored_order_promises_as_before() -> None:
    order = trained(30)
    restored = BayesOrder.from_json(json.loads(json.dumps(order.to_json())))
    again = BayesOrder.from_json(json.loads(json.dumps(restored.to_json())))
    assert restored.expect(QUESTIONS, law()) == again.expect(QUESTIONS, law())
    assert restored.expect(QUESTIONS, law())[0] > 0.5 > restored.expect(QUESTIONS, law())[1]


@pytest.mark.parametrize(
    "damage",
    [
        {"training_examples": [[0.5, []]]},
        {"training_examples": [[2.0, [{"law": 1.0}]]]},
        {"training_examples": [[0.5, [{"law": 2.0}]]]},
        {"training_examples": [[0.5, [["law"]]]]},
        {"training_examples": "law"},
    ],
)
def test_damaged_training_examples_are_refused(damage: dict[str, object]) -> None:
    with pytest.raises(TopicModelError, match="damaged"):
        BayesOrder.from_json({"training_examples": [], **damage})
