"""Paper 002 as a crawler's scorer, with any similarity: ``vsm`` and ``semantic`` differ only in it.

::

    observe(page, links)   Sim(T, page), Sim(T, each link) -> link_score: what the page hands on
    score_links(links)     (1 - INHERITED) * Sim(T, link) + INHERITED * what its page hands on

A link's vector is its anchor, the text around it, the heading above and its URL's words. A child
that was fetched counts with its page; of others the link stands in. Formula 10 scores a page whose
links are known; a link before its fetch takes over that of the page that shows it (paper 002
speaks of parent and child both, and leaves open how they meet).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from classifier.topic.language import FALLBACK_LANGUAGE
from classifier.topic.link_score import DELTA, link_score
from classifier.topic.text import language_of_page, link_terms, weighted_terms
from classifier.topic.values import LinkContext, PageText
from classifier.topic.vectors import KnowsIdf, tf_idf
from classifier.topic.vsm import Similarity

if TYPE_CHECKING:
    from numpy.typing import NDArray

INHERITED: Final = 0.5
"""What of a link's score its page hands on; chosen on topics apart from those reported."""
MAX_PAGES: Final = 50_000
"""Pages whose scores are remembered."""
_MAX_LINKS: Final = 20_000
"""Links whose similarities are remembered: those of the last pages."""


class SimilarityScorer:
    """An ``OnlineScorer`` around one similarity; its topic never changes."""

    version = 0

    def __init__(
        self,
        similarity: Similarity,
        idf: KnowsIdf,
        *,
        delta: float = DELTA,
        inherited: float = INHERITED,
    ) -> None:
        self._similarity = similarity
        self._idf = idf
        self._delta = delta
        self._inherited = inherited
        self._pages: OrderedDict[str, tuple[float, float, str]] = OrderedDict()
        """URL -> its similarity, what it hands on, its language."""
        self._links: OrderedDict[tuple[str, str, str, str, str], float] = OrderedDict()
        self._sum = 0.0
        self._count = 0

    @property
    def name(self) -> str:
        """The similarity's name."""
        return self._similarity.name

    @property
    def notes(self) -> tuple[str, ...]:
        """The similarity's notes."""
        return self._similarity.notes

    def score_pages(self, pages: Sequence[PageText]) -> NDArray[np.float64]:
        """Return the similarity of each page to the topic."""
        return np.array([self._of_page(page) for page in pages], dtype=np.float64)

    def score_links(self, links: Sequence[LinkContext]) -> NDArray[np.float64]:
        """Return each link's share of its own similarity and of what its page hands on."""
        return np.array([self._of_link(link) for link in links], dtype=np.float64)

    def observe(
        self,
        page: PageText,
        led_here: Sequence[LinkContext],  # noqa: ARG002 - part of the interface
        links: Sequence[LinkContext],
        relevance: float | None = None,  # noqa: ARG002 - this method does not learn
    ) -> None:
        """Remember what the page hands on to its links."""
        own = self._of_page(page)
        language = language_of_page(page)
        shown = [self._similarity_of(link, language) for link in links]
        self._sum += sum(shown)
        self._count += len(shown)
        children = [
            self._pages[link.url][0] if link.url in self._pages else near
            for link, near in zip(links, shown, strict=True)
        ]
        handed_on = link_score(own, children, self._usual(), delta=self._delta)
        self._pages[page.url] = (own, handed_on, language)
        if len(self._pages) > MAX_PAGES:
            self._pages.popitem(last=False)

    def _usual(self) -> float:
        """Return the mean similarity of all links so far: from there on a link is valid."""
        return self._sum / self._count if self._count else 0.0

    def _of_page(self, page: PageText) -> float:
        return self._similarity.of(tf_idf(weighted_terms(page), self._idf))

    def _of_link(self, link: LinkContext) -> float:
        _, handed_on, language = self._pages.get(
            link.parent_url, (0.0, link.parent_score or 0.0, FALLBACK_LANGUAGE)
        )
        near = self._similarity_of(link, language)
        return (1.0 - self._inherited) * near + self._inherited * handed_on

    def _similarity_of(self, link: LinkContext, language: str) -> float:
        key = (link.url, link.anchor, link.around, link.heading, language)
        if key not in self._links:
            self._links[key] = self._similarity.of(tf_idf(link_terms(link, language), self._idf))
            if len(self._links) > _MAX_LINKS:
                self._links.popitem(last=False)
        return self._links[key]
