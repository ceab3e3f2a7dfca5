"""Why a page is on a topic or not: the terms that speak for it, those it lacks, and the nearest example."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from classifier.papers.similarity import topic_vector
from classifier.topic.fitting import Fit
from classifier.topic.fused import FusedTopic
from classifier.topic.fusion import MIN_SAMPLE
from classifier.words.batch import PageBatch
from classifier.words.evidence import Evidence
from classifier.words.keywords import Keywords
from classifier.words.text import weighted_terms
from classifier.words.values import PageText, Verdict
from classifier.words.vectors import Vector, top, unit

TERMS: Final = 15
MISSING_TERMS: Final = 10


@dataclass(frozen=True, slots=True)
class TopicExplanation:
    """The components of a judgement."""

    verdict: Verdict
    score: float
    """0 to 1, as in the judgement."""
    standing: float
    """The method's score, in standard deviations from the sample's mean."""
    threshold: float
    """On the same scale."""
    threshold_source: str
    """Source of the threshold: ``marks``, ``sample`` or ``usual``."""
    terms: tuple[tuple[str, float], ...]
    views: tuple[tuple[str, float], ...]
    """For ``fused``, each view's part of the score before it is standardised; for every method, the
    shift by the user's corrections, if there are any."""
    missing: tuple[tuple[str, float], ...]
    """Terms of the examples, the sentence and the key words that the page lacks, heaviest first, with their
    shares of the topic."""
    nearest: tuple[str | None, float] | None = None
    """URL of the example nearest in meaning (empty for a sentence, None for a page marked relevant), and the
    cosine; None = the page or the topic has no vector."""

    @property
    def needed(self) -> float:
        """Distance of :attr:`standing` below the threshold; 0 for a page that passed."""
        return max(0.0, self.threshold - self.standing)


def explain_page(page: PageText, evidence: Evidence, fit: Fit) -> TopicExplanation:
    """Explain one page."""
    terms = weighted_terms(page)
    batch = PageBatch([terms], fit.setting.background, fit.setting.sample, [page.meaning])
    standing = float(fit.scores(batch)[0])
    scorer = fit.scorer
    return TopicExplanation(
        verdict=fit.decision.verdict(standing if terms else -float("inf")),
        score=fit.decision.score(standing) if terms else 0.0,
        standing=standing,
        threshold=fit.decision.value,
        threshold_source=fit.decision.source,
        terms=tuple(scorer.terms(terms, TERMS)),
        views=tuple(_views(batch, fit)),
        missing=_missing(terms, evidence, fit),
        nearest=_nearest(batch, evidence, fit),
    )


def _views(batch: PageBatch, fit: Fit) -> list[tuple[str, float]]:
    views = fit.scorer.view_scores(batch) if isinstance(fit.scorer, FusedTopic) else []
    if fit.corrections:
        views.append(("corrections", float(fit.corrections.shifts(batch)[0])))
    return views


def _nearest(batch: PageBatch, evidence: Evidence, fit: Fit) -> tuple[str | None, float] | None:
    view = fit.scorer.meaning if isinstance(fit.scorer, FusedTopic) else None
    if view is None or not evidence.positives:
        return None
    known = PageBatch(evidence.positives, fit.setting.background, fit.setting.sample)
    ((number, alike),) = view.nearest_of(view.space.placed(batch), known)
    urls = evidence.example_urls
    return None if number < 0 else (urls[number] if number < len(urls) else None, alike)


def _missing(terms: Vector, evidence: Evidence, fit: Fit) -> tuple[tuple[str, float], ...]:
    profile = topic_profile(evidence, fit)
    total = sum(profile.values()) or 1.0
    # Terms that the topic took from judged pages were not requested.
    given = {term for page in evidence.positives for term in page}
    given.update(*Keywords(evidence.keywords).phrases.values())
    lacking = {
        term: weight / total
        for term, weight in profile.items()
        if term in given and term not in terms
    }
    return tuple(top(lacking, MISSING_TERMS))


def topic_profile(evidence: Evidence, fit: Fit) -> Vector:
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
