"""Fitting a topic: the method, its scale on the sample, and the threshold from left-out examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from classifier.topic.batch import PageBatch
from classifier.topic.errors import TopicModelError
from classifier.topic.evidence import Evidence
from classifier.topic.fused import FusedTopic
from classifier.topic.fusion import Scale, np_array
from classifier.topic.methods import Fitted, Setting, fit_method
from classifier.topic.thresholds import Threshold, choose_threshold
from classifier.topic.vectors import Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = NDArray[np.float64]

MAX_LEFT_OUT: Final = 12
"""Pages that are left out in turn, of each kind; the latest."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A method fitted to a topic, with where *relevant* begins."""

    scorer: Fitted
    scale: Scale
    """Of the method's scores on the sample."""
    threshold: Threshold
    setting: Setting

    def scores(self, batch: PageBatch) -> Scores:
        """Return standardised scores: 0 is the sample's mean, its deviation the unit."""
        raw = self.scorer.scores(batch)
        return np_array(self.scale.standardised(raw[None, :])[0])

    def to_json(self) -> dict[str, Any]:
        """Return what cannot be fitted again from the evidence alone."""
        concepts = self.setting.sample.concepts
        return {
            "means": self.scale.means.tolist(),
            "deviations": self.scale.deviations.tolist(),
            "concepts": concepts.mark if concepts else None,
            "fused": self.scorer.to_json() if isinstance(self.scorer, FusedTopic) else None,
        }


def fit_topic(method: str, evidence: Evidence, setting: Setting) -> Fit:
    """Fit a method and choose its threshold; as many fits as pages are left out."""
    scorer = _fit(method, evidence, setting)
    sample = scorer.scores(setting.sample)
    scale = Scale.measured(sample[None, :])
    fit = Fit(scorer, scale, Threshold(0.0, "usual"), setting)
    threshold = choose_threshold(
        _left_out(method, evidence, fit, "examples"),
        np_array(scale.standardised(sample[None, :])[0]),
        relevant=_left_out(method, evidence, fit, "relevant"),
        irrelevant=_left_out(method, evidence, fit, "irrelevant"),
    )
    return replace(fit, threshold=threshold)


def refit_topic(
    method: str,
    evidence: Evidence,
    setting: Setting,
    data: Mapping[str, Any],
    threshold: Threshold,
) -> Fit | None:
    """Restore a fit from :meth:`Fit.to_json`; None when it was made with other concepts.

    Raises TopicModelError when the data are damaged.
    """
    concepts = setting.sample.concepts
    try:
        if data["concepts"] != (concepts.mark if concepts else None):
            return None
        scale = Scale(np_array(data["means"]), np_array(data["deviations"]))
        fused = data["fused"]
    except (KeyError, TypeError, ValueError) as error:
        raise TopicModelError("topic", str(error)[:80], "its fit is damaged") from error
    if method != "fused":
        return Fit(fit_method(method, evidence, setting), scale, threshold, setting)
    return Fit(FusedTopic.from_json(fused, evidence, setting), scale, threshold, setting)


def _fit(method: str, evidence: Evidence, setting: Setting, like: Fitted | None = None) -> Fitted:
    """Fit a method; *like* a fit to almost the same evidence, whose scales serve again."""
    if method != "fused":
        return fit_method(method, evidence, setting)
    scale = like.other_scale if isinstance(like, FusedTopic) else None
    return FusedTopic.fit(evidence, setting, scale)


def _left_out(method: str, evidence: Evidence, fit: Fit, kind: str) -> list[float]:
    """Return the score of each page of a kind by the topic learned without it."""
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
    batch = PageBatch([page], setting.background, setting.sample)
    return float(fit.scale.standardised(scorer.scores(batch)[None, :])[0, 0])
