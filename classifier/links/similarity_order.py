"""Paper 002's link order: a link's likeness to the topic, and the score of the page that shows it.

::

    observe(page, links)   Sim(T, page), Sim(T, each link) -> link_score: passed on to its links
    expect(links)          (1 - INHERITED) * Sim(T, link) + INHERITED * its page's link_score

A link's vector is its anchor, the text around it, the heading above and its URL's words. A fetched child
counts with its page, others with their link.

``Score = delta * Sim(T, V) + (1 - delta) * mean of Sim(T, v_i)`` over the m valid of n child links
(formula 10).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Self

from classifier.links.places import key_of
from classifier.papers.similarity import SemanticSimilarity, Similarity, topic_vector
from classifier.topic.model import TopicModel
from classifier.words.background import tf_idf
from classifier.words.errors import reading
from classifier.words.language import FALLBACK_LANGUAGE
from classifier.words.latest import Latest
from classifier.words.text import language_of_page, link_terms, weighted_terms
from classifier.words.values import LinkContext, PageText, Relevance

# The paper's weight of the page itself.
DELTA: Final = 0.8
# The paper names three cases without numbers; our reading: if most links are valid, the others are dropped;
# if few are, links do not count; else all count.
MOST_VALID: Final = 0.7
FEW_VALID: Final = 0.3
# Share of a link's score that is its page's: formula 10 scores a page whose links are known, and paper 002
# leaves open how parent and child combine. Chosen on topics other than those reported.
INHERITED: Final = 0.5
# Pages whose scores are remembered.
MAX_PAGES: Final = 50_000
# The latest of these are stored: about a megabyte.
MAX_KEPT: Final = 20_000
# The last links whose similarities are remembered.
_MAX_LINKS: Final = 20_000
_LEAST_USUAL: Final = 0.001
_DIGITS: Final = 4


def link_score(own: float, children: Sequence[float], valid_from: float) -> float:
    """Return formula 10 for a page of similarity ``own`` and its links' similarities ``children``.

    A link is valid from similarity ``valid_from`` on. A page without links has its own similarity.
    """
    valid = [child for child in children if child >= valid_from]
    share = len(valid) / len(children) if children else 0.0
    if share < FEW_VALID or not children:
        return own
    counted = valid if share > MOST_VALID else children
    return DELTA * own + (1.0 - DELTA) * sum(counted) / len(counted)


def semantic_similarity(model: TopicModel) -> Similarity:
    """Return paper 002's similarity to a topic."""
    topic = topic_vector(model.evidence, model.background)
    return SemanticSimilarity(topic, model.tree)


class SimilarityOrder:
    """A ``LinkOrder`` by similarity to the topic; learns only the mean similarity."""

    name = "semantic"

    def __init__(
        self, similarity: Callable[[TopicModel], Similarity] = semantic_similarity
    ) -> None:
        self._make = similarity
        # With the evidence it was made from.
        self._similarity: tuple[object, Similarity] | None = None
        # Key of a URL -> its similarity, the score it passes on, its language.
        self._pages: Latest[int, tuple[float, float, str]] = Latest(MAX_PAGES)
        self._links: Latest[tuple[str, str, str, str, str], float] = Latest(_MAX_LINKS)
        self._sum = 0.0
        self._count = 0

    def observe(
        self,
        page: PageText,
        led_here: Sequence[LinkContext],  # noqa: ARG002 - part of the interface
        links: Sequence[LinkContext],
        relevance: Relevance | float,  # noqa: ARG002 - it goes by likeness alone
        model: TopicModel,
    ) -> None:
        """Remember the score that the page passes on, and its links' likeness."""
        shown = self._shown(page, links, model)
        self._sum += sum(shown)
        self._count += len(shown)
        self._hand_on(page, links, shown, model)

    def renew(
        self,
        page: PageText,
        links: Sequence[LinkContext],
        relevance: float,  # noqa: ARG002 - it goes by likeness alone
        model: TopicModel,
    ) -> None:
        """Update the score that the page passes on."""
        self._hand_on(page, links, self._shown(page, links, model), model)

    def expect(self, links: Sequence[LinkContext], model: TopicModel) -> list[float]:
        """Return each link's own similarity mixed with its page's score."""
        return [self._of_link(link, model) for link in links]

    def usual(self, model: TopicModel) -> float:  # noqa: ARG002 - part of the interface
        """Return the usual likeness, as a link's own and inherited."""
        return max(self._usual(), _LEAST_USUAL)

    def _shown(
        self, page: PageText, links: Sequence[LinkContext], model: TopicModel
    ) -> list[float]:
        language = language_of_page(page)
        return [self._likeness(link, language, model) for link in links]

    def _hand_on(
        self,
        page: PageText,
        links: Sequence[LinkContext],
        shown: Sequence[float],
        model: TopicModel,
    ) -> None:
        terms = tf_idf(weighted_terms(page), model.background)
        own = self._similarity_to(model).of(terms)
        children = [
            self._pages[key][0] if (key := key_of(link.url)) in self._pages else near
            for link, near in zip(links, shown, strict=True)
        ]
        handed_on = link_score(own, children, self._usual())
        self._pages[key_of(page.url)] = own, handed_on, language_of_page(page)

    def _usual(self) -> float:
        """Return the mean similarity of all links so far; a link at least as similar is valid."""
        return self._sum / self._count if self._count else 0.0

    def _of_link(self, link: LinkContext, model: TopicModel) -> float:
        unknown = (0.0, link.parent_score or 0.0, FALLBACK_LANGUAGE)
        _, handed_on, language = self._pages.get(key_of(link.parent_url), unknown)
        near = self._likeness(link, language, model)
        return (1.0 - INHERITED) * near + INHERITED * handed_on

    def _likeness(self, link: LinkContext, language: str, model: TopicModel) -> float:
        similarity = self._similarity_to(model)
        key = (link.url, link.anchor, link.around, link.heading, language)
        if key not in self._links:
            self._links[key] = similarity.of(tf_idf(link_terms(link, language), model.background))
        return self._links[key]

    def _similarity_to(self, model: TopicModel) -> Similarity:
        """Return the similarity to the topic, made again if its evidence changed."""
        made_of = model.evidence.positives, model.evidence.keywords, id(model.tree)
        if self._similarity is None or self._similarity[0] != made_of:
            self._similarity = made_of, self._make(model)
            self._links.clear()
        return self._similarity[1]

    def to_json(self) -> dict[str, Any]:
        """Return plain data; URLs are stored as hashes."""
        kept = list(self._pages.items())[-MAX_KEPT:]
        pages = [
            [key, round(own, _DIGITS), round(handed_on, _DIGITS), language]
            for key, (own, handed_on, language) in kept
        ]
        return {"sum": self._sum, "count": self._count, "pages": pages}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read the form of :meth:`to_json`; raises TopicModelError."""
        read = cls()
        with reading("links"):
            read._sum, read._count = float(data["sum"]), int(data["count"])
            for key, own, handed_on, language in data["pages"][-MAX_KEPT:]:
                read._pages[int(key)] = float(own), float(handed_on), str(language)
        return read
