"""Fitting a topic: the method, its scale on the sample, and the decision.

Shifts scores of pages similar to a user's corrections, for every method.

::

    pull(page) = 1 - product over corrected pages c of (1 - (cos(page, c) - NEAR) / (1 - NEAR))
    shift(page) = STRENGTH * (pull of relevant pages - pull of irrelevant pages)

Each method's score is shifted, in the sample's standard deviations: a corrected page by nearly STRENGTH,
an unrelated page not at all, and more with each similar correction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from classifier.papers.adaptive import AdaptiveCentre
from classifier.papers.rankers import Fitted
from classifier.topic.decision import Decision, Usual, decide
from classifier.topic.fused import FusedTopic
from classifier.topic.fusion import MIN_SAMPLE, Scale
from classifier.topic.methods import Setting, fit_method
from classifier.words.background import Background
from classifier.words.batch import PageBatch, Terms, np_array
from classifier.words.errors import reading
from classifier.words.evidence import Evidence
from classifier.words.stored import restored, stored
from classifier.words.vectors import Vector

Scores = NDArray[np.float64]

# Shift of the corrected page itself, in standard deviations.
STRENGTH: Final = 2.0
# Up to this tf-idf cosine pages share no more than any two pages do.
NEAR: Final = 0.05


class Corrections:
    """The corrected pages of one topic as vectors; immutable."""

    @classmethod
    def of_method(cls, method: str, evidence: Evidence, background: Background) -> Self:
        """Return a method's corrections; none for ``fused``, which handles them itself."""
        # The papers' methods do not know rejected pages (000, 002) or treat one as one of many (004), so
        # most would judge it as before. The fused centre moves away from rejected pages and gained nothing
        # from the shift: average precision on labelled abstracts, eight fields, the six highest pages
        # rejected, was .270 with it and .278 without, both when that move was twice as strong.
        return cls(Evidence() if method == "fused" else evidence, background)

    def __init__(self, evidence: Evidence, background: Background) -> None:
        self._relevant = [background.vector(page) for page in evidence.relevant]
        self._irrelevant = [background.vector(page) for page in evidence.irrelevant]

    def __bool__(self) -> bool:
        return bool(self._relevant or self._irrelevant)

    def shifts(self, batch: PageBatch) -> Scores:
        """Return each page's shift, shape (pages,)."""
        pulls = _pull(batch, self._relevant) - _pull(batch, self._irrelevant)
        return STRENGTH * pulls


def _pull(batch: PageBatch, vectors: Sequence[Terms]) -> Scores:
    if not vectors:
        return np.zeros(len(batch))
    near = ((batch.likeness(vectors) - NEAR) / (1.0 - NEAR)).clip(0.0, 1.0)
    return np.asarray(1.0 - np.prod(1.0 - near, axis=1), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Fit:
    """A method fitted to a topic, with its decision."""

    scorer: Fitted
    scale: Scale
    """The method's scores on the sample."""
    decision: Decision
    setting: Setting
    corrections: Corrections

    def scores(self, batch: PageBatch) -> Scores:
        """Return scores in the sample's standard deviations from its mean, corrections included."""
        by_method = self._standardised(self.scorer.scores(batch))
        return np_array(by_method + self.corrections.shifts(batch))

    def usual(self) -> Usual:
        """Return the method's scores of pages of no known topic, on the same scale."""
        raw = _usual(self.scorer, self.setting)
        sample, everyday = map(self._standardised, (raw.sample, raw.everyday))
        return Usual(sample, everyday, raw.at_most)

    def _standardised(self, raw: Scores) -> Scores:
        return np_array(self.scale.standardised(raw[None, :])[0])

    def moved_by(self, page: Terms) -> Fit | None:
        """Return the fit after a page judged relevant; None if it changes nothing."""
        moved = self.scorer.moved_by(page) if isinstance(self.scorer, AdaptiveCentre) else None
        return None if moved is None else replace(self, scorer=moved)

    def to_json(self) -> dict[str, Any]:
        """Return the state that the evidence alone does not determine."""
        concepts = self.setting.sample.concepts
        return {
            "scale": stored(self.scale),
            "concepts": concepts.mark if concepts else None,
            "fused": self.scorer.to_json() if isinstance(self.scorer, FusedTopic) else None,
            "adaptive": stored(self.scorer) if isinstance(self.scorer, AdaptiveCentre) else None,
        }


def fit_topic(method: str, evidence: Evidence, setting: Setting) -> Fit:
    """Fit a method and decide on the sample and the marked pages."""
    fit = before = _fit_to(method, evidence, setting)
    relevant, irrelevant = evidence.relevant, evidence.irrelevant
    if not (evidence.examples or evidence.keywords):
        # Marked pages are the only evidence.
        relevant = ()
    elif relevant or irrelevant:
        before = _fit_to(method, replace(evidence, relevant=(), irrelevant=()), setting)

    def of(pages: Sequence[Vector]) -> list[float]:
        batch = PageBatch(pages, setting.background, setting.sample)
        return [float(score) for score in before.scores(batch)]

    decision = decide(
        fit.usual(),
        relevant=of(relevant),
        irrelevant=of(irrelevant),
        before=before.usual(),
    )
    return replace(fit, decision=decision)


def _fit_to(method: str, evidence: Evidence, setting: Setting) -> Fit:
    """Fit a method to all evidence; its decision is still to be made."""
    fused = method == "fused"
    scorer = FusedTopic.fit(evidence, setting) if fused else fit_method(method, evidence, setting)
    scale = _scale(scorer, setting)
    corrections = Corrections.of_method(method, evidence, setting.background)
    return Fit(scorer, scale, decide(Usual()), setting, corrections)


def _usual(scorer: Fitted, setting: Setting) -> Usual:
    return (
        scorer.usual() if isinstance(scorer, FusedTopic) else Usual(scorer.scores(setting.sample))
    )


def _scale(scorer: Fitted, setting: Setting) -> Scale:
    """Measure a method on pages of no known topic."""
    usual = _usual(scorer, setting).all
    if isinstance(scorer, FusedTopic) and len(usual) < MIN_SAMPLE:
        # Its views are standardised already; by the usual scale of cosines nearly every page would pass.
        return Scale(np.zeros(1), np.ones(1))
    return Scale.measured(usual[None, :])


def refit_topic(
    method: str,
    evidence: Evidence,
    setting: Setting,
    data: Mapping[str, Any],
    decision: Decision,
) -> Fit | None:
    """Restore a fit from :meth:`Fit.to_json`; None if it was made with other concepts or vectors."""
    concepts = setting.sample.concepts
    with reading("topic"):
        if data["concepts"] != (concepts.mark if concepts else None):
            return None
        fused, adaptive = data["fused"], data["adaptive"]
    scale = restored(data.get("scale"), Scale, "topic")
    scorer: Fitted
    if method == "fused":
        read = FusedTopic.from_json(fused, evidence, setting)
        if read is None:
            return None
        scorer = read
    elif adaptive is not None:
        scorer = restored(adaptive, AdaptiveCentre, "adaptive centre")
    else:
        scorer = fit_method(method, evidence, setting)
    corrections = Corrections.of_method(method, evidence, setting.background)
    return Fit(scorer, scale, decision, setting, corrections)
