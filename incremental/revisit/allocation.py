"""How a site's requests are divided: the classes of work, their shares, and one bucket. Pure.

Eight classes of work draw on what a site's budget grants::

    revisit    hubs that are known and that no other hub covers
    covered    hubs that show nothing that others do not show: now and then, in case that ends
    explore    hubs that were never read
    verify     new pages that are announced when they have been read
    look       announced pages that were not read yet
    article    articles that may gain links to pages that no list shows
    refresh    announced pages, for what changed on them: behind all others
    urgent     hubs that may show what scrolled by: before all others

Of those that wait for a *turn* the one that is furthest below its part is served next, and what one
does not use, the others get. Those with a *bound* save up that share of the grants and wait while
nothing is saved. All shares of the project stand in this module, each with its reason.

The turn of articles is learned: by the square-root law the visits that a class deserves go with the
sum of the square roots of its rates, so hundreds of articles that never gained a link deserve few.
Gains come together: a section of a manual is written, a translation is begun. For two days after one
the share is large.

One budget may serve all sites (:func:`shares`). Each keeps what its user asked for as long as the whole
allows. When it does not, a part is dealt out evenly, so that no site is forgotten, and the rest by need.
Delay over all sites is least when visits go by the square root of the rate, so a site's need is the sum of
those roots over its hubs: :attr:`SiteState.weight_total`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

_DAY = 86_400.0
_DAY_HOURS = 24.0


class Share(StrEnum):
    """A class of work that shares a site's budget with the others."""

    REVISIT = "revisit"
    COVERED = "covered"
    EXPLORE = "explore"
    VERIFY = "verify"
    READ = "read"
    ARTICLE = "article"
    REFRESH = "refresh"
    URGENT = "urgent"


@dataclass(frozen=True, slots=True)
class Quota:
    """What one class may take."""

    turn: float = 0.0
    """Its part among those that wait for a turn; 0 = it waits for none."""
    young: float = 0.0
    """The same in a site's first week."""
    bound: float | None = None
    """Share of the site's requests that it may take day after day; None = what the budget has."""
    saved_days: float = 0.0
    """How many days' worth of its bound may be saved up."""
    least: float = 0.0
    """Requests that may be saved up however small the budget is."""
    full: bool = False
    """Whether all that may be saved is there at a start."""


VERIFICATION_SHARE, REFRESH_SHARE, FLOOR_SHARE = 0.25, 0.02, 0.2
"""Defaults of the shares that users set: `[news] verify_share`, `[history] share`, `[revisit] floor_share`.

A quarter of the budget for looks; one request in fifty for refreshing, which did not show, where one in
twenty doubled the mean delay of news on ten recorded days of a busy news site; a fifth of a budget that
all sites share is dealt out evenly, so that need can show.
"""
QUOTAS = {
    # The watch on known lists comes first; in the first week most hubs are still to be found.
    Share.REVISIT: Quota(turn=0.7, young=0.5),
    # Two hundred tag pages that show nothing of their own cost a tenth of the budget, no more.
    Share.COVERED: Quota(turn=0.1, young=0.05),
    Share.EXPLORE: Quota(turn=0.1, young=0.25),
    # News that waits: its turns come nearly as often as those of the lists that bring it. It draws on
    # the bound of looks without being held by it.
    Share.VERIFY: Quota(turn=0.5, young=0.2),
    # A quarter of a day's looks at once: a batch of news is read when it comes.
    Share.READ: Quota(
        turn=0.1, young=0.1, bound=VERIFICATION_SHARE, saved_days=0.25, least=1.0, full=True
    ),
    Share.ARTICLE: Quota(turn=0.1, young=0.1),
    # A start has none saved: a restart is no reason to fetch what was announced again.
    Share.REFRESH: Quota(bound=REFRESH_SHARE, least=2.0),
    # A quarter of a day's requests at once and half of them day after day, so that the other half keeps
    # the watch; eight at least, so that a site of few requests gets over an overflow, too.
    Share.URGENT: Quota(bound=0.5, saved_days=0.5, least=8.0, full=True),
}

# Left for visits of hubs whatever else a site asks for: one with much to explore must not lose sight
# of what it knows.
VISITS_SHARE = 0.75
# The same in a site's first week.
YOUNG_VISITS_SHARE = 0.5
# How much of the budget may be saved up: half a day's, so that it moves through the day.
SAVED_DAYS = 0.5
# Of what can be saved: below it the price has not fallen far enough yet for hubs to use the budget.
# With half as the bound, articles took a third of flink's requests from its lists.
RESERVE_SHARE = 0.9
# Of the visits: may go to hubs only because their longest interval has passed.
LONGEST_SHARE = 0.1
# The same when the budget is not used up: a site that brought nothing for weeks has little else to
# do. With the small share alone a weblog of 162 tags was left alone for 18 days until its next post.
IDLE_SHARE = 0.5

YOUNG_SECONDS = 7 * _DAY
_FADE = 0.98
_LEAST = 0.02
# Share of articles at most, as long as none of them has gained a link.
_UNPROVEN = 0.06
_PROVEN = 0.12
# Their share after a gain: gains come together, when a section of a manual is written.
AFTER_GAIN = 0.5
AFTER_GAIN_SECONDS = 2 * _DAY
_PRIOR_GAINS = 0.05
# Before anything is seen an article is taken to gain a link every six thousand days.
_PRIOR_ARTICLE_DAYS = 300.0


# One budget for all sites. Delay over all sites is least when visits go by the square root of the rate,
# so a site's need is the sum of those roots over its hubs: SiteState.weight_total.

# A site of which nothing is known yet needs a little, so that need can show.
_LEAST_NEED = 1e-3


@dataclass(frozen=True, slots=True)
class Demand:
    """What one site would use."""

    requests_per_day: float
    """Asked for by the user: never more than this."""
    need: float
    """In proportion to which more is given; >= 0."""


def shares(whole: float, demands: Mapping[int, Demand], floor: float) -> dict[int, float]:
    """Return the requests a day of each site; together at most *whole*.

    *floor*, from 0 to 1, is the part that is dealt out evenly. What one site does not want goes to the
    others. With more sites than requests a site gets less than one a day: it is asked every few days.
    """
    if sum(demand.requests_per_day for demand in demands.values()) <= whole:
        return {site: demand.requests_per_day for site, demand in demands.items()}
    given = _dealt(max(whole, 0.0) * floor, demands, dict.fromkeys(demands, 1.0), {})
    needs = {site: max(demand.need, _LEAST_NEED) for site, demand in demands.items()}
    return _dealt(max(whole, 0.0) * (1 - floor), demands, needs, given)


def _dealt(
    amount: float,
    demands: Mapping[int, Demand],
    by: Mapping[int, float],
    given: Mapping[int, float],
) -> dict[int, float]:
    """Deal *amount* out in proportion to *by*, on top of what is given, to nobody more than it wants."""
    result = {site: given.get(site, 0.0) for site in demands}
    open_sites = {site for site in demands if result[site] < demands[site].requests_per_day}
    # Each turn fills at least one site up, or is the last.
    while open_sites and amount > 1e-9:  # noqa: PLR2004 - what rounding leaves over
        total = sum(by[site] for site in open_sites)
        room = min(
            (demands[site].requests_per_day - result[site]) / by[site] for site in open_sites
        )
        rate = min(amount / total, room)
        for site in open_sites:
            result[site] += rate * by[site]
        amount -= rate * total
        open_sites = {
            site
            for site in open_sites
            if demands[site].requests_per_day - result[site] > 1e-9  # noqa: PLR2004
        }
    return result


# One bucket of a site.


def filled(tokens: float, per_day: float, seconds: float, most: float) -> float:
    """Return what is in a bucket after so long. A clock that went back grants nothing."""
    return min(tokens + max(seconds, 0.0) / _DAY * per_day, most)


def granted_at(tokens: float, per_day: float, now: float) -> float:
    """Return when a bucket into which *per_day* requests flow, above 0, holds one."""
    # A hair less than one: what adds up to one grant in floats may miss it by rounding.
    if tokens >= 1 - 1e-9:
        return now
    return now + (1 - tokens) / per_day * _DAY


@dataclass
class Allocation:
    """Whose turn it is on one site, and what each bounded class has saved up. In memory."""

    bounds: Mapping[Share, float] = field(default_factory=dict)
    """Bounds that the user has set, instead of those of :data:`QUOTAS`."""
    used: dict[Share, float] = field(default_factory=dict)
    """Requests by class; older ones fade, by half in 34 requests."""
    articles: float = QUOTAS[Share.ARTICLE].turn
    """The learned turn of articles."""
    _saved: dict[Share, float] = field(default_factory=dict)
    _saved_at: float = 0.0

    def turn(self, waiting: Collection[Share], *, young: bool, gained: bool) -> Share:
        """Return which of the classes in *waiting* is served next: the one furthest below its part.

        *gained*: one of the articles has just gained a link.
        """
        parts = {share: quota.young if young else quota.turn for share, quota in QUOTAS.items()}
        parts[Share.ARTICLE] = AFTER_GAIN if gained else self.articles
        return min(sorted(waiting), key=lambda share: self.used.get(share, 0.0) / parts[share])

    def count(self, share: Share) -> None:
        """Count a request of a class that had its turn."""
        faded = {one: count * _FADE for one, count in self.used.items()}
        self.used = {**faded, share: faded.get(share, 0.0) + 1.0}

    def draw(self, share: Share) -> None:
        """Take a request from what a bounded class has saved; it may be overdrawn."""
        self._saved[share] = self._saved.get(share, 0.0) - 1

    def saved(self, share: Share, per_day: float, now: float) -> float:
        """Return how many requests a bounded class may make now, of *per_day* that the site has."""
        seconds, self._saved_at = now - self._saved_at, now
        for one, quota in QUOTAS.items():
            bound = self.bounds.get(one, quota.bound)
            if bound is not None:
                most = max(quota.saved_days * bound * per_day, quota.least)
                before = self._saved.get(one, most if quota.full else 0.0)
                earned = seconds if one in self._saved else 0.0
                self._saved[one] = filled(before, bound * per_day, earned, most)
        return self._saved[share]

    def open_at(self, share: Share, per_day: float, now: float) -> float:
        """Return from when on a bounded class may make a request; infinite = never."""
        rate = (self.bounds.get(share, QUOTAS[share].bound) or 0.0) * per_day
        saved = self.saved(share, per_day, now)
        return granted_at(saved, rate, now) if rate > 0 else math.inf


def article_share(articles: int, gains: int, article_days: float, lists_weight: float) -> float:
    """Return the share of the budget that *articles* monitored articles deserve, from 0.02 to 0.12.

    *gains* links to new pages in *article_days* days of watching them, summed over articles;
    *lists_weight* is the sum over hubs of the square roots of their links an hour
    (:attr:`incremental.revisit.SiteState.weight_total`).
    """
    rate = (_PRIOR_GAINS + gains) / (_PRIOR_ARTICLE_DAYS + max(article_days, 0.0)) / _DAY_HOURS
    weight = articles * math.sqrt(rate)
    if weight <= 0:
        return _LEAST
    most = _PROVEN if gains else _UNPROVEN
    return min(max(weight / (weight + lists_weight), _LEAST), most)
