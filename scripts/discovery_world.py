"""Graph files laid side by side as one small web, for the discovery benchmark.

Labels are read by :meth:`World.is_on_topic` alone, which no operator and no ranker has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from harvest_graph import Fetched, Graph
from search_server import Document

from classifier.words.background import Background, tf_idf
from classifier.words.segmentation import tokens
from classifier.words.text import language_of_page, weighted_terms
from classifier.words.values import LinkContext, PageText
from classifier.words.vectors import top
from incremental.features.discovery.operators import KnownPage, OutLink

TERMS = 12


class World:
    """Several graphs as one; hosts are kept apart by their addresses."""

    def __init__(self, graphs: Sequence[Graph], background: Background) -> None:
        self._of = {url: graph for graph in graphs for url in graph.topics}
        self._background = background
        self._known: dict[str, KnownPage] = {}
        self._terms: dict[str, dict[str, float]] = {}

    def pool(self, topic: str) -> list[str]:
        """Return the pages that seeds are drawn from, by URL."""
        graphs = dict.fromkeys(self._of.values())
        return sorted(url for graph in graphs for url in graph.pool(topic))

    def is_on_topic(self, url: str, topic: str) -> bool | None:
        """Return the label; None = unlabelled."""
        return self._of[url].is_on_topic(url, topic)

    def hosts(self, topic: str) -> set[str]:
        """Return the hosts with at least one page on topic."""
        return {host_of(url) for url in self._of if self.is_on_topic(url, topic)}

    def documents(self) -> Iterable[Document]:
        """Yield every page for the search index."""
        for url in self._of:
            page = self.fetch(url)
            links = tuple(link.url for link in page.links)
            yield Document(url, page.text.title, page.text.body, links)

    def fetch(self, url: str) -> Fetched:
        """Return a page of one of the graphs."""
        return self._of[url].fetch(url)

    def holds(self, url: str) -> bool:
        """Return whether a page is there."""
        return url in self._of

    def terms(self, url: str) -> dict[str, float]:
        """Return the weighted terms of a page."""
        if url not in self._terms:
            self._terms[url] = weighted_terms(self.fetch(url).text)
        return self._terms[url]

    def known(self, url: str) -> KnownPage:
        """Return a page as operators begin from it."""
        found = self._known.get(url)
        if found is None:
            fetched = self.fetch(url)
            found = self._known[url] = KnownPage(
                url,
                title=fetched.text.title,
                keywords=_keywords(fetched.text),
                terms=self._top_terms(url),
                links=tuple(map(_out_link, fetched.links)),
            )
        return found

    def _top_terms(self, url: str) -> tuple[str, ...]:
        weights = tf_idf(self.terms(url), self._background)
        return tuple(term for term, _ in top(weights, TERMS))


def host_of(url: str) -> str:
    """Return the host, by which sites are counted."""
    return urlsplit(url).hostname or ""


def _keywords(text: PageText) -> tuple[str, ...]:
    """Return the terms of a page's description and key words, in order."""
    return tuple(dict.fromkeys(tokens(text.meta, language_of_page(text))))[:TERMS]


def _out_link(link: LinkContext) -> OutLink:
    return OutLink(link.url, link.anchor, link.around)
