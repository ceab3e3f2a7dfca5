"""A graph file for the harvest benchmark: pages and links, read and crawled as the product would.

::

    page(url, title, topic, html)   link(src, dst, anchor)
      -> fetched(url) -> Fetched(text, links)     lazily, once a process
    queue.take() -> graph.fetch(url) -> ordering.observe(fetched, waiting) -> promises -> queue.offer

Labels are read by :meth:`Graph.is_on_topic` alone; no method has this object but through
:meth:`Graph.fetch`.
"""

import random
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from classifier.papers.best_first import BestFirstQueue
from classifier.words.text import weighted_terms
from classifier.words.values import LinkContext, PageText
from incremental.base.urls import normalize
from incremental.parse.dispatch import parse
from incremental.parse.topic_text import link_contexts, page_text
from lab.labelled_texts import opened_sqlite, topics_of

# A page with fewer out-links to other pages of the graph is no seed.
MIN_OUT_LINKS = 3


class GraphError(Exception):
    """The file is no graph."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """The result of fetching one page."""

    text: PageText
    links: tuple[LinkContext, ...]
    """Links to pages of the graph, one for each target, in page order."""


class Graph:
    """An opened graph file; a context manager."""

    def __init__(self, path: Path) -> None:
        """Open *path* (``.sqlite``, or ``.xz`` of it, unpacked to a temporary file).

        Raises:
            GraphError: it cannot be read, or lacks the two tables.
        """
        if not path.is_file():
            raise GraphError(f"{path}: no such file")
        self._stack = ExitStack()
        self._connection = self._stack.enter_context(opened_sqlite(path))
        self._cache: dict[str, Fetched] = {}
        try:
            rows = self._connection.execute("SELECT url, topic FROM page").fetchall()
            edges = self._connection.execute("SELECT src, dst, anchor FROM link ORDER BY rowid")
            self.topics = {url: frozenset(topics_of(topic)) for url, topic in rows}
            self._out: dict[str, dict[str, str]] = {}
            for source, target, anchor in edges:
                if source != target and source in self.topics and target in self.topics:
                    known = self._out.setdefault(source, {})
                    known[target] = _longer(known.get(target, ""), anchor or "")
        except sqlite3.Error as error:
            raise GraphError(f"{path}: no graph with page and link ({error})") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def pool(self, topic: str) -> list[str]:
        """Return the pages that seeds are drawn from: on topic, with enough out-links, by URL."""
        on_topic = (url for url, names in self.topics.items() if topic in names)
        return sorted(url for url in on_topic if len(self._out.get(url, ())) >= MIN_OUT_LINKS)

    def is_on_topic(self, url: str, topic: str) -> bool | None:
        """Return the label; None = unlabelled. For scoring, ``oracle`` and training alone."""
        names = self.topics[url]
        return topic in names if names else None

    def targets(self, url: str) -> dict[str, str]:
        """Return the pages that *url* links to, with the anchors of the link table."""
        return self._out.get(url, {})

    def fetch(self, url: str) -> Fetched:
        """Return what a crawler sees of *url*; parsed on the first call only."""
        found = self._cache.get(url)
        if found is None:
            found = self._cache[url] = self._read(url)
        return found

    def _read(self, url: str) -> Fetched:
        (html,) = self._connection.execute("SELECT html FROM page WHERE url = ?", (url,)).fetchone()
        page = parse(
            (html or "").encode(), url, content_type="text/html; charset=utf-8", want_text=True
        )
        shown = {context.url: context for context in link_contexts(page)}
        links = (_context(shown, url, *item) for item in self.targets(url).items())
        return Fetched(page_text(page), tuple(links))


def _context(shown: dict[str, LinkContext], source: str, target: str, anchor: str) -> LinkContext:
    """Return the link as the HTML shows it; the table's word for one that the HTML lacks."""
    found = shown.get(target) or shown.get(normalize(target) or "")
    if found is None:
        return LinkContext(url=target, anchor=anchor, parent_url=source)
    return LinkContext(
        url=target,
        anchor=found.anchor or anchor,
        around=found.around,
        heading=found.heading,
        tag_path=found.tag_path,
        parent_url=source,
    )


def _longer(one: str, other: str) -> str:
    return one if len(one) >= len(other) else other


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
    """On one core; reading pages and splitting them into words, which all methods share, is left out."""


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
