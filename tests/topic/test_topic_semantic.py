"""Paper 002: plain and semantic similarity of pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifier.papers.rankers import Fitted, LinearRanker
from classifier.papers.semantic_tree import SemanticTree, tree_of
from classifier.papers.similarity import (
    ALPHA,
    NO_TREE,
    SemanticSimilarity,
    link_score,
    topic_vector,
)
from classifier.words.background import Background
from classifier.words.batch import PageBatch
from classifier.words.evidence import Evidence
from classifier.words.vectors import unit

TOPIC = unit({"dog": 1.0, "wolf": 1.0})


SHARES = st.lists(st.floats(0, 1), max_size=20)


def animals() -> SemanticTree:
    """Return thing > animal > dog, wolf, cat; thing > machine > car."""
    up = {"thing": [], "animal": ["thing"], "machine": ["thing"], "car": ["machine"]}
    up |= {word: ["animal"] for word in ("dog", "wolf", "cat")}
    return tree_of("animals", up, [(word, word, "") for word in up])


def of(method: Fitted, page: dict[str, float]) -> float:
    """The score of one page."""
    return float(method.scores(PageBatch([page], Background()))[0])


def test_a_page_of_the_topics_own_words_has_cosine_one() -> None:
    background = Background()
    topic = topic_vector(Evidence(examples=({"dog": 1.0, "wolf": 1.0},)), background)
    plain = LinearRanker(background, topic)
    assert of(plain, {"dog": 3.0, "wolf": 3.0}) == pytest.approx(1.0)
    assert of(plain, {"cat": 1.0}) == 0.0


def test_near_words_count_where_plain_vectors_see_none() -> None:
    similarity = SemanticSimilarity(TOPIC, Background(), animals())
    assert of(similarity, {"cat": 1.0}) > of(similarity, {"car": 1.0}) > 0.0


def test_similarity_is_the_mean_of_cosine_and_formula_8() -> None:
    """One word, equal weights: s(dog, dog) = 1, s(dog, wolf) = alpha / (alpha + 2)."""
    semantic = (1 + ALPHA / (ALPHA + 2)) / 2
    similarity = SemanticSimilarity(TOPIC, Background(), animals())
    assert similarity.semantic({"dog": 5.0}) == pytest.approx(semantic)
    assert of(similarity, {"dog": 5.0}) == pytest.approx((2**-0.5 + semantic) / 2)


def test_without_a_tree_exact_terms_count_and_the_user_is_warned() -> None:
    similarity = SemanticSimilarity(TOPIC, Background(), None)
    assert similarity.notes == (NO_TREE,)
    assert of(similarity, {"cat": 1.0}) == 0.0
    assert similarity.semantic({"dog": 1.0, "cat": 1.0}) == pytest.approx(0.25)


def test_the_explanation_names_words_that_are_only_near() -> None:
    terms = [
        term
        for term, _ in SemanticSimilarity(TOPIC, Background(), animals()).terms(
            {"dog": 1.0, "cat": 1.0}, 10
        )
    ]
    assert terms == ["dog", "cat"]


@given(st.dictionaries(st.sampled_from(["dog", "cat", "car", "new"]), st.floats(0, 99)))
def test_similarities_stay_within_bounds(vector: dict[str, float]) -> None:
    for similarity in (
        LinearRanker(Background(), TOPIC),
        SemanticSimilarity(TOPIC, Background(), animals()),
    ):
        assert 0.0 <= of(similarity, vector) <= 1.0 + 1e-9


def test_a_topic_may_be_key_words_alone() -> None:
    vector = topic_vector(Evidence(keywords=("wolf", "Wolf", "")), Background())
    assert vector == {"wolf": pytest.approx(1.0)}


def test_a_topic_of_nothing_scores_nothing() -> None:
    vector = topic_vector(Evidence(examples=({},)), Background())
    assert vector == {}
    assert of(SemanticSimilarity(vector, Background(), animals()), {"dog": 1.0}) == 0.0


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
