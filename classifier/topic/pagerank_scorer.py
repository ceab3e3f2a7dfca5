"""A crawler that knows only the link graph: paper 004's rival. A link is worth its target's PageRank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from classifier.topic.pagerank import LinkGraph
from classifier.topic.values import LinkContext, PageText

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FIRST_RANKINGS: Final = 25
"""Pages after which the ranks are computed again, while the crawl is young."""
GROWTH: Final = 0.05
"""Later, whenever the crawl has grown by this share."""


class PageRankScorer:
    """An ``OnlineScorer`` that reads no word; nothing that it is told of relevance counts."""

    name = "pagerank"
    notes: tuple[str, ...] = ()

    def __init__(self) -> None:
        self._graph = LinkGraph()
        self._pages = 0
        self._next_ranking = 1
        self.version = 0

    def score_pages(self, pages: Sequence[PageText]) -> NDArray[np.float64]:
        """Return each page's rank in parts of the highest; 0 for one that no crawled page names."""
        return self._graph.ranks_of([page.url for page in pages])

    def score_links(self, links: Sequence[LinkContext]) -> NDArray[np.float64]:
        """Return the rank of each link's target, likewise."""
        return self._graph.ranks_of([link.url for link in links])

    def observe(
        self,
        page: PageText,
        led_here: Sequence[LinkContext],  # noqa: ARG002 - part of the interface
        links: Sequence[LinkContext],
        relevance: float | None = None,  # noqa: ARG002 - likewise
    ) -> None:
        """Take the page and its links into the graph; rank anew when that grew enough."""
        self._graph.add(page.url, [link.url for link in links])
        self._pages += 1
        if self._pages >= self._next_ranking:
            self._graph.rank()
            self.version += 1
            step = max(FIRST_RANKINGS, int(GROWTH * self._pages))
            self._next_ranking = self._pages + (1 if self._pages < FIRST_RANKINGS else step)
