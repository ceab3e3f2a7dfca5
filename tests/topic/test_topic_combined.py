"""Rankings are combined by position; ties are nobody's luck."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifier.papers.page_ranking import combined_function, positions

_SCORES = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=30)


def test_the_highest_score_is_first_and_equals_share() -> None:
    assert positions([0.1, 0.9, 0.5, 0.5]).tolist() == [4.0, 1.0, 2.5, 2.5]


def test_formula_8_on_three_pages() -> None:
    """Positions 1 2 3 and 2 1 3, PageRank 3 2 1: 0.8 * mean + 0.2 * PageRank."""
    combined = combined_function([np.array([3, 2, 1]), np.array([2, 3, 1])], np.array([1, 2, 3]))
    assert combined == pytest.approx([0.8 * 1.5 + 0.6, 0.8 * 1.5 + 0.4, 0.8 * 3 + 0.2])


def test_what_is_no_number_ranks_last() -> None:
    assert positions([float("nan"), 0.0, -9.0]).tolist() == [3.0, 1.0, 2.0]


@given(_SCORES)
def test_positions_fill_the_places(scores: list[float]) -> None:
    places = positions(scores)
    assert places.sum() == pytest.approx(len(scores) * (len(scores) + 1) / 2)
    assert np.array_equal(np.argsort(-np.array(scores), kind="stable"),
                          np.argsort(places, kind="stable"))  # fmt: skip


@given(_SCORES)
def test_what_all_prefer_comes_first(scores: list[float]) -> None:
    given = np.array(scores)
    combined = combined_function([given, given], given)
    assert combined[int(np.argmax(given))] == combined.min()
