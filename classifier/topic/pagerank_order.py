"""An order that reads no word: paper 004's rival. A link is worth its target's PageRank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Self

from classifier.topic.model import TopicModel
from classifier.topic.pagerank import LinkGraph
from classifier.topic.values import LinkContext, PageText, Relevance

FIRST_RANKINGS: Final = 25
"""Pages after which the ranks are computed again, while the crawl is young."""
GROWTH: Final = 0.05
"""Later, whenever the crawl has grown by this share."""
_LEAST_USUAL: Final = 0.001


class PageRankOrder:
    """A ``LinkOrder``; nothing that is known of relevance counts."""

    name = "pagerank"

    def __init__(self) -> None:
        self._graph = LinkGraph()
        self._pages = 0
        self._next_ranking = 1

    def observe(
        self,
        page: PageText,
        led_here: Sequence[LinkContext],  # noqa: ARG002 - part of the interface
        links: Sequence[LinkContext],
        relevance: Relevance | float,  # noqa: ARG002 - likewise
        model: TopicModel,  # noqa: ARG002 - likewise
    ) -> None:
        """Take the page and its links into the graph; rank anew when that grew enough."""
        self._add(page, links)

    def renew(
        self,
        page: PageText,
        links: Sequence[LinkContext],
        relevance: float,  # noqa: ARG002 - part of the interface
        model: TopicModel,  # noqa: ARG002 - likewise
    ) -> None:
        """Replace the page's links by those it shows now."""
        self._add(page, links)

    def expect(self, links: Sequence[LinkContext], model: TopicModel) -> list[float]:  # noqa: ARG002 - part of the interface
        """Return the rank of each link's target in parts of the highest.

        A target that came after the last ranking has what its page would hand on to it.
        """
        return self._graph.ranks_of([(link.url, link.parent_url) for link in links])

    def usual(self, model: TopicModel) -> float:  # noqa: ARG002 - part of the interface
        """Return the mean rank."""
        return max(self._graph.mean_rank, _LEAST_USUAL)

    def _add(self, page: PageText, links: Sequence[LinkContext]) -> None:
        self._graph.add(page.url, [link.url for link in links])
        self._pages += 1
        if self._pages >= self._next_ranking:
            self._graph.rank()
            step = max(FIRST_RANKINGS, int(GROWTH * self._pages))
            self._next_ranking = self._pages + (1 if self._pages < FIRST_RANKINGS else step)

    def to_json(self) -> dict[str, Any]:
        """Return the graph as plain data; URLs are kept as numbers."""
        return self._graph.to_json()

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Read what :meth:`to_json` gave; raises TopicModelError when it is not that."""
        read = cls()
        read._graph = LinkGraph.from_json(data)
        read._graph.rank()
        read._pages = len(read._graph)
        read._next_ranking = read._pages + FIRST_RANKINGS
        return read
