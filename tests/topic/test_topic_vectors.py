"""Sparse vectors: the dicts and the matrices say the same."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifier.words.background import Background, tf_idf
from classifier.words.vectors import Vocabulary, cosine, dot, mean, norm, top, truncated, unit

vectors = st.dictionaries(
    st.sampled_from("abcdefgh"), st.floats(0.01, 100, allow_nan=False), max_size=8
)


@given(vectors, vectors)
def test_cosine_lies_between_0_and_1_and_is_symmetric(
    left: dict[str, float], right: dict[str, float]
) -> None:
    assert 0.0 <= cosine(left, right) <= 1.0
    assert cosine(left, right) == pytest.approx(cosine(right, left))


@given(vectors)
def test_a_vector_is_like_itself_and_its_unit_has_length_1(vector: dict[str, float]) -> None:
    if vector:
        assert cosine(vector, vector) == pytest.approx(1.0)
        assert norm(unit(vector)) == pytest.approx(1.0)


@given(st.lists(vectors, max_size=5), vectors)
def test_matrix_and_dicts_agree(pages: list[dict[str, float]], centre: dict[str, float]) -> None:
    vocabulary = Vocabulary.of(pages)
    products = vocabulary.rows(pages) @ vocabulary.dense(centre)
    assert products.tolist() == pytest.approx([dot(page, centre) for page in pages])


def test_the_mean_of_none_is_empty_and_of_two_is_between_them() -> None:
    assert mean([]) == {}
    assert mean([{"a": 2.0}, {"b": 4.0}]) == {"a": 1.0, "b": 2.0}


def test_what_is_not_finite_has_no_direction() -> None:
    assert unit({"a": math.inf}) == {}
    assert unit({}) == {}


def test_the_heaviest_terms_stay_and_ties_go_by_name() -> None:
    assert top({"b": 1.0, "a": 1.0, "c": 2.0}, 2) == [("c", 2.0), ("a", 1.0)]
    assert truncated({"b": 1.0, "a": 1.0, "c": 2.0}, 2) == {"c": 2.0, "a": 1.0}


def test_sublinear_frequency_grows_with_the_logarithm() -> None:
    background = Background()
    weights = tf_idf({"zzz": math.e, "yyy": 1.0}, background)
    assert weights["zzz"] == pytest.approx(2 * weights["yyy"])


def test_a_fixed_vocabulary_drops_other_terms() -> None:
    vocabulary = Vocabulary.of([{"c": 1.0, "a": 1.0}, {"a": 1.0}])
    assert vocabulary.terms == ("a", "c")
    assert vocabulary.rows([{"b": 5.0}, {"a": 2.0}]).toarray().tolist() == [[0.0, 0.0], [2.0, 0.0]]
