"""PageRank: what it is on graphs small enough to know."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifier.papers.page_ranking import pagerank


def test_one_page_has_all_the_rank() -> None:
    assert pagerank([], [], 1).tolist() == [1.0]


def test_no_page_has_no_rank() -> None:
    assert pagerank([], [], 0).tolist() == []


def test_pages_without_links_share_equally() -> None:
    assert pagerank([], [], 4).tolist() == pytest.approx([0.25] * 4)


def test_a_star_ranks_as_the_equations_say() -> None:
    """Three pages link to one that links nowhere: x = (1 - d) / 4 + d y / 4, y = x + 3 d x."""
    ranks = pagerank([1, 2, 3], [0, 0, 0], 4)
    x = 1 / (4 + 3 * 0.85)
    assert ranks.tolist() == pytest.approx([x * (1 + 3 * 0.85), x, x, x], abs=1e-6)


def test_a_circle_ranks_alike() -> None:
    assert pagerank([0, 1, 2], [1, 2, 0], 3).tolist() == pytest.approx([1 / 3] * 3)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=40))
def test_ranks_are_the_fixed_point_and_sum_to_one(links: list[tuple[int, int]]) -> None:
    sources, targets = zip(*links, strict=True) if links else ((), ())
    ranks = pagerank(sources, targets, 10)
    matrix = np.zeros((10, 10))
    np.add.at(matrix, (list(targets), list(sources)), 1.0)
    out = matrix.sum(axis=0)
    matrix = np.where(out > 0, matrix / np.where(out > 0, out, 1), 0.1)
    assert ranks.sum() == pytest.approx(1.0)
    assert (0.85 * matrix @ ranks + 0.015).tolist() == pytest.approx(ranks.tolist(), abs=1e-6)
