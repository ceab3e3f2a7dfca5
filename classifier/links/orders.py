"""Link orders, four methods behind one interface for the crawler and the benchmark.

::

    learned    the outcome of similar links in this crawl             learned_order.py
    semantic   paper 002: likeness of link and page, formula 10       similarity_order.py
    bayes      paper 004: naive Bayes on the link's context           bayes_order.py
    pagerank   paper 004's rival: the rank of its target              pagerank_order.py

    for each fetched page:
        order.observe(page, led_here, links, relevance, model)    renew(...) if observed before
        order.expect(links, model)                                the promise of each of its links

The queue is elsewhere. A link has one promise per page that shows it; the best one counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from classifier.links.bayes_order import BayesOrder
from classifier.links.learned_order import LearnedOrder
from classifier.links.pagerank_order import PageRankOrder
from classifier.links.similarity_order import SimilarityOrder
from classifier.topic.model import TopicModel
from classifier.words.errors import of_format
from classifier.words.values import LinkContext, PageText, Relevance


class LinkOrder(Protocol):
    """A topic's link order: never rejects, accepts any input. Not thread-safe."""

    name: str

    def observe(
        self,
        page: PageText,
        led_here: Sequence[LinkContext],
        links: Sequence[LinkContext],
        relevance: Relevance | float,
        model: TopicModel,
    ) -> None:
        """Learn from a page at its first fetch, before :meth:`expect` is asked about its links.

        *led_here* are links to it, *relevance* is the model's judgement.
        """

    def renew(
        self, page: PageText, links: Sequence[LinkContext], relevance: float, model: TopicModel
    ) -> None:
        """Update an observed page to its current state, without learning from it twice."""

    def expect(self, links: Sequence[LinkContext], model: TopicModel) -> list[float]:
        """Return each link's promise, 0 to 1, comparable within a call."""

    def usual(self, model: TopicModel) -> float:
        """Return the promise of a link without any evidence; above 0."""

    def to_json(self) -> dict[str, Any]:
        """Return plain data, a few megabytes at most."""


_FORMAT: Final = 1
_ORDERS: Final[Mapping[str, tuple[Callable[[], LinkOrder], Callable[[Any], LinkOrder]]]] = {
    "learned": (LearnedOrder, LearnedOrder.from_json),
    "semantic": (SimilarityOrder, SimilarityOrder.from_json),
    "bayes": (BayesOrder, BayesOrder.from_json),
    "pagerank": (PageRankOrder, PageRankOrder.from_json),
}
# The first is the default.
LINK_ORDERS: Final = tuple(_ORDERS)


def new_order(name: str) -> LinkOrder:
    """Return an untrained order; raises KeyError for an unknown name."""
    return _ORDERS[name][0]()


def to_kept(order: LinkOrder) -> dict[str, Any]:
    """Return an order as plain data with its name."""
    return {"format": _FORMAT, "order": order.name, "learned": order.to_json()}


def from_kept(data: object, name: str) -> LinkOrder:
    """Read the form of :func:`to_kept`; a new order if it is not one of *name*.

    Raises TopicModelError if it is damaged, foreign or too new; callers may then start a new one.
    """
    kept = of_format(data, "links", _FORMAT)
    return _ORDERS[name][1](kept.get("learned")) if kept.get("order") == name else new_order(name)
