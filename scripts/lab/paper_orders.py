"""The link orders of papers 002 and 004, for the benchmark: each made of the paper's method alone.

::

    semantic   paper 002: half a link's likeness to the topic, half formula 10 of the page that shows it
    bayes      paper 004: naive Bayes on the contexts of links; half is the evidence of the page
    pagerank   paper 004's rival: the rank of the target in the graph seen so far

Paper 004 has a training set of both classes. Here the examples and the links to the fetched pages nearest to
them are positive, the links to those least like them negative.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Final, Protocol

import numpy as np

from classifier.papers.bayes import BayesModel, Density, TermExample, TermNumbers
from classifier.papers.page_ranking import DAMPING, pagerank
from classifier.papers.similarity import (
    SemanticSimilarity,
    Similarity,
    VsmSimilarity,
    link_score,
    topic_vector,
)
from classifier.topic.model import TopicModel
from classifier.words.background import tf_idf
from classifier.words.keywords import Keywords
from classifier.words.language import FALLBACK_LANGUAGE
from classifier.words.text import language_of_page, link_terms, weighted_terms
from classifier.words.values import LinkContext, PageText

# Share of a link's score that is its page's: the papers leave open how the two combine. Chosen on topics
# other than those reported.
INHERITED: Final = 0.5
# Fetched pages before the first training of naive Bayes, between trainings, and remembered.
FIRST_TRAINING: Final = 10
TRAINING_EVERY: Final = 20
TRAINING_EXAMPLES: Final = 400
# Of these, by their cosine to the topic. A model that judges its own training examples drifts (harvest at 150
# pages on four topics .144 against .209).
BEST_SHARE: Final = 0.15
WORST_SHARE: Final = 0.5
CONTEXTS_PER_PAGE: Final = 3
# Added to a text's length, so that two chance hits in a short one do not count much.
_SHORT: Final = 5.0
# Pages between rankings, once there are so many, and the growth of the crawl between later ones.
_RANKINGS: Final = 25
_GROWTH: Final = 0.05


class LinkOrder(Protocol):
    """What the benchmark asks of an order, the product's as well."""

    def observe(
        self,
        page: PageText,
        led_here: Sequence[LinkContext],
        links: Sequence[LinkContext],
        relevance: float,
        model: TopicModel,
    ) -> None:
        """Learn from a fetched page, before :meth:`expect` is asked about its links."""

    def expect(self, links: Sequence[LinkContext], model: TopicModel) -> list[float]:
        """Return each link's promise, 0 to 1, comparable within a call."""


def plain_vectors(model: TopicModel) -> Similarity:
    """Return the rival of paper 002's similarity: plain vectors, no tree."""
    return VsmSimilarity(topic_vector(model.evidence, model.background))


def semantic_similarity(model: TopicModel) -> Similarity:
    """Return paper 002's similarity to a topic."""
    return SemanticSimilarity(topic_vector(model.evidence, model.background), model.tree)


class SimilarityOrder:
    """Paper 002; a link is valid if it is at least as near as all links so far in the mean."""

    def __init__(self, similarity: Callable[[TopicModel], Similarity]) -> None:
        self._make = similarity
        self._similarity: Similarity | None = None
        # URL -> the page's similarity, the score it passes on, its language.
        self._pages: dict[str, tuple[float, float, str]] = {}
        self._sum, self._count = 0.0, 0

    def observe(
        self,
        page: PageText,
        led_here: Sequence[LinkContext],  # noqa: ARG002 - part of the interface
        links: Sequence[LinkContext],
        relevance: float,  # noqa: ARG002 - it goes by likeness alone
        model: TopicModel,
    ) -> None:
        """Remember the score that the page passes on."""
        language = language_of_page(page)
        shown = [self._likeness(link, language, model) for link in links]
        self._sum += sum(shown)
        self._count += len(shown)
        own = self._near(model).of(tf_idf(weighted_terms(page), model.background))
        children = [
            self._pages[link.url][0] if link.url in self._pages else near
            for link, near in zip(links, shown, strict=True)
        ]
        passed_on = link_score(own, children, self._sum / self._count if self._count else 0.0)
        self._pages[page.url] = own, passed_on, language

    def expect(self, links: Sequence[LinkContext], model: TopicModel) -> list[float]:
        """Return each link's own similarity mixed with its page's score."""
        found = []
        for link in links:
            _, passed_on, language = self._pages.get(link.parent_url, (0.0, 0.0, FALLBACK_LANGUAGE))
            near = self._likeness(link, language, model)
            found.append((1.0 - INHERITED) * near + INHERITED * passed_on)
        return found

    def _near(self, model: TopicModel) -> Similarity:
        if self._similarity is None:
            self._similarity = self._make(model)
        return self._similarity

    def _likeness(self, link: LinkContext, language: str, model: TopicModel) -> float:
        return self._near(model).of(tf_idf(link_terms(link, language), model.background))


class BayesOrder:
    """Paper 004, trained again on the pages fetched so far."""

    def __init__(self, density: Density) -> None:
        self._density = density
        self._numbers = TermNumbers()
        self._topic: Similarity | None = None
        # Cosine of each fetched page to the topic, and the links that led to it.
        self._fetched: deque[tuple[float, list[TermExample]]] = deque(maxlen=TRAINING_EXAMPLES)
        self._pages: dict[str, tuple[TermExample, str]] = {}
        self._since = TRAINING_EVERY - FIRST_TRAINING
        self._model: BayesModel | None = None

    def observe(
        self,
        page: PageText,
        led_here: Sequence[LinkContext],
        links: Sequence[LinkContext],  # noqa: ARG002 - part of the interface
        relevance: float,  # noqa: ARG002 - the cosine to the examples judges
        model: TopicModel,
    ) -> None:
        """Remember the page and the links that led to it; train every ``TRAINING_EVERY`` pages."""
        terms = weighted_terms(page)
        example = self._numbers.example(terms)
        self._pages[page.url] = example, language_of_page(page)
        if page.url in model.evidence.example_urls:
            return
        if self._topic is None:
            self._topic = plain_vectors(model)
        near = self._topic.of(tf_idf(terms, model.background))
        contexts = [self._link(link) for link in led_here[:CONTEXTS_PER_PAGE]]
        self._fetched.append((near, list(filter(len, contexts)) or [example]))
        self._since += 1
        if self._since >= TRAINING_EVERY:
            self._fit(model)

    def _fit(self, model: TopicModel) -> None:
        ranked = sorted(self._fetched, key=lambda one: one[0])
        best = ranked[len(ranked) - int(len(ranked) * BEST_SHARE) :]
        worst = ranked[: int(len(ranked) * WORST_SHARE)]
        evidence = model.evidence
        words = Keywords(evidence.keywords).vector(model.background)
        given = [self._numbers.example(terms) for terms in (*evidence.examples, words)]
        positives = [text for text in given if len(text)]
        positives += [text for _, texts in best for text in texts]
        self._model = BayesModel(
            positives, [text for _, texts in worst for text in texts], self._density
        )
        self._since = 0

    def expect(self, links: Sequence[LinkContext], model: TopicModel) -> list[float]:  # noqa: ARG002 - part of the interface
        """Return scores from the links' own evidence and their pages'; 0.5 = no evidence."""
        if self._model is None or not links:
            return [0.5] * len(links)
        own = self._evidence([self._link(link) for link in links])
        shown_by = list({link.parent_url for link in links} & self._pages.keys())
        pages = dict(
            zip(shown_by, self._evidence([self._pages[url][0] for url in shown_by]), strict=True)
        )
        above = np.array([pages.get(link.parent_url, 0.0) for link in links])
        squashed: list[float] = (
            1.0 / (1.0 + np.exp(-((1.0 - INHERITED) * own + INHERITED * above)))
        ).tolist()
        return squashed

    def _evidence(self, texts: Sequence[TermExample]) -> np.typing.NDArray[np.float64]:
        assert self._model is not None
        # Divided by length; otherwise a long paragraph would outrank an informative anchor.
        lengths = np.array([len(text) for text in texts]) + _SHORT
        return self._model.evidence(texts) / lengths

    def _link(self, link: LinkContext) -> TermExample:
        known = self._pages.get(link.parent_url)
        language = FALLBACK_LANGUAGE if known is None else known[1]
        return self._numbers.example(link_terms(link, language))


class PageRankOrder:
    """Ignores relevance; ranks the graph again as it grows."""

    def __init__(self) -> None:
        self._targets: dict[str, list[str]] = {}
        self._ranks: dict[str, float] = {}
        self._due = 1

    def observe(
        self,
        page: PageText,
        led_here: Sequence[LinkContext],  # noqa: ARG002 - part of the interface
        links: Sequence[LinkContext],
        relevance: float,  # noqa: ARG002 - part of the interface
        model: TopicModel,  # noqa: ARG002 - part of the interface
    ) -> None:
        """Add the page to the graph; rank again if it has grown enough."""
        self._targets[page.url] = list({link.url for link in links} - {page.url})
        pages = len(self._targets)
        if pages < self._due:
            return
        self._due = pages + (1 if pages < _RANKINGS else max(_RANKINGS, int(_GROWTH * pages)))
        nodes = dict.fromkeys(self._targets)
        nodes.update(dict.fromkeys(chain.from_iterable(self._targets.values())))
        numbers = {url: number for number, url in enumerate(nodes)}
        pairs = [
            (numbers[source], numbers[target])
            for source, targets in self._targets.items()
            for target in targets
        ]
        ranks = pagerank([pair[0] for pair in pairs], [pair[1] for pair in pairs], len(numbers))
        self._ranks = dict(zip(numbers, (ranks / ranks.max()).tolist(), strict=True))

    def expect(self, links: Sequence[LinkContext], model: TopicModel) -> list[float]:  # noqa: ARG002 - part of the interface
        """Return the rank of each link's target relative to the highest."""
        return [self._rank(link) for link in links]

    def _rank(self, link: LinkContext) -> float:
        """Return a target's rank; one newer than the last ranking has what its page hands on."""
        if link.url in self._ranks:
            return self._ranks[link.url]
        handing = len(self._targets.get(link.parent_url, ()))
        return DAMPING * self._ranks.get(link.parent_url, 0.0) / handing if handing else 0.0
