"""Links by the PageRank of their targets in the crawl so far: paper 004's rival, which ignores text."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from classifier.links.places import key_of
from classifier.papers.pagerank import DAMPING, pagerank
from classifier.topic.model import TopicModel
from classifier.words.errors import reading
from classifier.words.values import LinkContext, PageText, Relevance

# Of all pages together; beyond this the older half of the pages is dropped.
MAX_LINKS: Final = 200_000
MAX_LINKS_PER_PAGE: Final = 2_000
# Pages between rankings, while the crawl is young; until there are as many, after every page.
FIRST_RANKINGS: Final = 25
# Later, the growth of the crawl between rankings.
GROWTH: Final = 0.05
_LEAST_USUAL: Final = 0.001


class LinkGraph:
    """The pages fetched so far and their links, by URL keys; bounded."""

    def __init__(self) -> None:
        # Key of a fetched page -> keys of its targets; pages in the order of reading.
        self._targets: dict[int, array[int]] = {}
        self._links = 0
        # Sorted keys at the last ranking; their ranks are relative to the highest.
        self._nodes: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._ranks: NDArray[np.float64] = np.zeros(0)
        # The relative rank of a page that no page links to.
        self._base = 0.0

    def __len__(self) -> int:
        """Return the number of pages whose links are known."""
        return len(self._targets)

    @property
    def mean_rank(self) -> float:
        """The mean rank relative to the highest; 0 before the first ranking."""
        return float(self._ranks.mean()) if len(self._ranks) else 0.0

    def add(self, url: str, links: Iterable[str]) -> None:
        """Add a page, or replace its links; each counts once, links to itself do not."""
        source = key_of(url)
        keys = dict.fromkeys(key_of(link) for link in links)
        keys.pop(source, None)
        self._put(source, list(keys)[:MAX_LINKS_PER_PAGE])
        if self._links > MAX_LINKS:
            for old in list(self._targets)[: len(self._targets) // 2]:
                self._links -= len(self._targets.pop(old))

    def _put(self, source: int, targets: Iterable[int]) -> None:
        self._links -= len(self._targets.pop(source, ()))
        self._targets[source] = array("q", targets)
        self._links += len(self._targets[source])

    def rank(self) -> None:
        """Compute the ranks again."""
        if not self._targets:
            return
        sources = np.fromiter(self._targets, dtype=np.int64, count=len(self._targets))
        lengths = [len(targets) for targets in self._targets.values()]
        targets = np.fromiter(chain.from_iterable(self._targets.values()), np.int64, sum(lengths))
        self._nodes = np.unique(np.concatenate([sources, targets]))
        begins = np.searchsorted(self._nodes, np.repeat(sources, lengths)).astype(np.int32)
        ends = np.searchsorted(self._nodes, targets).astype(np.int32)
        ranks = pagerank(begins, ends, len(self._nodes))
        self._ranks = ranks / float(ranks.max())
        self._base = (1.0 - DAMPING) / len(ranks) / float(ranks.max())

    def ranks_of(self, links: Sequence[tuple[str, str]]) -> list[float]:
        """Return the rank, relative to the highest, of each (URL, URL of a page that links to it).

        A URL newer than the last ranking has the rank that this page alone would give it.
        """
        return [self._rank_of(key_of(url), key_of(parent)) for url, parent in links]

    def _rank_of(self, key: int, parent: int) -> float:
        rank = self._known(key)
        if rank is not None:
            return rank
        links = len(self._targets.get(parent, ()))
        handed = DAMPING * (self._known(parent) or 0.0) / links if links else 0.0
        return min(self._base + handed, 1.0)

    def _known(self, key: int) -> float | None:
        place = int(np.searchsorted(self._nodes, key))
        known = place < len(self._nodes) and int(self._nodes[place]) == key
        return float(self._ranks[place]) if known else None

    def to_json(self) -> dict[str, Any]:
        """Return the pages and their targets, latest read last."""
        pages = [[source, list(targets)] for source, targets in self._targets.items()]
        return {"pages": pages}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read the form of :meth:`to_json`; raises TopicModelError."""
        read = cls()
        with reading("link graph"):
            for source, targets in data["pages"]:
                read._put(int(source), (int(target) for target in targets))
        return read


class PageRankOrder:
    """A ``LinkOrder`` that ignores relevance."""

    # Paper 004's rival keeps up at first and then falls behind both its densities, here as in the paper
    # (docs/relevance-figures.md).

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
        relevance: Relevance | float,  # noqa: ARG002 - part of the interface
        model: TopicModel,  # noqa: ARG002 - part of the interface
    ) -> None:
        """Add the page to the graph; rank again if it has grown enough."""
        self._add(page, links)

    def renew(
        self,
        page: PageText,
        links: Sequence[LinkContext],
        relevance: float,  # noqa: ARG002 - part of the interface
        model: TopicModel,  # noqa: ARG002 - part of the interface
    ) -> None:
        """Replace the page's links by the current ones."""
        self._add(page, links)

    def expect(self, links: Sequence[LinkContext], model: TopicModel) -> list[float]:  # noqa: ARG002 - part of the interface
        """Return the rank of each link's target relative to the highest."""
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
        """Return the graph as plain data; URLs are stored as hashes."""
        return self._graph.to_json()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read the form of :meth:`to_json`; raises TopicModelError."""
        read = cls()
        read._graph = LinkGraph.from_json(data)
        read._graph.rank()
        read._pages = len(read._graph)
        read._next_ranking = read._pages + FIRST_RANKINGS
        return read
