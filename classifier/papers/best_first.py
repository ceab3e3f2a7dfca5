"""The topical frontier: which page next when pages differ in promise (paper 004, sections 1.1, 1.2).

::

    offer(url, promise) -> [100,000 URLs, best first, then oldest] -> take()
                             the least promising fall out when full     k in a row from k hosts

With equal promises it is breadth-first. It has no clock and no store. The harvest benchmark crawls with it.
"""

from __future__ import annotations

import heapq
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
        self._window = distinct_hosts - 1
        self._ranks: dict[str, _Rank] = {}
        self._best: dict[str, list[tuple[_Rank, str]]] = {}
        self._hosts: list[tuple[_Rank, str]] = []
        self._worst: list[tuple[float, int, str]] = []
        self._recent: Latest[str, None] = Latest(self._window)
        self._clock = 0
        self.dropped = 0
        """URLs dropped or refused because better ones filled the queue."""

    def __len__(self) -> int:
        return len(self._ranks)

    def __contains__(self, url: object) -> bool:
        return url in self._ranks

    def offer(self, url: str, promise: float) -> bool:
        """Add *url*, or change its promise but not its age; False if there was no room."""
        known = self._ranks.get(url)
        if known is None:
            self._clock += 1
        rank = (-promise, self._clock if known is None else known[1])
        if rank == known:
            return True
        self._ranks[url] = rank
        self._file(url, rank)
        if len(self._ranks) <= self._limit:
            return True
        return self._drop_worst() != url

    def promise(self, url: str) -> float | None:
        """Return the promise of *url*; None = it does not wait."""
        known = self._ranks.get(url)
        return None if known is None else -known[0]

    def discard(self, url: str) -> None:
        """Remove *url*, if it waits."""
        self._ranks.pop(url, None)

    def take(self) -> str | None:
        """Remove and return the next URL to fetch; None = none waits."""
        # With fewer hosts the one not used for longest is next, so that a crawl of a single site does not
        # stop.
        url = self._next_of_new_host() or self._next_of_oldest_host()
        if url is None:
            return None
        del self._ranks[url]
        if self._window:
            self._recent[_host(url)] = None
        return url

    def _file(self, url: str, rank: _Rank) -> None:
        host = self._queue_name(url)
        heap = self._best.setdefault(host, [])
        heapq.heappush(heap, (rank, url))
        if heap[0][1] == url:
            heapq.heappush(self._hosts, (rank, host))
        heapq.heappush(self._worst, (-rank[0], -rank[1], url))
        # Old promises stay in the heaps until they surface; they must not pile up.
        if len(self._worst) > 2 * len(self._ranks) + 1_000:
            self._rebuild()

    def _queue_name(self, url: str) -> str:
        return _host(url) if self._window else ""

    def _rebuild(self) -> None:
        self._best = {}
        for url, rank in self._ranks.items():
            self._best.setdefault(self._queue_name(url), []).append((rank, url))
        for heap in self._best.values():
            heapq.heapify(heap)
        self._hosts = [(heap[0][0], host) for host, heap in self._best.items()]
        heapq.heapify(self._hosts)
        self._worst = [(-rank[0], -rank[1], url) for url, rank in self._ranks.items()]
        heapq.heapify(self._worst)

    def _drop_worst(self) -> str:
        """Drop the least promising URL, the youngest of equals."""
        while True:
            negated, age, url = heapq.heappop(self._worst)
            if self._ranks.get(url) == (-negated, -age):
                del self._ranks[url]
                self.dropped += 1
                return url

    def _head(self, host: str) -> tuple[_Rank, str] | None:
        """Return the best URL that still waits at *host*."""
        heap = self._best.get(host, [])
        while heap and self._ranks.get(heap[0][1]) != heap[0][0]:
            heapq.heappop(heap)
        if not heap:
            self._best.pop(host, None)
            return None
        return heap[0]

    def _next_of_new_host(self) -> str | None:
        passed: list[tuple[_Rank, str]] = []
        found = None
        while self._hosts and found is None:
            rank, host = heapq.heappop(self._hosts)
            head = self._head(host)
            if head is None:
                continue
            if head[0] != rank:
                heapq.heappush(self._hosts, (head[0], host))
            elif self._window and host in self._recent:
                passed.append((rank, host))
            else:
                found = self._taken(host)
        for item in passed:
            heapq.heappush(self._hosts, item)
        return found

    def _next_of_oldest_host(self) -> str | None:
        for host in self._recent:
            if self._head(host) is not None:
                return self._taken(host)
        return None

    def _taken(self, host: str) -> str:
        _, url = heapq.heappop(self._best[host])
        # The caller takes the rank away after this; until then the next head is not this one.
        following = self._head(host)
        if following is not None:
            heapq.heappush(self._hosts, (following[0], host))
        return url


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return ""
