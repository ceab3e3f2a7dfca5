"""In which order links are followed: four ways behind one interface, for the crawler and the benchmark.

::

    learned    what came of links like it in this crawl               learned_order.py
    semantic   paper 002: likeness of link and page, formula 10       similarity_order.py
    bayes      paper 004: naive Bayes on the link's context           bayes_order.py
    pagerank   paper 004's rival: the rank of its target              pagerank.py

    for each page that is fetched:
        order.observe(page, led_here, links, relevance, model)    renew(...) when it was read before
        order.expect(links, model)                                what each of its links promises

The queue is not here. A link that several pages show has one promise for each; the best one counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from classifier.topic.bayes_order import BayesOrder
from classifier.topic.errors import TopicModelError
from classifier.topic.learned_order import LearnedOrder
from classifier.topic.model import TopicModel
from classifier.topic.pagerank import PageRankOrder
from classifier.topic.similarity_order import SimilarityOrder
from classifier.topic.values import LinkContext, PageText, Relevance


class LinkOrder(Protocol):
    """What one topic knows of links: orders, never rejects, bears any input. Not thread-safe."""

    name: str

    def observe(
        self,
        page: PageText,
        led_here: Sequence[LinkContext],
        links: Sequence[LinkContext],
        relevance: Relevance | float,
        model: TopicModel,
    ) -> None:
        """Learn from a page that is fetched for the first time: what led to it, and what it shows.

        *relevance* is the model's judgement. A page is observed before its links are asked about.
        """

    def renew(
        self, page: PageText, links: Sequence[LinkContext], relevance: float, model: TopicModel
    ) -> None:
        """Take a page that was observed before as it stands now; nothing teaches twice."""

    def expect(self, links: Sequence[LinkContext], model: TopicModel) -> list[float]:
        """Return what each link promises, 0 to 1, comparable within a call."""

    def usual(self, model: TopicModel) -> float:
        """Return what is expected of a link that nothing speaks for or against; above 0."""

    def to_json(self) -> dict[str, Any]:
        """Return plain data, of a few megabytes at most."""


_ORDERS: Final[Mapping[str, tuple[Callable[[], LinkOrder], Callable[[object], LinkOrder]]]] = {
    "learned": (LearnedOrder, LearnedOrder.from_json),
    "semantic": (SimilarityOrder, SimilarityOrder.from_json),
    "bayes": (BayesOrder, BayesOrder.from_json),
    "pagerank": (PageRankOrder, PageRankOrder.from_json),
}
# The first is what a topic gets where nothing is chosen.
LINK_ORDERS: Final = tuple(_ORDERS)


def new_order(name: str) -> LinkOrder:
    """Return an order that has seen nothing; raises KeyError for an unknown name."""
    return _ORDERS[name][0]()


def to_kept(order: LinkOrder) -> dict[str, Any]:
    """Return an order as plain data that says which it is."""
    return {"order": order.name, "learned": order.to_json()}


def from_kept(data: object, name: str) -> LinkOrder:
    """Read what :func:`to_kept` gave; an order of another name than *name* begins again.

    Raises TopicModelError when it is damaged, foreign or too new: a new order may take its place.
    """
    if not isinstance(data, Mapping):
        raise TopicModelError("links", str(data)[:80], "are no order of links")
    return _ORDERS[name][1](data.get("learned")) if data.get("order") == name else new_order(name)
