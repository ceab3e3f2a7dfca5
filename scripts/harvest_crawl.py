"""One crawl of a graph under an ordering: the product's queue, fetches from a file.

::

    queue.take() -> graph.fetch(url) -> ordering.observe(fetched, waiting) -> promises -> queue.offer
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from classifier.words.text import weighted_terms
from incremental.crawl.best_first import BestFirstQueue

if TYPE_CHECKING:
    from harvest_graph import Fetched, Graph

    from classifier.words.values import LinkContext

Waiting = dict[str, "list[LinkContext]"]
"""URL that was not fetched -> how the fetched pages show it, in the order they were fetched."""


class Ordering(Protocol):
    """Chooses the next page; made again for each crawl."""

    def observe(
        self, fetched: Fetched, led_here: list[LinkContext], waiting: Waiting
    ) -> Mapping[str, float]:
        """Take a fetched page; return promises of waiting URLs, at least of those it links to.

        *waiting* holds its links already. Higher promises are fetched first, equals by age.
        """


@dataclass(frozen=True, slots=True)
class Crawl:
    """What a crawl fetched, in order, and how long the ordering and the queue took."""

    urls: tuple[str, ...]
    seconds: float
    """Of one core, without reading pages and cutting them into words, which all methods share."""


def draw(pool: list[str], seeds: int, number: int) -> list[str]:
    """Return the seeds of a draw."""
    return random.Random(number).sample(pool, seeds)


def crawl(graph: Graph, seeds: list[str], ordering: Ordering, budget: int) -> Crawl:
    """Fetch *budget* pages, the seeds first; fewer when nothing more is known."""
    queue = BestFirstQueue()
    waiting: Waiting = {}
    urls: dict[str, None] = {}
    spent = 0.0
    for url in _next(seeds, queue):
        if len(urls) >= budget:
            break
        if url in urls:
            continue
        fetched = graph.fetch(url)
        weighted_terms(fetched.text)  # remembered: the ordering's own time is measured
        urls[url] = None
        begun = time.process_time()
        led_here = waiting.pop(url, [])
        queue.discard(url)
        for link in fetched.links:
            if link.url not in urls:
                waiting.setdefault(link.url, []).append(link)
        for target, promise in ordering.observe(fetched, led_here, waiting).items():
            queue.offer(target, promise)
        spent += time.process_time() - begun
    return Crawl(tuple(urls), spent)


def _next(seeds: list[str], queue: BestFirstQueue) -> Iterator[str]:
    yield from seeds
    while (url := queue.take()) is not None:
        yield url
