"""Vectors of the pages and anchors of a graph, for the harvest benchmark: as the daemon makes them.

The daemon embeds anchors beside its visits, some hundred a minute; here they are embedded at once, but for
texts whose vectors the order does not use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kept_vectors import KeptVectors

from classifier.embedding.meaning import Meaning
from classifier.links.learned_order import is_left_to_words
from classifier.links.text import has_dense, worded
from classifier.words.values import LinkContext, PageText
from incremental.topics.embedding.pages import meanings_of


class Meanings:
    """Each text is embedded once, when a crawl meets it."""

    def __init__(self, embedder: KeptVectors) -> None:
        self._embedder = embedder
        self._pages: dict[str, Meaning | None] = {}
        self._anchors: dict[str, Meaning | None] = {}

    def with_meaning(self, page: PageText) -> PageText:
        """Return *page* with its vector, if the order uses that."""
        if is_left_to_words(page):
            return page
        if page.url not in self._pages:
            (self._pages[page.url],) = meanings_of([page], self._embedder)
        return replace(page, meaning=self._pages[page.url])

    def of_anchors(self, links: Sequence[LinkContext]) -> dict[str, Meaning]:
        """Return the vectors of links' anchors, by their text."""
        spoken = dict.fromkeys(text for link in links if (text := worded(link)))
        texts = [text for text in spoken if not has_dense(text)]
        fresh = [text for text in texts if text not in self._anchors]
        pages = [PageText("", title=text) for text in fresh]
        self._anchors.update(zip(fresh, meanings_of(pages, self._embedder), strict=True))
        return {text: found for text in texts if (found := self._anchors[text]) is not None}
