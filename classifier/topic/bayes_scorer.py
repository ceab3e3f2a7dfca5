"""Paper 004 as a crawler's scorer: naive Bayes on link contexts, taught by what was fetched.

::

    examples                              +
    fetched pages, by their cosine to     the best      +   by the contexts that led to them
    the examples' vector                  the worst     -   likewise, and the background's pages
                                          between       not used
    link  ->  (1 - INHERITED) * its own evidence + INHERITED * that of the page that shows it

The paper has a training set of both classes; here the negative examples are pages that the crawler
fetched anyway and that are least like the topic. All remembered pages are judged again at each
lesson, so an early error does not stay. The judge is the cosine, not the model itself: a model that
judges its own lessons drifts (harvest at 150 pages on four topics .144 against .209).

A text's evidence is divided by its length: sums of votes grow with it, and a long paragraph would
outrank a telling anchor.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from classifier.topic.bayes import BayesModel, Density, Example, TermNumbers
from classifier.topic.bayes_lessons import (
    CONTEXTS_PER_PAGE,
    MAX_LESSONS,
    Lesson,
    lessons_from_json,
    lessons_to_json,
)
from classifier.topic.language import FALLBACK_LANGUAGE
from classifier.topic.scoring import TopicStart
from classifier.topic.text import language_of_page, link_terms, weighted_terms
from classifier.topic.values import LinkContext, PageText
from classifier.topic.vectors import KnowsIdf, tf_idf
from classifier.topic.vsm import VsmSimilarity, keyword_vector, topic_vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST_LESSON: Final = 10
"""Fetched pages before the first model; until then all links are worth the same."""
LESSON_EVERY: Final = 20
BEST_SHARE: Final = 0.15
WORST_SHARE: Final = 0.5
INHERITED: Final = 0.5
"""What of a link's score is its page's; chosen on topics apart from those reported."""
_SHORT: Final = 5.0
"""Terms that a text's length is counted up by: two chance hits are not much."""
_MAX_PAGES: Final = 20_000
_MAX_LINKS: Final = 20_000


class BayesScorer:
    """An ``OnlineScorer``; its state can be kept as JSON."""

    def __init__(self, start: TopicStart, idf: KnowsIdf, density: Density) -> None:
        self._idf = idf
        self._density = density
        self._numbers = TermNumbers()
        self._topic = VsmSimilarity(topic_vector(start, idf))
        self._example_urls = frozenset(page.url for page in start.examples)
        self._given = [self._example(weighted_terms(page)) for page in start.examples]
        self._given.append(self._example(keyword_vector(start, idf)))
        self._background = [self._example(weighted_terms(page)) for page in start.background]
        self._lessons: deque[Lesson] = deque(maxlen=MAX_LESSONS)
        self._since = LESSON_EVERY - FIRST_LESSON
        self._model: BayesModel | None = None
        self._pages: OrderedDict[str, tuple[Example, str]] = OrderedDict()
        """URL -> the page's terms and language."""
        self._links: OrderedDict[tuple[str, str, str, str, str], Example] = OrderedDict()
        self.version = 0
        self._fit()

    @property
    def name(self) -> str:
        """``bayes_normal`` or ``bayes_kernel``."""
        return f"bayes_{self._density}"

    @property
    def notes(self) -> tuple[str, ...]:
        """That it has no negative example yet, as long as that is so."""
        if self._model is not None:
            return ()
        return (f"no model yet: it begins with the first {FIRST_LESSON} pages",)

    def score_pages(self, pages: Sequence[PageText]) -> NDArray[np.float64]:
        """Return the pages' scores by the evidence of their terms; 0.5 as long as there is no model."""
        return _squashed(self._evidence([self._example(weighted_terms(page)) for page in pages]))

    def score_links(self, links: Sequence[LinkContext]) -> NDArray[np.float64]:
        """Return the links' scores by their own evidence and that of the pages that show them."""
        shown_by = [self._pages.get(link.parent_url, _NO_PAGE) for link in links]
        own = self._evidence(
            [self._link(link, page[1]) for link, page in zip(links, shown_by, strict=True)]
        )
        pages = dict(zip((link.parent_url for link in links), shown_by, strict=True))
        of_page = self._evidence([page for page, _ in pages.values()])
        inherited = dict(zip(pages, of_page.tolist(), strict=True))
        above = np.array([inherited[link.parent_url] for link in links], dtype=np.float64)
        return _squashed((1.0 - INHERITED) * own + INHERITED * above)

    def observe(
        self,
        page: PageText,
        led_here: Sequence[LinkContext],
        links: Sequence[LinkContext],  # noqa: ARG002 - part of the interface
        relevance: float | None = None,
    ) -> None:
        """Remember the page and what led to it; from time to time learn from all that is remembered."""
        terms = weighted_terms(page)
        example = self._example(terms)
        self._pages[page.url] = (example, language_of_page(page))
        if len(self._pages) > _MAX_PAGES:
            self._pages.popitem(last=False)
        if page.url in self._example_urls:
            return
        told = None if relevance is None else relevance >= 0.5  # noqa: PLR2004 - of 0 to 1
        likeness = self._topic.of(tf_idf(terms, self._idf))
        contexts = tuple(self._link_of(link) for link in led_here[:CONTEXTS_PER_PAGE])
        self._lessons.append(Lesson(likeness, told, example, tuple(filter(len, contexts))))
        self._since += 1
        if self._since >= LESSON_EVERY or told is not None:
            self._fit()

    def to_json(self) -> dict[str, Any]:
        """Return the lessons as plain values; what the user gave is kept with the topic."""
        return lessons_to_json(list(self._lessons), self._numbers.terms)

    def restore(self, data: object) -> None:
        """Take the lessons of ``to_json`` in place of one's own.

        Raises:
            TopicModelError: it is not what ``to_json`` gave; nothing has changed.
        """
        self._lessons = deque(lessons_from_json(data, self._numbers), maxlen=MAX_LESSONS)
        self._fit()

    def _fit(self) -> None:
        best, worst = self._judged()
        positives = [one for one in (*self._given, *best) if len(one)]
        negatives = [one for one in (*self._background, *worst) if len(one)]
        if positives and negatives:
            self._model = BayesModel(positives, negatives, self._density)
            self._since = 0
            self.version += 1

    def _judged(self) -> tuple[list[Example], list[Example]]:
        """Return the examples of the best and of the worst lessons; the user's word outranks all."""
        ranked = sorted(
            (one for one in self._lessons if one.told is None), key=lambda one: one.likeness
        )
        worst = ranked[: int(len(ranked) * WORST_SHARE)]
        best = ranked[len(ranked) - int(len(ranked) * BEST_SHARE) :]
        best += [one for one in self._lessons if one.told is True]
        worst += [one for one in self._lessons if one.told is False]
        return _examples(best), _examples(worst)

    def _evidence(self, texts: Sequence[Example]) -> NDArray[np.float64]:
        if self._model is None or not texts:
            return np.zeros(len(texts))
        lengths = np.array([len(text) for text in texts]) + _SHORT
        return self._model.evidence(texts) / lengths

    def _example(self, terms: Mapping[str, float]) -> Example:
        return self._numbers.example(terms)

    def _link_of(self, link: LinkContext) -> Example:
        return self._link(link, self._pages.get(link.parent_url, _NO_PAGE)[1])

    def _link(self, link: LinkContext, language: str) -> Example:
        key = (link.url, link.anchor, link.around, link.heading, language)
        if key not in self._links:
            self._links[key] = self._example(link_terms(link, language))
            if len(self._links) > _MAX_LINKS:
                self._links.popitem(last=False)
        return self._links[key]


_NO_PAGE: Final = (Example(np.zeros(0, dtype=np.int64), np.zeros(0)), FALLBACK_LANGUAGE)


def _examples(lessons: Sequence[Lesson]) -> list[Example]:
    return [example for lesson in lessons for example in lesson.examples]


def _squashed(evidence: NDArray[np.float64]) -> NDArray[np.float64]:
    scores: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-np.clip(evidence, -30.0, 30.0)))
    return scores
