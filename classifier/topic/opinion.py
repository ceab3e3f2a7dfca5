"""The examples' opinion of a page, which does not drift with a topic's feedback.

::

    examples ── centre's cosine (half)  ─┐
             ── logistic regression     ─┼─ standardised by the sample ── sum ── 0 to 1
             ── nearest example         ─┘
    negatives: the half of the sample that is least like the examples (reliable negatives)

A crawl values a page's links by it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from classifier.papers.rankers import Fitted
from classifier.topic.fusion import Scale
from classifier.topic.methods import Setting, fit_method, views_of
from classifier.words.batch import PageBatch, np_array
from classifier.words.evidence import Evidence
from classifier.words.vectors import truncated

# With fewer there is no logistic regression.
MIN_NEGATIVES: Final = 15
MAX_NEGATIVES: Final = 200
# Of the sample, the pages least like the examples. Many fetched pages are relevant, so not all may serve
# (reliable negatives, as is usual without labels: Liu et al. 2003, Rocchio step).
NEGATIVE_SHARE: Final = 0.5
# Not the fused judgement: its centre moves towards the fetched pages, and a crawl fetches what it judged
# well. On the Chinese graph the harvest over best first was .88 with the judgement alone, 1.00 with
# judgement and nearness, 1.04 with opinion and nearness (docs/relevance-figures.md).
# As a further opinion it was better on the encyclopedia, and worse on the Chinese graph by as much.
_WEIGHTS: Final = {"tfidf_centroid": 0.5, "logistic": 1.0, "nearest": 1.0}
# Standard deviations above the sample's mean at which an opinion is 0.5.
_MIDDLE: Final = 1.2
_NEGATIVE_TERMS: Final = 100
# A smaller sample's spread is meaningless; the sum of the weights replaces it.
_FEW_PAGES: Final = 30


@dataclass(frozen=True, slots=True)
class Opinion:
    """Fitted to one topic's evidence; immutable."""

    views: tuple[Fitted, ...]
    weights: tuple[float, ...]
    scale: Scale
    """The views on the sample."""
    spread: Scale
    """The views' weighted sum on the sample."""

    @classmethod
    def fit(cls, evidence: Evidence, setting: Setting) -> Self:
        """Learn from the examples (or key words) and the far half of the sample."""
        centre = fit_method("tfidf_centroid", evidence, setting)
        fitted = {"tfidf_centroid": centre}
        far = _far_pages(centre.scores(setting.sample), setting.sample)
        if len(far) >= MIN_NEGATIVES:
            fitted["logistic"] = fit_method("logistic", replace(evidence, negatives=far), setting)
        if setting.sample.concepts is not None:
            fitted["nearest"] = fit_method("nearest", evidence, setting)
        views, weights = tuple(fitted.values()), tuple(_WEIGHTS[name] for name in fitted)
        scores = views_of(views, setting.sample)
        scale = Scale.measured(scores)
        total = np_array(weights) @ scale.standardised(scores)
        spread = Scale.measured(total[None, :])
        if len(setting.sample) < _FEW_PAGES:
            spread = Scale(np_array([0.0]), np_array([sum(weights)]))
        return cls(views, weights, scale, spread)

    def scores(self, batch: PageBatch) -> list[float]:
        """Return the opinion of each page, 0 to 1."""
        total = np_array(self.weights) @ self.scale.standardised(views_of(self.views, batch))
        steps = self.spread.standardised(total[None, :])[0].clip(-30.0, 30.0) - _MIDDLE
        return [1.0 / (1.0 + math.exp(-step)) for step in steps.tolist()]


def _far_pages(scores: NDArray[np.float64], sample: PageBatch) -> tuple[dict[str, float], ...]:
    count = min(int(len(scores) * NEGATIVE_SHARE), MAX_NEGATIVES)
    far = sorted(scores.argsort(kind="stable")[: int(len(scores) * NEGATIVE_SHARE)].tolist())
    chosen = (far[place * len(far) // count] for place in range(count))
    return tuple(truncated(sample.pages[index], _NEGATIVE_TERMS) for index in chosen)
