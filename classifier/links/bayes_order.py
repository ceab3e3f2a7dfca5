"""Paper 004's link order: naive Bayes on link contexts, trained on the pages fetched so far.

::

    examples                              +
    fetched pages, by their cosine to     the best      +   by the contexts that led to them
    the examples' vector                  the worst     -   by the contexts that led to them
                                          between       not used
    pages that a user corrected           + or -, regardless of their cosine
    link  ->  (1 - INHERITED) * its own evidence + INHERITED * that of the page that shows it

The paper has a training set of both classes; here the negatives are the fetched pages least like the
topic.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from classifier.papers.bayes import (
    MAX_TERMS_PER_EXAMPLE,
    BayesModel,
    Density,
    TermExample,
    TermNumbers,
)
from classifier.papers.similarity import VsmSimilarity, topic_vector
from classifier.topic.model import TopicModel
from classifier.words.background import tf_idf
from classifier.words.errors import reading
from classifier.words.keywords import Keywords
from classifier.words.language import FALLBACK_LANGUAGE
from classifier.words.latest import Latest
from classifier.words.text import language_of_page, link_terms, weighted_terms
from classifier.words.values import LinkContext, PageText, Relevance

# Fetched pages before the first model; until then all links count the same.
FIRST_TRAINING: Final = 10
TRAINING_EVERY: Final = 20
BEST_SHARE: Final = 0.15
WORST_SHARE: Final = 0.5
# Share of a link's score that is its page's; chosen on topics other than those reported.
INHERITED: Final = 0.5
# Added to a text's length, so that two chance hits in a short one do not count much.
_SHORT: Final = 5.0
# A fetched page with at least this cosine to a corrected page is that page.
_SAME: Final = 0.9
_MAX_PAGES: Final = 20_000
_MAX_LINKS: Final = 20_000
# The last fetched pages.
MAX_TRAINING_EXAMPLES: Final = 400
# Links to a page that become examples.
CONTEXTS_PER_PAGE: Final = 3
_DIGITS: Final = 4


@dataclass(frozen=True, slots=True)
class BayesExample:
    """A fetched page: its likeness to the topic, and the links that led to it."""

    likeness: float
    """Cosine to the topic, 0 to 1."""
    page: TermExample
    contexts: tuple[TermExample, ...]

    @property
    def examples(self) -> tuple[TermExample, ...]:
        """The link contexts; for a page without any, the page itself."""
        return self.contexts or (self.page,)


class BayesOrder:
    """A ``LinkOrder``; its training examples are stored as JSON."""

    name = "bayes"

    def __init__(self, density: Density = Density.KERNEL) -> None:
        self._density = density
        self._numbers = TermNumbers()
        # The user's evidence so far; a change triggers a training run.
        self._user_evidence: object = None
        self._topic = VsmSimilarity({})
        self._given: list[TermExample] = []
        self._relevant: list[TermExample] = []
        self._irrelevant: list[TermExample] = []
        self._training_examples: deque[BayesExample] = deque(maxlen=MAX_TRAINING_EXAMPLES)
        self._since = TRAINING_EVERY - FIRST_TRAINING
        self._model: BayesModel | None = None
        # URL -> the page's terms and language.
        self._pages: Latest[str, tuple[TermExample, str]] = Latest(_MAX_PAGES)
        self._links: Latest[tuple[str, str, str, str, str], TermExample] = Latest(_MAX_LINKS)

    def observe(
        self,
        page: PageText,
        led_here: Sequence[LinkContext],
        links: Sequence[LinkContext],  # noqa: ARG002 - part of the interface
        relevance: Relevance | float,  # noqa: ARG002 - the cosine to the examples judges
        model: TopicModel,
    ) -> None:
        """Remember the page and the links that led to it; train every ``TRAINING_EVERY`` pages."""
        self._hear(model)
        terms = weighted_terms(page)
        example = self._remember(page, terms)
        if page.url in model.evidence.example_urls:
            return
        likeness = self._topic.of(tf_idf(terms, model.background))
        contexts = tuple(self._link_of(link) for link in led_here[:CONTEXTS_PER_PAGE])
        self._training_examples.append(
            BayesExample(likeness, example, tuple(filter(len, contexts)))
        )
        self._since += 1
        if self._since >= TRAINING_EVERY:
            self._fit()

    def renew(
        self,
        page: PageText,
        links: Sequence[LinkContext],  # noqa: ARG002 - part of the interface
        relevance: float,  # noqa: ARG002 - part of the interface
        model: TopicModel,
    ) -> None:
        """Update the score that the page's links inherit."""
        self._hear(model)
        self._remember(page, weighted_terms(page))

    def expect(self, links: Sequence[LinkContext], model: TopicModel) -> list[float]:
        """Return scores from the links' own evidence and their pages' evidence.

        0.5 = no evidence; every link before the first training has it.
        """
        self._hear(model)
        shown_by = [self._pages.get(link.parent_url, _NO_PAGE) for link in links]
        own = self._evidence(
            [self._link(link, page[1]) for link, page in zip(links, shown_by, strict=True)]
        )
        pages = dict(zip((link.parent_url for link in links), shown_by, strict=True))
        of_page = self._evidence([page for page, _ in pages.values()])
        inherited = dict(zip(pages, of_page.tolist(), strict=True))
        above = np.array([inherited[link.parent_url] for link in links], dtype=np.float64)
        return _squashed((1.0 - INHERITED) * own + INHERITED * above)

    def usual(self, model: TopicModel) -> float:  # noqa: ARG002 - part of the interface
        """Return 0.5."""
        return 0.5

    def to_json(self) -> dict[str, Any]:
        """Return the training examples; the user's evidence is stored with the topic."""
        terms = self._numbers.terms
        examples = [
            (
                round(one.likeness, _DIGITS),
                [_kept(text, terms) for text in (one.page, *one.contexts)],
            )
            for one in self._training_examples
        ]
        return {"training_examples": examples}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read the form of :meth:`to_json`; raises TopicModelError."""
        read = cls()
        with reading("bayes"):
            for likeness, texts in msgspec.convert(data, _Stored).training_examples:
                page, *contexts = map(read._numbers.example, texts)
                read._training_examples.append(BayesExample(likeness, page, tuple(contexts)))
        return read

    def _hear(self, model: TopicModel) -> None:
        """Take over the user's evidence."""
        # Training follows at once if it changed: a correction takes effect before the next page.
        evidence = model.evidence
        user_evidence = (evidence.positives, evidence.irrelevant, evidence.keywords)
        if user_evidence == self._user_evidence:
            return
        self._user_evidence = user_evidence
        self._topic = VsmSimilarity(topic_vector(evidence, model.background))
        words = Keywords(evidence.keywords).vector(model.background)
        self._given = self._examples((*evidence.examples, words))
        self._relevant = self._examples(evidence.relevant)
        self._irrelevant = self._examples(evidence.irrelevant)
        if self._training_examples or self._irrelevant:
            self._fit()

    def _fit(self) -> None:
        best, worst = self._judged()
        positives = [*self._given, *self._relevant, *best]
        negatives = [*self._irrelevant, *worst]
        if positives and negatives:
            self._model = BayesModel(positives, negatives, self._density)
            self._since = 0

    def _judged(self) -> tuple[list[TermExample], list[TermExample]]:
        """Return the best and the worst training examples; corrections outrank cosines."""
        right = [one for one in self._training_examples if _is_among(one.page, self._relevant)]
        wrong = [one for one in self._training_examples if _is_among(one.page, self._irrelevant)]
        # A user's correction outranks the cosine.
        user_evidence = {id(one) for one in (*right, *wrong)}
        # All remembered pages again, so early errors do not persist; and by cosine, not by the model, which
        # drifts when it judges its own training examples (harvest at 150 pages on four topics .144 against
        # .209).
        ranked = sorted(
            (one for one in self._training_examples if id(one) not in user_evidence),
            key=lambda one: one.likeness,
        )
        worst = ranked[: int(len(ranked) * WORST_SHARE)]
        best = ranked[len(ranked) - int(len(ranked) * BEST_SHARE) :]
        return _examples_of([*best, *right]), _examples_of([*worst, *wrong])

    def _evidence(self, texts: Sequence[TermExample]) -> NDArray[np.float64]:
        if self._model is None or not texts:
            return np.zeros(len(texts))
        # Divided by length; otherwise a long paragraph would outrank an informative anchor.
        lengths = np.array([len(text) for text in texts]) + _SHORT
        return self._model.evidence(texts) / lengths

    def _examples(self, pages: Iterable[Mapping[str, float]]) -> list[TermExample]:
        return [one for page in pages if len(one := self._numbers.example(page))]

    def _remember(self, page: PageText, terms: Mapping[str, float]) -> TermExample:
        example = self._numbers.example(terms)
        self._pages[page.url] = (example, language_of_page(page))
        return example

    def _link_of(self, link: LinkContext) -> TermExample:
        return self._link(link, self._pages.get(link.parent_url, _NO_PAGE)[1])

    def _link(self, link: LinkContext, language: str) -> TermExample:
        key = (link.url, link.anchor, link.around, link.heading, language)
        if key not in self._links:
            self._links[key] = self._numbers.example(link_terms(link, language))
        return self._links[key]


_NO_PAGE: Final = (TermExample(np.zeros(0, dtype=np.int64), np.zeros(0)), FALLBACK_LANGUAGE)


def _examples_of(training_examples: Sequence[BayesExample]) -> list[TermExample]:
    return [
        one
        for training_example in training_examples
        for one in training_example.examples
        if len(one)
    ]


def _is_among(page: TermExample, corrected: Sequence[TermExample]) -> bool:
    """Whether a user corrected the page."""
    # By cosine, because a stored text may lack a few words.
    return any(_cosine(page, one) >= _SAME for one in corrected)


def _cosine(left: TermExample, right: TermExample) -> float:
    _, mine, theirs = np.intersect1d(
        left.terms, right.terms, assume_unique=True, return_indices=True
    )
    lengths = np.linalg.norm(left.weights) * np.linalg.norm(right.weights)
    return float(left.weights[mine] @ right.weights[theirs] / lengths) if lengths else 0.0


def _kept(text: TermExample, terms: Sequence[str]) -> dict[str, float]:
    frequencies = np.round(2.0 * text.weights - 1.0, _DIGITS).tolist()
    return {terms[number]: share for number, share in zip(text.terms, frequencies, strict=True)}


def _squashed(evidence: NDArray[np.float64]) -> list[float]:
    scores: list[float] = (1.0 / (1.0 + np.exp(-np.clip(evidence, -30.0, 30.0)))).tolist()
    return scores


_Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
_Text = Annotated[dict[str, _Share], msgspec.Meta(max_length=MAX_TERMS_PER_EXAMPLE)]
_Texts = Annotated[list[_Text], msgspec.Meta(min_length=1, max_length=1 + CONTEXTS_PER_PAGE)]


class _Stored(msgspec.Struct):
    """The form on disk: likeness, page and contexts of each example; frequencies relative to the highest."""

    training_examples: Annotated[
        list[tuple[_Share, _Texts]], msgspec.Meta(max_length=MAX_TRAINING_EXAMPLES)
    ]
