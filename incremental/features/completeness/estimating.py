"""How complete what was found of a site is: pure functions of what its hubs showed.

Four kinds of evidence are combined:

- **overlap**: kinds of hubs (feeds, sitemaps, lists, articles) find pages more or less independently, and so,
  where no two kinds can be compared, do single hubs. The pages that one and the others both showed tell how
  many neither did (Lincoln and Petersen: Seber, *The Estimation of Animal Abundance*, 1982, chapter 3; for
  crawls arXiv 2603.15416). They agree more than chance would have it, so a share that all miss is added, of
  the size that recordings show (docs/completeness.md).
- **audits**: pages drawn independently of all hubs (:mod:`.keeping`). That of n drawn m were known is likely
  in proportion to ``s^m (1 - s)^(n - m)`` if hubs show a share s: each draw of s is weighted by it.
- **losses**: hubs that can no longer be read. Of the share of earlier pages that they alone showed, others
  may have taken over a part: how many fewer new pages came since says how likely which part is. How many
  pages that makes is random as well.
- **misses**: pages that turned up late, or were withheld, are known one by one.

The interval is meant to hold the truth nine times in ten; docs/completeness.md says how often it did.
"""

import math
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from incremental.base.times import DAY

# Of the draws, for the estimate and the interval.
_DRAWS: Final = 1000
# However surprising what was counted is: so many draws (Kish) say how sure the estimate is.
_LEAST_EFFECTIVE: Final = 50
_HELD: Final = 0.9
# From here on nobody can tell whether it is all.
_ALL: Final = 0.995
# Beta distribution of the share that every view misses: mean .013.
_COMMON: Final = (0.8, 60.0)
# Jeffreys' prior of a share.
_HALF: Final = 0.5
# Chance that other hubs take over some of what lost hubs alone showed: any part of it.
_TAKEN_OVER: Final = 0.3
# Where audits can tell, odds that views agree on the pages that they show and miss the same ones.
_DOUBT: Final = 0.1
# However many of the pages were drawn.
_LEAST_UNDRAWN: Final = 0.2
_LEAST_EXPECTED: Final = 1e-3
# Fewer pages say nothing.
FEWEST_PAGES: Final = 3
# Two views are compared if they have so many pages in common, and such a part of either: else they show
# different sections. A view that showed a smaller part of all pages says little of the others.
_FEWEST_COMMON: Final = 5
_LEAST_COMMON: Final = 0.5
_LEAST_OF_ALL: Final = 1 / 3
_PARTS: Final = 3
# Of fewer pages a part says too little: at ten, months of 30 pages that missed nothing lost a tenth.
_LEAST_IN_PART: Final = 15


@dataclass(frozen=True, slots=True)
class Loss:
    """Hubs that are not read any more."""

    days: float
    """Of the window, since they were last read."""
    alone: int
    """Of the pages before, those that only they showed."""
    before: int
    before_days: float
    """Pages found before, and in how many days."""
    after: int
    after_days: float
    """Pages found since, and in how many days."""
    audited: bool = False
    """Audits showed some of the pages that only they showed, so that they would show such pages now."""


@dataclass(frozen=True, slots=True)
class Audits:
    """New pages that audits showed (:mod:`.keeping`)."""

    drawn: int = 0
    missed: int = 0
    """Of these, pages that no hub had shown."""

    def weight(self, pages: int) -> float:
        """Return for how many draws each counts, of which no page is drawn twice; hubs showed *pages*."""
        # Of how many pages they are drawn is known only where hubs showed all of them.
        if self.missed:
            return 1.0
        # Cochran, *Sampling Techniques*, 1977, section 2.6.
        return 1.0 / max(1.0 - self.drawn / max(pages, 1), _LEAST_UNDRAWN)


_NO_AUDITS = Audits()


@dataclass(frozen=True, slots=True)
class Estimate:
    """Share of the new pages that was found, 0 to 1, with its 90 % interval."""

    share: float
    low: float
    high: float


def estimate(
    *views: Sequence[Collection[str]],
    loss: Loss | None = None,
    audits: Audits = _NO_AUDITS,
    in_time: float = 1.0,
) -> Estimate | None:
    """Estimate the share found.

    *views*: what showed each page found, in order, as kinds of hubs, then as hubs; the first that can be
    compared counts. *in_time*: pages found in time for each that hubs showed. None: no views can be
    compared, no hub was lost, and audits showed too little.
    """
    pair = next(filter(None, map(_pair, views)), None)
    few = min(audits.drawn, len(views[0])) < _FEWEST_COMMON
    if loss is None and pair is None and few:
        return None
    draw = random.Random(0)  # noqa: S311 - the same facts have the same answer
    pages = max(len(views[0]), 1)
    drawn = [_drawn(draw, pages, pair, loss, audits) for _ in range(_DRAWS)]
    weights = _weights([log_weight for _, log_weight in drawn])
    likely = draw.choices([share for share, _ in drawn], weights, k=_DRAWS)
    shares = sorted(min(in_time * share, 1.0) for share in likely)
    kept = round(_HELD * _DRAWS)
    at = min(range(_DRAWS - kept + 1), key=lambda i: shares[i + kept - 1] - shares[i])
    high = shares[at + kept - 1]
    return Estimate(shares[_DRAWS // 2], shares[at], 1.0 if high > _ALL else high)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Pages that one view showed, pages that the others did, and those that both did."""

    one: int
    others: int
    both: int

    @property
    def all(self) -> int:
        """Pages that either showed."""
        return self.one + self.others - self.both


def _pair(views: Sequence[Collection[str]]) -> Sequence[_Pair] | None:
    """Return the view whose pages agree best with those of the others, by thirds; None = there is none."""
    found = []
    for view in sorted({view for of in views for view in of}):
        pair = _counted(views, view)
        less = min(pair.one, pair.others)
        least = max(_FEWEST_COMMON, _LEAST_COMMON * less)
        if pair.both >= least and less >= _LEAST_OF_ALL * len(views):
            found.append((_unseen(pair), -pair.both, view))
    if not found:
        return None
    # A view that stops showing pages in the middle of the month still agrees on the first of them.
    size = -(-len(views) // (_PARTS if len(views) >= _PARTS * _LEAST_IN_PART else 1))
    best = min(found)[-1]
    return [_counted(views[at : at + size], best) for at in range(0, len(views), size)]


def _counted(views: Sequence[Collection[str]], view: str) -> _Pair:
    one = sum(view in of for of in views)
    others = sum(any(other != view for other in of) for of in views)
    return _Pair(one, others, sum(view in of and len(set(of)) > 1 for of in views))


def _unseen(pair: _Pair) -> float:
    """Return how many pages nobody showed (Chapman 1951, without bias for small numbers)."""
    total = (pair.one + 1) * (pair.others + 1) / (pair.both + 1) - 1
    return total - pair.all


def _drawn(
    draw: random.Random,
    pages: int,
    parts: Sequence[_Pair] | None,
    loss: Loss | None,
    audits: Audits,
) -> tuple[float, float]:
    """Return a share found, and the logarithm of how likely what was counted is if that is true."""
    # What audits say is believed against all views: half of the draws doubt these, and count less.
    doubted = audits.drawn > 0 and draw.getrandbits(1) == 1
    share = draw.betavariate(2, 1) if doubted else 1.0 - draw.betavariate(*_COMMON)
    if parts is not None:
        there = sum(pair.all / _shown(draw, pair) for pair in parts)
        share *= sum(pair.all for pair in parts) / there
    left, log_weight = (1.0, 0.0) if loss is None else _left(draw, pages, loss)
    seen = share * left if loss is not None and loss.audited else share
    seen = min(max(seen, _LEAST_EXPECTED), 1.0 - _LEAST_EXPECTED)
    known = (audits.drawn - audits.missed) * math.log(seen)
    log_weight += audits.weight(pages) * (known + audits.missed * math.log(1.0 - seen))
    return share * left, log_weight + (math.log(_DOUBT) if doubted else 0.0)


def _left(draw: random.Random, pages: int, loss: Loss) -> tuple[float, float]:
    """Return a share of the pages that is found although hubs are lost, and how likely the counts are."""
    # Sites publish more unevenly than at random: counts weigh half.
    alone, before, after = loss.alone / 2, loss.before / 2, loss.after / 2
    missing = draw.betavariate(alone + _HALF, before - alone + _HALF)
    missing *= draw.random() if draw.random() < _TAKEN_OVER else 1.0
    rate = draw.gammavariate(before + _HALF, 1.0) / (loss.before_days / 2)
    expected = max(rate * loss.after_days * (1.0 - missing) / 2, _LEAST_EXPECTED)
    log_weight = after * math.log(expected) - expected - math.lgamma(after + 1)
    # The rate since, for which what was found since counts in full.
    seen_days = loss.before_days / 2 + loss.after_days * (1.0 - missing)
    rate = draw.gammavariate(before + loss.after + _HALF, 1.0) / seen_days
    lost = rate * loss.days * missing
    return pages / (pages + max(draw.gauss(lost, math.sqrt(lost)), 0.0)), log_weight


def _weights(log_weights: Sequence[float]) -> list[float]:
    """Return weights of draws, flattened until enough of them count."""
    top, power = max(log_weights), 1.0
    while True:
        weights = [math.exp(power * (one - top)) for one in log_weights]
        if sum(weights) ** 2 >= _LEAST_EFFECTIVE * sum(one * one for one in weights):
            return weights
        power /= 2


def _shown(draw: random.Random, pair: _Pair) -> float:
    of_others = draw.betavariate(pair.both + _HALF, pair.others - pair.both + _HALF)
    of_one = draw.betavariate(pair.both + _HALF, pair.one - pair.both + _HALF)
    return 1.0 - (1.0 - of_one) * (1.0 - of_others)


def loss_of(
    found: Sequence[tuple[float, Collection[int], bool]],
    lost_at: Mapping[int, float],
    first_at: float,
    *,
    since: float,
    now: float,
) -> Loss | None:
    """Return what may be missing since the first of some hubs was lost; None = nothing.

    *found*: when each new page was found, also long before *since*, the hubs that showed it, and whether an
    audit did; *lost_at*: when each lost hub was last read; *first_at*: when the first of them was first read.
    Times are unix seconds.
    """
    began = min(lost_at.values(), default=now)
    before = [one for one in found if first_at <= one[0] < began and one[1]]
    alone = [audited for _, shown, audited in before if all(hub in lost_at for hub in shown)]
    if not alone or began >= now:
        return None
    first = max(min(at for at, *_ in found), first_at)
    return Loss(
        days=(now - max(began, since)) / DAY,
        alone=len(alone),
        before=len(before),
        before_days=max(began - first, DAY) / DAY,
        after=sum(at >= began for at, *_ in found),
        after_days=max(now - began, DAY) / DAY,
        audited=any(alone),
    )
