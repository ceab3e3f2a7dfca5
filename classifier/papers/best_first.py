"""The topical frontier: which page next when pages differ in promise (paper 004, sections 1.1, 1.2).

::

    offer(url, promise) -> [100,000 URLs, best first, then oldest] -> take()
                             the least promising fall out when full     k in a row from k hosts

With equal promises it is breadth-first. It has no clock and no store. The harvest benchmark crawls with it.
"""

import heapq
from collections import defaultdict
from urllib.parse import urlsplit

from classifier.words.latest import Latest

# Most URLs that may wait, as in the paper's experiments.
QUEUE_LIMIT = 100_000

# Promise negated, then age: the smallest is taken first.
_Rank = tuple[float, int]


class BestFirstQueue:
    """URLs that wait for a fetch, each once, best first, then oldest.

    *distinct_hosts* is the paper's k: any k pages in a row are of k hosts, if so many wait; 1 = hosts do
    not matter.
    """

    def __init__(self, limit: int = QUEUE_LIMIT, *, distinct_hosts: int = 1) -> None:
        if limit < 1 or distinct_hosts < 1:
            raise ValueError("limit and distinct_hosts must be at least 1")
        self._limit = limit
        self._by_host = distinct_hosts > 1
        self._recent: Latest[str, None] = Latest(distinct_hosts - 1)
        self._ranks: dict[str, _Rank] = {}
        # Former ranks stay in the heaps until they surface.
        self._best: defaultdict[str, list[tuple[_Rank, str]]] = defaultdict(list)
        self._worst: list[tuple[float, int, str]] = []
        self._clock = 0
        self.dropped = 0
        """URLs dropped or refused because better ones filled the queue."""

    def __len__(self) -> int:
        return len(self._ranks)

    def offer(self, url: str, promise: float) -> bool:
        """Add *url*, or change its promise but not its age; False if there was no room."""
        self._clock += 1
        rank = (-promise, self._ranks.get(url, (0.0, self._clock))[1])
        if rank == self._ranks.get(url):
            return True
        self._ranks[url] = rank
        self._file(url, rank)
        if len(self._worst) > 2 * len(self._ranks) + 1_000:
            self._best.clear()
            self._worst.clear()
            for one, known in self._ranks.items():
                self._file(one, known)
        if len(self._ranks) > self._limit:
            self._drop_worst()
        return url in self._ranks

    def discard(self, url: str) -> None:
        """Remove *url*, if it waits."""
        self._ranks.pop(url, None)

    def take(self) -> str | None:
        """Remove and return the next URL to fetch; None = none waits."""
        heads = {host: heap[0] for host in [*self._best] if (heap := self._waiting(host))}
        # With fewer hosts the one not used for longest is next, so that a crawl of a single site does not
        # stop.
        others = min(
            (host for host in heads if host not in self._recent),
            key=heads.__getitem__,
            default=None,
        )
        host = (
            next((one for one in self._recent if one in heads), None) if others is None else others
        )
        if host is None:
            return None
        _, url = heapq.heappop(self._best[host])
        del self._ranks[url]
        self._recent[host] = None
        return url

    def _file(self, url: str, rank: _Rank) -> None:
        heapq.heappush(self._best[_host(url) if self._by_host else ""], (rank, url))
        heapq.heappush(self._worst, (-rank[0], -rank[1], url))

    def _waiting(self, host: str) -> list[tuple[_Rank, str]]:
        """Return the heap of *host* with the best URL that still waits at its top; empty = none does."""
        heap = self._best[host]
        while heap and self._ranks.get(heap[0][1]) != heap[0][0]:
            heapq.heappop(heap)
        if not heap:
            del self._best[host]
        return heap

    def _drop_worst(self) -> None:
        """Drop the least promising URL, the youngest of equals."""
        while True:
            negated, age, url = heapq.heappop(self._worst)
            if self._ranks.get(url) == (-negated, -age):
                del self._ranks[url]
                self.dropped += 1
                return


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return ""
