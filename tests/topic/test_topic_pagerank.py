"""PageRank: what it is on graphs small enough to know, and the crawler that follows it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifier.links import pagerank_order as pagerank_module
from classifier.links.pagerank_order import LinkGraph, PageRankOrder
from classifier.papers.pagerank import pagerank
from classifier.topic.model import TopicModel
from classifier.words.background import Background
from classifier.words.errors import TopicModelError
from classifier.words.values import LinkContext, PageText


@pytest.fixture(scope="module")
def model() -> TopicModel:
    return TopicModel.learn([], ["wolf"], background=Background())


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


def test_without_damping_all_pages_are_alike() -> None:
    assert pagerank([0], [1], 3, damping=0.0).tolist() == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize(("source", "damping"), [(3, 0.85), (0, 1.0), (-1, 0.85), (0, -0.1)])
def test_what_is_no_graph_is_refused(source: int, damping: float) -> None:
    with pytest.raises(ValueError, match=r"must be|outside"):
        pagerank([source], [1], 3, damping=damping)


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


def ranks(graph: LinkGraph, *urls: str) -> list[float]:
    return graph.ranks_of([(url, "") for url in urls])


def test_a_graph_counts_a_link_once_and_none_of_a_page_to_itself() -> None:
    graph = LinkGraph()
    graph.add("a", ["b", "b", "a"])
    graph.rank()
    assert ranks(graph, "b", "a") == pytest.approx([1.0, 1 / 1.85])
    assert graph.mean_rank == pytest.approx((1.0 + 1 / 1.85) / 2)


def test_a_page_that_is_read_again_has_the_links_it_shows_now() -> None:
    graph = LinkGraph()
    graph.add("a", ["b"])
    graph.add("a", ["c"])
    graph.rank()
    assert len(graph) == 1
    assert ranks(graph, "c", "a") == pytest.approx([1.0, 1 / 1.85])


def test_a_link_that_came_later_has_what_its_page_would_hand_on() -> None:
    graph = LinkGraph()
    graph.add("a", ["b"])
    graph.rank()
    graph.add("b", ["new", "other"])
    known = graph.ranks_of([("b", "a")])[0]
    early = graph.ranks_of([("new", "b")])[0]
    assert ranks(graph, "unheard")[0] < early < known


def test_a_full_graph_forgets_the_pages_read_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pagerank_module, "MAX_LINKS", 4)
    graph = LinkGraph()
    for number in range(6):
        graph.add(f"page {number}", [f"target {number}"])
    graph.rank()
    assert len(graph) <= 4
    assert ranks(graph, "target 0")[0] < ranks(graph, "target 5")[0]


def test_a_graph_survives_json() -> None:
    graph = LinkGraph()
    graph.add("a", ["b", "c"])
    graph.add("b", ["c"])
    read = LinkGraph.from_json(json.loads(json.dumps(graph.to_json())))
    for one in (graph, read):
        one.rank()
    assert ranks(read, "a", "b", "c") == ranks(graph, "a", "b", "c")


@pytest.mark.parametrize("data", [None, {}, {"pages": [[1, ["x"]]]}])
def test_what_is_no_graph_of_links_is_refused(data: Any) -> None:
    with pytest.raises(TopicModelError):
        LinkGraph.from_json(data)


def test_the_order_prefers_what_many_pages_name(model: TopicModel) -> None:
    order = PageRankOrder()
    for number in range(5):
        url = f"https://s.example/{number}"
        shown = [LinkContext("https://s.example/known", parent_url=url)]
        shown.append(LinkContext(f"https://s.example/only/{number}", parent_url=url))
        order.observe(PageText(url), [], shown, 0.0, model)
    known, once, never = order.expect(
        [LinkContext(f"https://s.example/{path}") for path in ("known", "only/0", "never")], model
    )
    assert 1.0 == known > once > never
