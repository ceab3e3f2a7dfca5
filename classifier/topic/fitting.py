"""Fitting a topic: the method, its scale on the sample, and the threshold from left-out examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from classifier.topic.adaptive import AdaptiveCentre
from classifier.topic.batch import PageBatch, Terms
from classifier.topic.corrections import Corrections
from classifier.topic.errors import reading
from classifier.topic.evidence import Evidence
from classifier.topic.fused import FusedTopic
from classifier.topic.fusion import MIN_SAMPLE, Scale, np_array
from classifier.topic.methods import Setting, fit_method
from classifier.topic.rankers import Fitted
from classifier.topic.thresholds import BY_MEANING, BY_WORDS, Threshold, choose_threshold, corrected
from classifier.topic.vectors import Vector

Scores = NDArray[np.float64]

# The latest pages of each kind are left out in turn.
MAX_LEFT_OUT: Final = 12


# In the sample's standard deviations; with twice as many pages of the crawl half of it.
CAUTION: Final = 1.0
CAUTIOUS_PAGES: Final = 2.0


@dataclass(frozen=True, slots=True)
class Fit:
    """A method fitted to a topic, with the threshold of *relevant*."""

    scorer: Fitted
    scale: Scale
    """The method's scores on the sample."""
    threshold: Threshold
    setting: Setting
    corrections: Corrections

    def scores(self, batch: PageBatch) -> Scores:
        """Return scores in the sample's standard deviations from its mean, corrections included."""
        return np_array(self.by_method(batch) + self.corrections.shifts(batch))

    def by_method(self, batch: PageBatch) -> Scores:
        """Return :meth:`scores` without corrections."""
        raw = self.scorer.scores(batch)
        return np_array(self.scale.standardised(raw[None, :])[0])

    def usual(self) -> Scores:
        """Return :meth:`by_method` of pages of no known topic."""
        return np_array(self.scale.standardised(_usual(self.scorer, self.setting)[None, :])[0])

    def moved_by(self, page: Terms) -> Fit | None:
        """Return the fit after a page judged relevant; None if it changes nothing."""
        moved = self.scorer.moved_by(page) if isinstance(self.scorer, AdaptiveCentre) else None
        return None if moved is None else replace(self, scorer=moved)

    def to_json(self) -> dict[str, Any]:
        """Return what the evidence alone does not determine."""
        concepts = self.setting.sample.concepts
        return {
            "means": self.scale.means.tolist(),
            "deviations": self.scale.deviations.tolist(),
            "concepts": concepts.mark if concepts else None,
            "fused": self.scorer.to_json() if isinstance(self.scorer, FusedTopic) else None,
            "adaptive": self.scorer.to_json() if isinstance(self.scorer, AdaptiveCentre) else None,
        }


def fit_topic(method: str, evidence: Evidence, setting: Setting) -> Fit:
    """Fit a method and choose its threshold, with one fit per left-out page."""
    # The examples set the threshold and corrections move it: pages marked relevant never raise it, pages
    # marked irrelevant never lower it.
    given = evidence.uncorrected()
    start = _fit_to(method, given, setting)
    left_out = _left_out(method, given, start, "examples" if given.examples else "relevant")
    usual = BY_MEANING if _by_meaning(start.scorer) else BY_WORDS
    caution = _caution(start.scorer)
    chosen = choose_threshold(left_out, start.usual(), usual=usual, caution=caution)
    start = replace(start, threshold=chosen)
    if given == evidence:
        return start
    fit = _fit_to(method, evidence, setting)
    return replace(
        fit,
        threshold=corrected(
            start.threshold,
            examples=_left_out(method, evidence, fit, "examples"),
            relevant=_left_out(method, evidence, fit, "relevant"),
            irrelevant=_left_out(method, evidence, fit, "irrelevant"),
        ),
    )


def _by_meaning(scorer: Fitted) -> bool:
    return isinstance(scorer, FusedTopic) and scorer.meaning is not None


def _caution(scorer: Fitted) -> float:
    """Return how much higher the threshold is while few pages of the crawl were read.

    Beside everyday pages, all pages of one site are alike.
    """
    if not isinstance(scorer, FusedTopic) or scorer.meaning is None:
        return 0.0
    return CAUTION * min(1.0, CAUTIOUS_PAGES / (1.0 + scorer.meaning.space.own))


def _fit_to(method: str, evidence: Evidence, setting: Setting) -> Fit:
    """Fit a method to all evidence; its threshold is still to be chosen."""
    scorer = _fit(method, evidence, setting)
    scale = _scale(scorer, setting)
    corrections = Corrections.of_method(method, evidence, setting.background)
    return Fit(scorer, scale, Threshold(0.0, "usual"), setting, corrections)


def _usual(scorer: Fitted, setting: Setting) -> Scores:
    if isinstance(scorer, FusedTopic):
        return scorer.usual_scores()
    return scorer.scores(setting.sample)


def _scale(scorer: Fitted, setting: Setting) -> Scale:
    """Measure a method on pages of no known topic."""
    usual = _usual(scorer, setting)
    if isinstance(scorer, FusedTopic) and len(usual) < MIN_SAMPLE:
        # Its views are standardised already; by the usual scale of cosines nearly every page would pass.
        return Scale(np.zeros(1), np.ones(1))
    return Scale.measured(usual[None, :])


def refit_topic(
    method: str,
    evidence: Evidence,
    setting: Setting,
    data: Mapping[str, Any],
    threshold: Threshold,
) -> Fit | None:
    """Restore a fit from :meth:`Fit.to_json`; None if it was made with other concepts or vectors."""
    concepts = setting.sample.concepts
    with reading("topic"):
        if data["concepts"] != (concepts.mark if concepts else None):
            return None
        scale = Scale(np_array(data["means"]), np_array(data["deviations"]))
        fused, adaptive = data["fused"], data.get("adaptive")
    scorer: Fitted
    if method == "fused":
        read = FusedTopic.from_json(fused, evidence, setting)
        if read is None:
            return None
        scorer = read
    elif adaptive is not None:
        scorer = AdaptiveCentre.from_json(adaptive)
    else:
        scorer = fit_method(method, evidence, setting)
    corrections = Corrections.of_method(method, evidence, setting.background)
    return Fit(scorer, scale, threshold, setting, corrections)


def _fit(method: str, evidence: Evidence, setting: Setting, like: Fitted | None = None) -> Fitted:
    """Fit a method; reuses the scales of *like*, a fit to almost the same evidence."""
    if method != "fused":
        return fit_method(method, evidence, setting)
    scale = like.other_scale if isinstance(like, FusedTopic) else None
    return FusedTopic.fit(evidence, setting, scale)


def _left_out(method: str, evidence: Evidence, fit: Fit, kind: str) -> list[float]:
    """Return each page's score by the topic learned without it."""
    pages: tuple[Vector, ...] = getattr(evidence, kind)
    scores = []
    for index in range(max(0, len(pages) - MAX_LEFT_OUT), len(pages)):
        rest = _with(evidence, kind, pages[:index] + pages[index + 1 :])
        if rest.positives or rest.keywords:
            scores.append(_score_of(pages[index], method, rest, fit))
    return scores


def _with(evidence: Evidence, kind: str, pages: Sequence[Vector]) -> Evidence:
    changed: Evidence = replace(evidence, **{kind: tuple(pages)})  # type: ignore[arg-type]  # the name is one of three
    return changed


def _score_of(page: Vector, method: str, evidence: Evidence, fit: Fit) -> float:
    setting = fit.setting
    scorer = _fit(method, evidence, setting, fit.scorer)
    corrections = Corrections.of_method(method, evidence, setting.background)
    batch = PageBatch([page], setting.background, setting.sample)
    return float(replace(fit, scorer=scorer, corrections=corrections).scores(batch)[0])
