"""All methods that judge pages, behind ``fit_method(name, ...)``.

::

    paper 000   adaptive, adaptive_guarded     classifier/papers/adaptive.py
    paper 002   vsm, semantic                  classifier/papers/similarity.py
    paper 004   bayes_normal, bayes_kernel     classifier/papers/bayes.py
    plain       keyword, tfidf_centroid, logistic
    all of it   fused                          classifier/topic/fusion.py
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from classifier.papers.adaptive import AdaptiveCentre
from classifier.papers.bayes import Density, bayes
from classifier.papers.rankers import Fitted, LinearRanker, Scores, centroid, logistic
from classifier.papers.semantic_tree import SemanticTree
from classifier.papers.similarity import SemanticSimilarity, topic_vector
from classifier.words.background import Background
from classifier.words.batch import PageBatch, Terms, np_array
from classifier.words.evidence import Evidence
from classifier.words.keywords import Keywords


@dataclass(frozen=True, slots=True)
class Setting:
    """Inputs of a method besides the evidence."""

    background: Background
    sample: PageBatch
    """Pages of no known topic; may be empty."""
    tree: SemanticTree | None = None


def fit_method(name: str, evidence: Evidence, setting: Setting) -> Fitted:
    """Fit one of :data:`METHODS` but ``fused``; raises KeyError for another name."""
    return FITTERS[name](evidence, setting)


def views_of(methods: Sequence[Fitted], batch: PageBatch) -> Scores:
    """Return the scores of pages by each method, shape (methods, pages)."""
    return np_array([method.scores(batch) for method in methods]).reshape(len(methods), len(batch))


def positives_of(evidence: Evidence) -> list[Terms]:
    """Return examples and relevant pages, or else the key words as one page."""
    return list(evidence.positives) or [evidence.keyword_page]


@dataclass(frozen=True, slots=True)
class ByKeyword(Fitted):
    """How many of the key words a page holds, and how often."""

    keywords: Keywords
    background: Background

    def scores(self, batch: PageBatch) -> Scores:
        """Return 0 to 1 for each page."""
        return np_array([self.keywords.score(page, self.background) for page in batch.pages])

    def terms(self, page: Terms, count: int) -> list[tuple[str, float]]:
        """Return the key words on the page, with their parts of the score."""
        shares = self.keywords.shares(page, self.background)
        return sorted(shares.items(), key=lambda item: (-item[1], item[0]))[:count]


# The nearest one instead of the mean of all: a topic need not be one cluster.
@dataclass(frozen=True, slots=True)
class _ByNearest(Fitted):
    """Cosine to the nearest example among the concepts."""

    places: NDArray[np.float64]

    def scores(self, batch: PageBatch) -> Scores:
        return np_array((batch.places[-1] @ self.places.T).max(axis=1))

    def terms(self, page: Terms, count: int) -> list[tuple[str, float]]:  # noqa: ARG002 - a place has none
        return []


Train = Callable[[Sequence[Terms], Sequence[Terms], Background], Fitted]
Fitter = Callable[[Evidence, Setting], Fitted]


def ranked(train: Train) -> Fitter:
    """Return what trains on a topic's pages, and on rejected and ordinary ones."""

    def fit(evidence: Evidence, setting: Setting) -> Fitted:
        wrong = [*evidence.irrelevant, *evidence.negatives]
        return train(positives_of(evidence), wrong, setting.background)

    return fit


def _fit_adaptive(evidence: Evidence, _: Setting, *, guarded: bool) -> Fitted:
    return AdaptiveCentre.fit(positives_of(evidence), evidence, guarded=guarded)


def _fit_nearest(evidence: Evidence, setting: Setting) -> Fitted:
    batch = PageBatch(positives_of(evidence), setting.background, setting.sample)
    return _ByNearest(batch.places[-1])


def _fit_vsm(evidence: Evidence, setting: Setting) -> Fitted:
    return LinearRanker(setting.background, topic_vector(evidence, setting.background))


def _fit_semantic(evidence: Evidence, setting: Setting) -> Fitted:
    topic = topic_vector(evidence, setting.background)
    return SemanticSimilarity(topic, setting.background, setting.tree)


# Benchmarks add their own (scripts/lab/rival_methods.py).
FITTERS: Final[dict[str, Fitter]] = {
    "adaptive": partial(_fit_adaptive, guarded=False),
    "adaptive_guarded": partial(_fit_adaptive, guarded=True),
    "vsm": _fit_vsm,
    "semantic": _fit_semantic,
    "bayes_normal": ranked(partial(bayes, density=Density.NORMAL)),
    "bayes_kernel": ranked(partial(bayes, density=Density.KERNEL)),
    "keyword": lambda evidence, setting: ByKeyword(Keywords(evidence.keywords), setting.background),
    "tfidf_centroid": ranked(centroid),
    "nearest": _fit_nearest,  # a view of the fusion, not one of METHODS: needs concepts
    "logistic": ranked(logistic),
}

METHODS: Final = ("fused", *(name for name in FITTERS if name != "nearest"))
