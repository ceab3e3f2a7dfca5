"""Paper 002: plain and semantic similarity of pages, and what a page hands on to its links."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifier.topic.background import Background
from classifier.topic.link_score import link_score
from classifier.topic.scorers import METHODS, online_scorer
from classifier.topic.scoring import TopicStart
from classifier.topic.semantic import NO_TREE, SemanticSimilarity
from classifier.topic.semantic_tree import CompactTree, TreeBuilder
from classifier.topic.values import LinkContext, PageText
from classifier.topic.vectors import unit
from classifier.topic.vsm import VsmSimilarity, topic_vector
from classifier.topic.word_similarity import ALPHA

TOPIC = unit({"dog": 1.0, "wolf": 1.0})
HOME = "https://s.example/"
SHARES = st.lists(st.floats(0, 1), max_size=20)


def animals() -> CompactTree:
    """Return thing > animal > dog, wolf, cat; thing > machine > car."""
    builder = TreeBuilder("animals")
    links = [("thing", ""), ("animal", "thing"), ("machine", "thing"), ("car", "machine")]
    links += [(word, "animal") for word in ("dog", "wolf", "cat")]
    for word, parent in links:
        sense = builder.sense(word)
        builder.word(word, sense)
        if parent:
            builder.parent(sense, parent)
    return builder.build("animals")


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


def test_without_a_tree_exact_terms_count_and_the_user_is_told() -> None:
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
    vector = topic_vector(TopicStart(keywords=("wolf", "Wolf", "")), Background())
    assert vector == {"wolf": pytest.approx(1.0)}


def test_a_topic_of_nothing_scores_nothing() -> None:
    vector = topic_vector(TopicStart((PageText(HOME),)), Background())
    assert vector == {}
    assert SemanticSimilarity(vector, animals()).of({"dog": 1.0}) == 0.0


def test_examples_and_key_words_both_shape_the_topic() -> None:
    example = PageText(HOME, "dog", body="a dog is a dog", language="en")
    assert set(topic_vector(TopicStart((example,), ("wolf",)), Background())) == {"dog", "wolf"}


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


@given(st.floats(0, 1), SHARES, st.floats(0, 1), st.floats(0, 1))
def test_a_link_score_lies_between_the_page_and_its_children(
    own: float, children: list[float], valid_from: float, delta: float
) -> None:
    score = link_score(own, children, valid_from, delta=delta)
    assert min([own, *children]) - 1e-9 <= score <= max([own, *children]) + 1e-9


def link(word: str, parent: str = HOME) -> LinkContext:
    return LinkContext(f"https://s.example/{word}", word, parent_url=parent)


def test_links_of_a_page_on_topic_are_worth_more() -> None:
    scorer = online_scorer("vsm", TopicStart(keywords=("wolf",)), Background())
    other = "https://s.example/other"
    scorer.observe(PageText(HOME, "wolf", body="wolf"), [], [])
    scorer.observe(PageText(other, "car", body="car"), [], [])
    from_topic, from_other = scorer.score_links([link("unknown"), link("unknown", other)])
    assert from_topic > from_other


def test_a_parent_that_was_never_seen_is_worth_what_others_say_of_it() -> None:
    scorer = online_scorer("vsm", TopicStart(keywords=("wolf",)), Background())
    told = LinkContext(
        "https://s.example/x", "x", parent_url="https://s.example/?", parent_score=0.9
    )
    assert scorer.score_links([told, link("x")]).tolist() == pytest.approx([0.45, 0.0])


def test_a_fetched_child_counts_with_its_page() -> None:
    """Seen alone the anchor says nothing; the page behind it is all about the topic."""
    scores = []
    for child_first in (False, True):
        scorer = online_scorer("vsm", TopicStart(keywords=("wolf",)), Background())
        if child_first:
            scorer.observe(PageText("https://s.example/more", "wolf", body="wolf"), [], [])
        scorer.observe(PageText(HOME, "index", body="index"), [], [link("more")])
        scores.append(scorer.score_links([link("next")])[0])
    assert scores[1] > scores[0]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_scores_odd_input_within_bounds(method: str) -> None:
    start = TopicStart((PageText(HOME, "wolf"), PageText("")), ("nowhere occurring",))
    scorer = online_scorer(method, start, Background(), animals())
    odd = [PageText(""), PageText("x", "\ufffd\x00"), PageText("y", body="wolf " * 30_000)]
    for page in odd:
        scorer.observe(page, [], [link("wolf"), LinkContext("")], None)
    scores = [*scorer.score_pages(odd), *scorer.score_links([link("wolf"), LinkContext("")])]
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert len(scores) == 5
    assert scorer.name == method


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(ValueError, match="must be one of vsm, semantic"):
        online_scorer("magic", TopicStart(), Background())
