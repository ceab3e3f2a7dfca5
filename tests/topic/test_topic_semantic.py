"""Paper 002: plain and semantic similarity of pages, and what a page hands on to its links."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from topic_pages import give_feedback

from classifier.links.similarity_order import SimilarityOrder, link_score
from classifier.papers.semantic_tree import SemanticTree, TreeBuilder
from classifier.papers.similarity import NO_TREE, SemanticSimilarity, VsmSimilarity, topic_vector
from classifier.papers.word_similarity import ALPHA
from classifier.topic.model import TopicModel
from classifier.words.background import Background
from classifier.words.evidence import Evidence
from classifier.words.values import LinkContext, PageText
from classifier.words.vectors import unit

TOPIC = unit({"dog": 1.0, "wolf": 1.0})
HOME = "https://s.example/"
SHARES = st.lists(st.floats(0, 1), max_size=20)


def animals() -> SemanticTree:
    """Return thing > animal > dog, wolf, cat; thing > machine > car."""
    builder = TreeBuilder("animals")
    links = [("thing", ""), ("animal", "thing"), ("machine", "thing"), ("car", "machine")]
    links += [(word, "animal") for word in ("dog", "wolf", "cat")]
    for word, parent in links:
        sense = builder.sense(word)
        builder.word(word, sense)
        if parent:
            builder.parent(sense, parent)
    return builder.build()


def test_a_page_of_the_topics_own_words_has_cosine_one() -> None:
    assert VsmSimilarity(TOPIC).of({"dog": 3.0, "wolf": 3.0}) == pytest.approx(1.0)
    assert VsmSimilarity(TOPIC).of({"cat": 1.0}) == 0.0


def test_near_words_count_where_plain_vectors_see_none() -> None:
    similarity = SemanticSimilarity(TOPIC, animals())
    assert similarity.of({"cat": 1.0}) > similarity.of({"car": 1.0}) > 0.0


def test_similarity_is_the_mean_of_cosine_and_formula_8() -> None:
    """One word, equal weights: s(dog, dog) = 1, s(dog, wolf) = alpha / (alpha + 2)."""
    semantic = (1 + ALPHA / (ALPHA + 2)) / 2
    similarity = SemanticSimilarity(TOPIC, animals())
    assert similarity.semantic({"dog": 5.0}) == pytest.approx(semantic)
    assert similarity.of({"dog": 5.0}) == pytest.approx((2**-0.5 + semantic) / 2)


def test_without_a_tree_exact_terms_count_and_the_user_is_warned() -> None:
    similarity = SemanticSimilarity(TOPIC, None)
    assert similarity.notes == (NO_TREE,)
    assert similarity.of({"cat": 1.0}) == 0.0
    assert similarity.semantic({"dog": 1.0, "cat": 1.0}) == pytest.approx(0.25)


def test_the_explanation_names_words_that_are_only_near() -> None:
    terms = [
        term for term, _ in SemanticSimilarity(TOPIC, animals()).terms({"dog": 1.0, "cat": 1.0})
    ]
    assert terms == ["dog", "cat"]


@given(st.dictionaries(st.sampled_from(["dog", "cat", "car", "new"]), st.floats(0, 99)))
def test_similarities_stay_within_bounds(vector: dict[str, float]) -> None:
    for similarity in (VsmSimilarity(TOPIC), SemanticSimilarity(TOPIC, animals())):
        assert 0.0 <= similarity.of(vector) <= 1.0


def test_a_topic_may_be_key_words_alone() -> None:
    vector = topic_vector(Evidence(keywords=("wolf", "Wolf", "")), Background())
    assert vector == {"wolf": pytest.approx(1.0)}


def test_a_topic_of_nothing_scores_nothing() -> None:
    vector = topic_vector(Evidence(examples=({},)), Background())
    assert vector == {}
    assert SemanticSimilarity(vector, animals()).of({"dog": 1.0}) == 0.0


def test_examples_and_key_words_both_shape_the_topic() -> None:
    evidence = Evidence(examples=({"dog": 2.0},), keywords=("wolf",))
    assert set(topic_vector(evidence, Background())) == {"dog", "wolf"}


@pytest.mark.parametrize(
    ("children", "expected"),
    [
        ([], 0.5),
        ([0.9, 0.9, 0.9, 0.1], 0.8 * 0.5 + 0.2 * 0.9),
        ([0.9, 0.1], 0.8 * 0.5 + 0.2 * 0.5),
        ([0.9, 0.1, 0.1, 0.1], 0.5),
    ],
    ids=["none", "most are valid: the bad one is dropped", "some: all count", "few: none counts"],
)
def test_children_count_by_three_cases(children: list[float], expected: float) -> None:
    assert link_score(0.5, children, 0.4) == pytest.approx(expected)


@given(st.floats(0, 1), SHARES, st.floats(0, 1))
def test_a_link_score_lies_between_the_page_and_its_children(
    own: float, children: list[float], valid_from: float
) -> None:
    score = link_score(own, children, valid_from)
    assert min([own, *children]) - 1e-9 <= score <= max([own, *children]) + 1e-9


def link(word: str, parent: str = HOME, **more: Any) -> LinkContext:
    return LinkContext(f"https://s.example/{word}", word, parent_url=parent, **more)


@cache
def wolves() -> TopicModel:
    return TopicModel.learn([], ["wolf"], background=Background(), tree=animals())


def test_links_of_a_page_on_topic_are_worth_more() -> None:
    order = SimilarityOrder()
    other = "https://s.example/other"
    order.observe(PageText(HOME, "wolf", body="wolf"), [], [], 0.0, wolves())
    order.observe(PageText(other, "car", body="car"), [], [], 0.0, wolves())
    from_topic, from_other = order.expect([link("unknown"), link("unknown", other)], wolves())
    assert from_topic > from_other


def test_a_link_in_words_that_are_near_in_the_tree_is_worth_more() -> None:
    near, far = SimilarityOrder().expect([link("dog"), link("car")], wolves())
    assert near > far > 0


def test_a_parent_that_was_never_seen_is_worth_what_others_say_of_it() -> None:
    likeness, silent = SimilarityOrder().expect(
        [link("x", "?", parent_score=0.9), link("x")], wolves()
    )
    assert likeness - silent == pytest.approx(0.45)


def test_a_fetched_child_counts_with_its_page() -> None:
    """Seen alone the anchor says nothing; the page behind it is all about the topic."""
    scores = []
    for child_first in (False, True):
        order = SimilarityOrder()
        if child_first:
            page = PageText("https://s.example/more", "wolf", body="wolf")
            order.observe(page, [], [], 0.0, wolves())
        order.observe(PageText(HOME, "index", body="index"), [], [link("more")], 0.0, wolves())
        scores.append(order.expect([link("next")], wolves())[0])
    assert scores[1] > scores[0]


def test_what_a_user_calls_relevant_is_part_of_the_likeness() -> None:
    order = SimilarityOrder()
    before = order.expect([link("car")], wolves())[0]
    page = PageText("https://s.example/c", "car", body="car", language="en")
    trained = give_feedback(wolves(), page, relevant=True)
    assert order.expect([link("car")], trained)[0] > before
