"""Maps a page's score to its probability of relevance, and sets the threshold, from all evidence.

::

    the sample's scores  = two normal populations of one deviation: the topic's pages, and all others
                           (EM with the priors below)
    log-odds(score)      = SLOPE * (score - middle) + log(share / (1 - share))          a straight line
    boundary             = where the expected F1 over the sample is highest,
                           and not below the everyday pages' mean + TAIL deviations,
                           nor where more of the sample would pass than may be on topic (meaning_view.py)
    rarity(score)        = -log of the mean, over the two populations, of the share that scores so high
    shift by marks       = argmin of  shift^2 / (2 STEP) + the marks' logistic losses    convex, one number
    share after marks   <= GROWTH ** (relevant marks below the first boundary) * the share before any mark

Populations with a common deviation make the line straight, so the probability increases with the score. The
marks' loss is that of a logistic regression over rarity with only its offset free: one mark changes the sum
of expected recall and expected share of accepted others by at most two sevenths (two fifths when it opens),
in any order of marks. A relevant mark only opens, an irrelevant one only closes, and further ones of a kind
do so less, once the boundary is where such marks are expected. Where recall is not at risk, a mark closes the
gate quickly. What a relevant mark teaches may bring a whole site near the topic; the last line keeps a click
on one of its pages from accepting them all. Marked pages count by their scores before any mark was learned:
afterwards the topic knows them, and they no longer show how it judges others.

The priors were chosen on labelled texts by topics of 7 to 30 % of the pages: SIB-200 in English, Chinese and
Russian, MasakhaNEWS in English, TNEWS, GNAD. They are a compromise: topics of 25 % of the pages need a
lower threshold, topics of 3 % and less a higher one. Neither held-out examples nor the nearest pages,
compared with everyday ones, distinguish the two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from classifier.words.values import Verdict

Scores = NDArray[np.float64]

# Of the topic's pages, in the sample's standard deviations; and of all others.
TOPIC_MEAN: Final = 1.5
OTHERS_MEAN: Final = -0.25
VARIANCE: Final = 0.25
SHARE: Final = 0.18
# Weight of each prior as a share of the sample; a small sample counts as LEAST pages.
MEAN_WEIGHT: Final = 0.3
VARIANCE_WEIGHT: Final = 1.0
SHARE_WEIGHT: Final = 0.2
LEAST: Final = 30
# Largest shift of the boundary by one mark, in rarity.
STEP: Final = math.log(1.4)
# Times as many pages of the sample as before may pass after a mark on a page that did not pass.
GROWTH: Final = 2.5
# No page that scores like everyday ones is on topic, whatever share of the sample the others are: up to
# this many of their deviations above their mean.
TAIL: Final = 2.0
# Fewer everyday pages show no tail; the sample is large by then.
_FEW_EVERYDAY: Final = 10
# Log-odds per unit of rarity, near boundaries.
STEEPNESS: Final = 2.5
# Scores from this to 0.5 are undecided.
DOUBTFUL: Final = 0.1
# The boundary without a sample.
_USUAL: Final = 1.06
_ROUNDS: Final = 25
_SURE: Final = 30.0
_HALVINGS: Final = 60
_FAR: Final = 8.0
_DOUBTED: Final = 4.0


@dataclass(frozen=True, slots=True)
class Decision:
    """The threshold on a method's standardised scores, and their mapping to 0 to 1; immutable."""

    value: float
    """From here on a page is relevant."""
    slope: float
    """Log-odds that are shown for one standard deviation; above 0."""

    def score(self, raw: float) -> float:
        """Return 0 to 1, 0.5 at the threshold."""
        return 1.0 / (1.0 + math.exp(-_doubted(self.slope * (raw - self.value))))

    def verdict(self, raw: float) -> Verdict:
        """Return the verdict on a score."""
        if raw >= self.value:
            return Verdict.RELEVANT
        return Verdict.DOUBTFUL if self.score(raw) >= DOUBTFUL else Verdict.IRRELEVANT


@dataclass(frozen=True, slots=True)
class Usual:
    """Standardised scores of pages of no known topic; each kind may be empty."""

    sample: Scores = field(default_factory=lambda: np.zeros(0))
    """Pages of the crawl."""
    everyday: Scores = field(default_factory=lambda: np.zeros(0))
    """Shipped pages of other sites, never on topic."""
    at_most: float = 1.0
    """The largest share of the crawl's pages that may be on topic."""

    @property
    def all(self) -> Scores:
        """Both."""
        return np.concatenate([self.sample, self.everyday])

    def start(self, line: Line) -> float:
        """Return the score from which a page is relevant before anything is marked."""
        boundary = max(line.score_of(line.boundary(self.all)), self._passing(self.at_most))
        if len(self.everyday) < _FEW_EVERYDAY:
            return boundary
        return max(boundary, float(self.everyday.mean() + TAIL * self.everyday.std()))

    def grown(self, before: Usual, marks: int) -> float:
        """Return the lowest threshold allowed after *marks* on pages that were not relevant *before*."""
        passed = int(np.count_nonzero(before.sample >= before.start(Line.of(before.all))))
        most = max(passed, 1) * GROWTH ** min(max(marks, 1), _ROUNDS)
        return self._passing(most / max(len(self.sample), 1))

    def _passing(self, share: float) -> float:
        """Return the lowest score that no larger share of the sample reaches."""
        ranked = np.sort(self.sample)[::-1]
        allowed = int(share * len(ranked))
        # Fewer pages do not show a share.
        if allowed >= len(ranked) or len(ranked) < LEAST:
            return -np.inf
        return float(np.nextafter(ranked[allowed], np.inf))


def decide(
    usual: Usual,
    *,
    relevant: Sequence[float] = (),
    irrelevant: Sequence[float] = (),
    before: Usual | None = None,
) -> Decision:
    """Choose from the scores of pages of no known topic and of marked pages.

    *before* are the former on the scale of the marked pages', None = *usual*.
    """
    line = Line.of(usual.all)
    start = usual.start(line)
    right, wrong = _beyond(before or usual, relevant, irrelevant)
    moved = line.of_rarity(float(line.rarity(start)) + shift_by(right, wrong), start)
    if before is not None and len(right):
        moved = max(moved, usual.grown(before, int(np.count_nonzero(right < 0))))
    return Decision(moved, line.slope)


def _beyond(usual: Usual, *marked: Sequence[float]) -> list[Scores]:
    """Return the rarity of marked pages' scores relative to the boundary."""
    line = Line.of(usual.all)
    start = line.rarity(usual.start(line))
    return [line.rarity(np.asarray(scores, dtype=np.float64)) - start for scores in marked]


@dataclass(frozen=True, slots=True)
class Line:
    """The log-odds of relevance by score."""

    slope: float
    middle: float
    """Between the means of the two populations."""
    offset: float
    """Log-odds of the topic's share."""
    variance: float
    """Of each population."""

    @classmethod
    def of(cls, sample: Scores) -> Self:
        """Fit the two populations to the sample's scores."""
        size = max(len(sample), LEAST)
        mean_weight, variance_weight = MEAN_WEIGHT * size, VARIANCE_WEIGHT * size
        share_weight = SHARE_WEIGHT * size
        total, squares = float(sample.sum()), float(np.square(sample).sum())
        topic, others, variance, share = TOPIC_MEAN, OTHERS_MEAN, VARIANCE, SHARE
        for _ in range(_ROUNDS if len(sample) else 0):
            line = cls((topic - others) / variance, (topic + others) / 2, _logit(share), variance)
            chances = _logistic(line.log_odds(sample))
            own, weight = float(chances @ sample), float(chances.sum())
            rest = len(sample) - weight
            share = (weight + share_weight * SHARE) / (len(sample) + share_weight)
            topic = (own + mean_weight * TOPIC_MEAN) / (weight + mean_weight)
            # A prior worth one page keeps the mean defined when every page is on topic.
            others = (total - own + OTHERS_MEAN) / (rest + 1.0)
            topic = max(topic, others + _APART)
            within = squares - 2 * topic * own + topic**2 * weight
            within += -2 * others * (total - own) + others**2 * rest
            variance = (max(within, 0.0) + variance_weight * VARIANCE) / (
                len(sample) + variance_weight
            )
        return cls((topic - others) / variance, (topic + others) / 2, _logit(share), variance)

    def log_odds(self, scores: Scores) -> Scores:
        """Return the log-odds of scores."""
        return np.asarray(self.slope * (scores - self.middle) + self.offset)

    def score_of(self, log_odds: float) -> float:
        """Return the score that has these log-odds."""
        return self.middle + (log_odds - self.offset) / self.slope

    def rarity(self, scores: Scores | float) -> Scores:
        """Return minus the logarithm of the share of either population with at least these scores."""
        from scipy.special import log_ndtr  # noqa: PLC0415 - heavy

        half = self.slope * self.variance / 2
        beyond = (scores - self.middle) / math.sqrt(self.variance)
        apart = half / math.sqrt(self.variance)
        own, others = log_ndtr(apart - beyond), log_ndtr(-apart - beyond)
        return np.asarray(math.log(2) - np.logaddexp(own, others), dtype=np.float64)

    def of_rarity(self, wanted: float, near: float) -> float:
        """Return the score, not far from *near*, that is so rare."""
        low, high = near - _FAR, near + _FAR
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.rarity(middle) < wanted else (low, middle)
        return (low + high) / 2

    def boundary(self, sample: Scores) -> float:
        """Return the log-odds from which the expected F1 over the sample is highest."""
        if len(sample) < LEAST:
            return float(self.log_odds(np.array(_USUAL)))
        found = np.sort(self.log_odds(sample))[::-1]
        chances = _logistic(found)
        expected = 2.0 * chances.cumsum() / (np.arange(1, len(found) + 1) + chances.sum())
        best = int(expected.argmax())
        return float(found[best : best + 2].mean())


def shift_by(right: Scores, wrong: Scores) -> float:
    """Return the shift of a boundary by relevant and irrelevant pages, given in rarity from it."""

    def pulls(shift: float) -> float:
        """Return the derivative of the objective; it increases with the shift."""
        opening = _logistic(STEEPNESS * (shift - right)).sum()
        return shift / STEP + float(opening - _logistic(STEEPNESS * (wrong - shift)).sum())

    low, high = -STEP * len(right), STEP * len(wrong)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if pulls(middle) < 0 else (low, middle)
    return (low + high) / 2


# Distance at which the two populations are distinct, in the sample's deviations.
_APART: Final = 0.5


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


def _logistic(log_odds: Scores) -> Scores:
    return np.asarray(1.0 / (1.0 + np.exp(-log_odds.clip(-_SURE, _SURE))))


def _doubted(log_odds: float) -> float:
    """Compress log-odds beyond _DOUBTED, because no page is quite certain."""
    far = abs(log_odds) - _DOUBTED
    return log_odds if far <= 0 else math.copysign(_DOUBTED + math.log1p(far), log_odds)
