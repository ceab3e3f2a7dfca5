"""One interface for the methods that learn while they crawl: ``OnlineScorer``.

::

    scorer = online_scorer("semantic", TopicStart(examples, keywords), tree=..., idf=...)
                                              classifier/topic/scorers.py
    for each example, then each fetched page:
        own = scorer.score_pages([page])[0]       what the method itself thinks of the page
        scorer.observe(page, led_here, links, relevance=1.0 for an example, else None)
        scores = scorer.score_links(links)        one per link context, for the queue
    when scorer.version changed: earlier link scores are out of date, and may be asked again

The frontier is not here: it keeps the queue, joins the scores of all contexts of a URL (the best
one counts unless it has reason to choose otherwise), and asks again for its queue's contexts as often
as it can afford. A method sees no label but the examples'; what it learns of later pages it
decides itself, from its own scores, or is told by ``relevance``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from classifier.topic.values import LinkContext, PageText

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class TopicStart:
    """What the user gave, and what the crawler has anyway: all that a method may start from."""

    examples: tuple[PageText, ...] = ()
    keywords: tuple[str, ...] = ()
    background: tuple[PageText, ...] = ()
    """Pages of no topic in particular: negative examples (paper 004). May be empty: then the
    pages fetched so far that are least like the topic serve."""
    language: str | None = None
    """Of the key words, where there is no example; None = recognised."""


class OnlineScorer(Protocol):
    """Scores pages and links for one topic, and learns from each page that is fetched.

    All scores are finite and lie between 0 and 1, higher is better, and they are comparable
    within one method and one ``version`` only. No method raises for odd input: an empty page, a
    link without any text and an unknown parent have scores too.
    """

    @property
    def name(self) -> str:
        """The method as the benchmarks call it, ``bayes_kernel``."""

    @property
    def version(self) -> int:
        """Grows whenever earlier scores of links are out of date."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of the method's state: that it has no semantic tree, say."""

    def score_pages(self, pages: Sequence[PageText]) -> NDArray[np.float64]:
        """Return the relevance of each page, shape (pages,); changes nothing."""

    def score_links(self, links: Sequence[LinkContext]) -> NDArray[np.float64]:
        """Return the promise of each link, shape (links,), before its page is fetched.

        A method may use what it observed of the pages that show the links (``parent_url``); of a
        parent that it never observed, ``parent_score`` stands in. Changes nothing.
        """

    def observe(
        self,
        page: PageText,
        led_here: Sequence[LinkContext],
        links: Sequence[LinkContext],
        relevance: float | None = None,
    ) -> None:
        """Learn from one fetched page.

        ``led_here``: the contexts of links that pointed to it, as far as known (none for an
        example). ``links``: the contexts of the links it shows. ``relevance``: 0 to 1 where
        it is known (1.0 for an example, a user's correction); None = the method judges itself.
        Observe a page before its links are scored.
        """
