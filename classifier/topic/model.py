"""A topic's model: trained on a few pages or key words; judges pages.

::

    examples, key words, corrections --+
    the crawler's background ----------+-> learn -> TopicModel -> judge(page)  -> Relevance
                                                               -> adapted(page) -> another TopicModel

A model is immutable. Its JSON has the evidence, the fitted centre and the decision; the rest is fitted
again from the evidence on loading.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from classifier.embedding.meaning import Meaning
from classifier.papers.semantic_tree import SemanticTree
from classifier.papers.similarity import topic_vector
from classifier.topic.decision import Decision
from classifier.topic.fitting import Fit, fit_topic, refit_topic
from classifier.topic.fused import FusedTopic
from classifier.topic.fusion import MIN_SAMPLE, Centre, Scale
from classifier.topic.methods import METHODS, Setting
from classifier.words.background import Background
from classifier.words.batch import PageBatch, sample_of
from classifier.words.errors import TopicError, TopicModelError, of_format, reading
from classifier.words.evidence import Evidence
from classifier.words.keywords import Keywords
from classifier.words.stored import restored, stored
from classifier.words.text import weighted_terms
from classifier.words.values import Note, PageText, Relevance, Verdict
from classifier.words.vectors import Vector, top, unit

# Raised when older code could misread a topic.
FORMAT: Final = 1
# Of a judgement, and of a topic.
TOP_TERMS: Final = 10
OWN_TERMS: Final = 20


@dataclass(frozen=True, slots=True)
class TopicModel:
    """Made by :meth:`learn` and :meth:`from_json`; safe to share between threads."""

    method: str
    evidence: Evidence
    background: Background
    tree: SemanticTree | None
    fit: Fit
    version: str
    """Changes with each training."""
    warnings: tuple[Note, ...] = field(default=())
    """For the user: examples that disagree, a key word that never occurs, ..."""
    pages: int = 0
    """Pages that the background had observed when the topic learned; 0 = none, or a topic of older code."""

    @classmethod
    def learn(  # noqa: PLR0913 - each is a kind of evidence, named where it is given
        cls,
        examples: Sequence[PageText],
        keywords: Sequence[str] = (),
        *,
        background: Background,
        negatives: Sequence[PageText] = (),
        relevant: Sequence[PageText] = (),
        irrelevant: Sequence[PageText] = (),
        judged: Sequence[PageText] = (),
        keywords_meaning: Meaning | None = None,
        method: str = "fused",
        tree: SemanticTree | None = None,
    ) -> Self:
        """Learn a topic from 1 to 50 example pages, key words, or both.

        *negatives* are pages of no particular topic, by default some of the background's sample.
        *relevant* and *irrelevant* are a user's corrections, *judged* pages that the topic itself found
        relevant, oldest first; *keywords_meaning* is the vector of all key words as one text. Raises
        TopicError without evidence.
        """
        if method not in METHODS:
            raise TopicError("method", method, f"is unknown; choose one of {', '.join(METHODS)}")
        plain = background.templates.without
        evidence = Evidence.gather(
            [plain(page) for page in examples],
            keywords,
            relevant=[plain(page) for page in relevant],
            irrelevant=[plain(page) for page in irrelevant],
            negatives=[plain(page) for page in negatives],
            judged=[plain(page) for page in judged],
            keywords_meaning=keywords_meaning,
        )
        evidence = evidence.with_negatives_of(background.sample)
        return cls._fitted(method, evidence, background, tree)

    @classmethod
    def _fitted(
        cls, method: str, evidence: Evidence, background: Background, tree: SemanticTree | None
    ) -> Self:
        background.meanings.put_all(evidence.meanings)
        setting = Setting(background, sample_of(background), tree)
        fit = fit_topic(method, evidence, setting)
        pages = background.pages
        warnings = _warnings(evidence, fit, pages)
        # Everything the judgements depend on except the background's document frequencies, which change
        # slowly.
        version = _digest(_state(method, evidence, fit, pages))[:12]
        return cls(method, evidence, background, tree, fit, version, warnings, pages)

    def judge(self, page: PageText) -> Relevance:
        """Judge one page; without words it is irrelevant with score 0."""
        return self.judge_many([page])[0]

    def judge_many(self, pages: Sequence[PageText]) -> list[Relevance]:
        """Judge pages, in order; faster than one by one."""
        plain = self.background.templates.without
        found = [weighted_terms(plain(page)) for page in pages]
        # The background does not learn their vectors: what is judged must not change what is learned next.
        scores = self.fit.scores(self.batch(found, [page.meaning for page in pages]))
        return [
            Relevance(
                score=self.fit.decision.score(score) if terms else 0.0,
                verdict=self.fit.decision.verdict(score if terms else -float("inf")),
                method=self.method,
                version=self.version,
                terms=_shares(self.fit.scorer.terms(terms, TOP_TERMS)),
            )
            for terms, score in zip(found, scores.tolist(), strict=True)
        ]

    def batch(self, pages: Sequence[Vector], own: Sequence[Meaning | None] = ()) -> PageBatch:
        """Prepare pages, by their weighted terms, for this topic's scorers (``fit``, an opinion).

        *own* are vectors that the pages bring.
        """
        return PageBatch(pages, self.background, self.fit.setting.sample, own)

    def adapted(self, page: PageText, relevance: Relevance) -> TopicModel:
        """Return the model after a page that it judged *relevance* (paper 000).

        Unchanged unless the page is relevant, new, and the method adapts.
        """
        if relevance.verdict is not Verdict.RELEVANT:
            return self
        evidence = self.evidence.with_judged(self.background.templates.without(page))
        fit = None if evidence is self.evidence else self.fit.moved_by(evidence.judged[-1])
        if fit is None:
            return self
        version = _digest(_state(self.method, evidence, fit, self.pages))[:12]
        return replace(self, evidence=evidence, fit=fit, version=version)

    def to_json(self) -> dict[str, Any]:
        """Return plain data, without the background."""
        state = _state(self.method, self.evidence, self.fit, self.pages)
        return {**state, "version": self.version}

    @classmethod
    def from_json(
        cls, data: object, *, background: Background, tree: SemanticTree | None = None
    ) -> Self:
        """Read the form of :meth:`to_json`; raises TopicModelError.

        If the background has learned other concepts since, the topic is learned again from its evidence.
        """
        state = of_format(data, "topic", FORMAT)
        with reading("topic"):
            method, version = str(state["method"]), str(state["version"])
            pages, kept = int(state["pages"]), state["fit"]
        evidence = restored(state.get("evidence"), Evidence, "topic")
        decision = restored(state.get("decision"), Decision, "topic")
        if method not in METHODS:
            raise TopicModelError("method", method[:80], "is unknown to this version")
        background.meanings.put_all(evidence.meanings)
        setting = Setting(background, sample_of(background), tree)
        fit = refit_topic(method, evidence, setting, kept, decision)
        # From other concepts, whose vectors cannot be compared with the present ones.
        if fit is None:
            return cls._fitted(method, evidence, background, tree)
        warnings = _warnings(evidence, fit, pages)
        return cls(method, evidence, background, tree, fit, version, warnings, pages)


_ENOUGH_PAGES: Final = 200
# With fewer pages the threshold is a default.
FEW_PAGES: Final = 30


def _state(method: str, evidence: Evidence, fit: Fit, pages: int) -> dict[str, Any]:
    return {
        "terms": _shares(top(_topic_profile(evidence, fit), OWN_TERMS)),
        "format": FORMAT,
        "method": method,
        "evidence": stored(evidence),
        "fit": fit.to_json(),
        "decision": stored(fit.decision),
        "pages": pages,
    }


def _topic_profile(evidence: Evidence, fit: Fit) -> Vector:
    """Return the topic's own terms with weights: those of the fused centre or of the examples' mean.

    Each weight is reduced by that of other pages, one deviation above their mean: months and site furniture
    are on examples as well. Other pages are the least similar half of the sample; with few pages nothing is
    subtracted.
    """
    if isinstance(fit.scorer, FusedTopic):
        profile = unit(fit.scorer.centre.centre.terms)
    else:
        profile = unit(topic_vector(evidence, fit.setting.background))
    sample = fit.setting.sample
    if len(sample) < MIN_SAMPLE:
        return profile
    alike = sample.cosines(profile)
    others = sample.rows[alike.argsort(kind="stable")[: len(sample) // 2]]
    means = np.asarray(others.mean(axis=0)).ravel()
    squares = np.asarray(others.multiply(others).mean(axis=0)).ravel()
    ordinary = means + np.sqrt(np.maximum(squares - means**2, 0.0))
    places = sample.vocabulary.columns
    own = {
        term: weight - (float(ordinary[places[term]]) if term in places else 0.0)
        for term, weight in profile.items()
    }
    return {term: weight for term, weight in own.items() if weight > 0} or profile


def _digest(state: dict[str, Any]) -> str:
    text = json.dumps(state, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _shares(parts: Sequence[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    total = sum(part for _, part in parts) or 1.0
    return tuple((term, part / total) for term, part in parts)


def _warnings(evidence: Evidence, fit: Fit, pages: int) -> tuple[Note, ...]:
    warnings = [
        Note("no_word", {"url": url}) if url else Note("sentence_empty")
        for url in evidence.empty_examples
    ]
    if pages < FEW_PAGES:
        warnings.append(Note("few_pages", {"n": pages, "enough": FEW_PAGES}))
    warnings += _disagreeing(evidence, fit.setting.sample)
    warnings += _unseen_keywords(evidence, fit.setting.background)
    return (*warnings, *fit.scorer.notes, *_nothing_fits(fit))


def _nothing_fits(fit: Fit) -> list[Note]:
    """Return a warning if the topic would show no page of the sample, else nothing."""
    usual = fit.usual().sample
    # A correction can show a page that the method alone does not.
    if len(usual) < FEW_PAGES or fit.corrections or (usual >= fit.decision.value).any():
        return []
    return [Note("nothing_fits", {"n": len(usual)})]


def _unseen_keywords(evidence: Evidence, background: Background) -> list[Note]:
    """Return a warning for each key word on no example and no fetched page."""
    if not evidence.positives and background.pages < _ENOUGH_PAGES:
        return []
    return [
        Note("unseen", {"word": word})
        for word, terms in Keywords(evidence.keywords).phrases.items()
        if not any(all(term in page for term in terms) for page in evidence.positives)
        and not all(background.seen(term) for term in terms)
    ]


# Are the examples of one topic? Two groups with nothing in common are two topics.

# Two pages may share a topic if this many standard deviations more alike than with a sample page.
ALIKE: Final = 0.5
# Fewer pages do not show typical similarities.
_MIN_SAMPLE: Final = 200
_NAMED: Final = 3


def _disagreeing(evidence: Evidence, sample: PageBatch) -> list[Note]:
    """Return a warning if the examples fall into groups, else nothing."""
    count = len(evidence.examples)
    if count < 2 or len(sample) < _MIN_SAMPLE:  # noqa: PLR2004 - one cannot disagree
        return []
    groups = _groups(_likeness(evidence.examples, sample))
    if len(groups) < 2:  # noqa: PLR2004 - one topic
        return []
    smallest = min(groups, key=len)
    urls = ", ".join(evidence.example_urls[index] for index in smallest[:_NAMED])
    return [Note("disagree", {"urls": urls})]


def _likeness(examples: Sequence[dict[str, float]], sample: PageBatch) -> NDArray[np.float64]:
    """Return each pair's likeness, standardised by the examples' likeness to sample pages."""
    batch = PageBatch(examples, sample.background, sample)
    rows = []
    for index in range(len(batch)):
        centre = Centre.of(batch, [index])
        scale = Scale.measured(centre.views(sample))
        rows.append(scale.standardised(centre.views(batch)).mean(axis=0))
    likeness = np.array(rows)
    return np.asarray((likeness + likeness.T) / 2)


def _groups(likeness: NDArray[np.float64]) -> list[list[int]]:
    """Return the connected components of similar pairs."""
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 - heavy

    count, labels = connected_components(likeness > ALIKE, directed=False)
    return [
        [index for index, label in enumerate(labels) if label == group] for group in range(count)
    ]
