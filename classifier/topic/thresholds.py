"""The threshold of *relevant*, without a training set: from the examples' scores and a sample.

::

    leave-one-out scores of the examples -> scores of pages on the topic: about normal(m, s)
    scores of the sample (no topic known) -> how many pages lie above any threshold t
        share of the topic  p = ABOVE * share of the sample above m     (half of a topic lies above m)
        expected F1(t) = 2 p P(normal(m, s) > t) / (p + share of the sample above t)
    the t of the highest expected F1 is the threshold

Corrections outrank this: the threshold moves to where it separates most of the corrected pages.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from classifier.topic.values import Verdict

Scores = NDArray[np.float64]

# Weight of the usual scores, in examples.
USUAL_WEIGHT: Final = 3.0
# Below the threshold, in the sample's standard deviations: undecided.
GREY_WIDTH: Final = 0.6
# How far one misjudged page moves the threshold, in the sample's standard deviations: one wrong click does
# not open the gate.
STIFFNESS: Final = 1.0
_LOW: Final = 1.0
_HIGH: Final = 6.0
_STEPS: Final = 111
_MIN_SAMPLE: Final = 30
_RISING: Final = 4
_SPREAD: Final = 1.0


@dataclass(frozen=True, slots=True)
class Usual:
    """How the pages of topics score, in the sample's standard deviations: measured on labelled topics."""

    mean: float
    deviation: float
    above_mean: float
    """A topic has this many times the pages that the sample has above the topic's mean.

    Half of its own lie there, and some of no topic; the mean of few examples is often too low, which lets
    far more pass than one too high keeps out.
    """
    rise: float = 0.0
    """Added to the mean for each example from the second to the fifth: with more, the topic scores higher."""

    def mean_with(self, examples: int) -> float:
        """Return the mean of a topic's pages when the topic has so many examples."""
        return self.mean + self.rise * min(max(examples, 1) - 1, _RISING)


BY_WORDS: Final = Usual(1.6, 1.0, 1.5)
BY_MEANING: Final = Usual(1.8, 1.0, 1.25, rise=0.15)


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold on a method's standardised scores, and their mapping to 0 to 1."""

    value: float
    source: str
    """``examples``, ``corrections`` or ``usual``: what it was chosen from."""

    def score(self, raw: float) -> float:
        """Return 0 to 1, 0.5 at the threshold; the sample's standard deviation is the unit."""
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, (raw - self.value) / _SPREAD))))

    def verdict(self, raw: float) -> Verdict:
        """Return the verdict on a score."""
        if raw >= self.value:
            return Verdict.RELEVANT
        return Verdict.GREY if raw >= self.value - GREY_WIDTH else Verdict.IRRELEVANT


def choose_threshold(
    left_out: Sequence[float], sample: Scores, *, usual: Usual = BY_WORDS, caution: float = 0.0
) -> Threshold:
    """Choose by expected F1 from leave-one-out scores and the sample's; both may be empty.

    *caution* is added: what the sample cannot know yet, in its standard deviations.
    """
    mean, deviation = _topic_scores(left_out, usual)
    known = len(sample) >= _MIN_SAMPLE
    expected = _best_expected(mean, deviation, sample, usual) if known else mean - deviation
    return Threshold(expected + caution, "examples" if left_out else "usual")


def corrected(
    start: Threshold,
    *,
    examples: Sequence[float],
    relevant: Sequence[float],
    irrelevant: Sequence[float],
) -> Threshold:
    """Return the threshold near *start* that best separates the corrected pages.

    All are leave-one-out scores. Without irrelevant pages it never rises, without relevant ones it
    never falls; it fails an example that had passed only if it gains a corrected page.
    """
    passed = [score for score in examples if score >= start.value]
    return Threshold(_parting(start.value, [*passed, *relevant], irrelevant), "corrections")


def _topic_scores(scores: Sequence[float], usual: Usual) -> tuple[float, float]:
    """Return mean and deviation of the topic's pages, shrunk towards the usual ones."""
    weight = USUAL_WEIGHT + len(scores)
    mean = (USUAL_WEIGHT * usual.mean_with(len(scores)) + math.fsum(scores)) / weight
    squares = math.fsum((score - mean) ** 2 for score in scores)
    variance = (USUAL_WEIGHT * usual.deviation**2 + squares) / weight
    return mean, math.sqrt(variance)


def _best_expected(mean: float, deviation: float, sample: Scores, usual: Usual) -> float:
    from scipy.special import ndtr  # noqa: PLC0415 - heavy

    ordered = np.sort(sample)
    steps = np.linspace(_LOW, _HIGH, _STEPS)
    above = 1.0 - np.searchsorted(ordered, steps) / len(ordered)
    least = 1.0 / len(ordered)
    share = max(usual.above_mean * float((sample > mean).mean()), least)
    found = ndtr((mean - steps) / deviation)
    expected = 2.0 * share * found / (share + np.maximum(above, least))
    return float(steps[int(expected.argmax())])


def _parting(start: float, right: Sequence[float], wrong: Sequence[float]) -> float:
    """Return the threshold that balances misjudged pages against distance from *start*."""
    marks = sorted({start, *right, *wrong})
    between = [(low + high) / 2 for low, high in pairwise(marks)]
    beyond = [marks[-1] + 0.1, marks[0] - 0.1]
    return min(
        [start, *between, *beyond],
        key=lambda mark: (
            sum(score < mark for score in right)
            + sum(score >= mark for score in wrong)
            + abs(mark - start) / STIFFNESS
        ),
    )
