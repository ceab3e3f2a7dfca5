"""How a site's requests are divided: the classes of fetches, their shares, and one bucket. Pure.

Nine classes draw on a site's budget::

    revisit    known hubs that are not covered
    covered    covered hubs, now and then, in case that changes
    explore    hubs that were never read
    verify     new pages that wait to be announced
    read       announced pages that were not read yet
    article    monitored articles
    watch      pages that a user watches for changes
    refresh    announced pages, for changes: after all others
    urgent     hubs that may show what scrolled off: before all others

Among classes that wait for a *turn* the one furthest below its part is served next; what one does not
use, the others get. Classes with a *bound* save up that share of the grants and wait while nothing is
saved. All shares are in this module, each with its reason.

The turn of articles is learned (:func:`article_share`).
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from incremental.base.times import DAY


class Share(StrEnum):
    """A class of fetches that shares a site's budget with the others."""

    REVISIT = "revisit"
    COVERED = "covered"
    EXPLORE = "explore"
    VERIFY = "verify"
    READ = "read"
    ARTICLE = "article"
    WATCH = "watch"
    REFRESH = "refresh"
    URGENT = "urgent"


@dataclass(frozen=True, slots=True)
class Quota:
    """What one class may take."""

    turn: float = 0.0
    """Its part among those that take turns; 0 = it takes none."""
    young: float = 0.0
    """The same in a site's first week."""
    bound: float | None = None
    """Share of the site's requests that it may take every day; None = unbounded."""
    saved_days: float = 0.0
    """Days' worth of its bound that may be saved up."""
    least: float = 0.0
    """Requests that may be saved up however small the budget."""
    full: bool = False
    """Whether it starts with everything saved that may be."""


# Defaults of the shares that users set, [news] verify_share and [refresh] share.
# One request in fifty for refreshes did not show, whereas one in twenty doubled the mean delay of news on
# ten recorded days of a busy news site.
VERIFICATION_SHARE, REFRESH_SHARE = 0.25, 0.02
QUOTAS = {
    # Known lists come first; in the first week most hubs are still to be found.
    Share.REVISIT: Quota(turn=0.7, young=0.5),
    # Two hundred tag pages that show nothing of their own may cost a tenth of the budget. A share of their
    # own, because with the whole budget going to two lists a page that only a covered sitemap named waited
    # for four days.
    Share.COVERED: Quota(turn=0.1, young=0.05),
    Share.EXPLORE: Quota(turn=0.1, young=0.25),
    # News that waits has turns nearly as often as the lists that bring it. It counts against the bound
    # of READ without being held by it.
    Share.VERIFY: Quota(turn=0.5, young=0.2),
    # A quarter of a day's share at once: a batch of news is read when it comes.
    Share.READ: Quota(
        turn=0.1, young=0.1, bound=VERIFICATION_SHARE, saved_days=0.25, least=1.0, full=True
    ),
    Share.ARTICLE: Quota(turn=0.1, young=0.1),
    # A user asked for them, so they have turns nearly as often as news that waits; what a pattern of
    # hundreds of pages wants beyond that, the lists keep.
    Share.WATCH: Quota(turn=0.4, young=0.4),
    # Starts with none saved: a restart is no reason to refresh.
    Share.REFRESH: Quota(bound=REFRESH_SHARE, least=2.0),
    # A quarter of a day's requests at once and half of them every day, so that the other half is left for
    # the lists; at least eight, so that a small budget gets over an overflow, too.
    Share.URGENT: Quota(bound=0.5, saved_days=0.5, least=8.0, full=True),
}

# Of a site's requests, for pages that are linked and not there, after their first few days.
MISSING_SHARE = 0.005
# Seventeen pages of a recorded site were listed up to five days before they were there.
_AWAITED_SECONDS = 5 * DAY
# Longest wait in these days for each page that its site misses.
_AWAITED_WAIT = 0.25 * DAY
# What a new site has so far listed in vain is mostly old; so it may cost less.
_NEW_SITE_DAYS = 30.0
# Always left for visits of known hubs, however much there is to explore.
VISITS_SHARE = 0.75
# The same in a site's first week.
YOUNG_VISITS_SHARE = 0.5
# Days of budget that may be saved up: half a day, so that it moves through the day.
SAVED_DAYS = 0.5
# Of what can be saved. Below, the price has not yet fallen far enough for hubs to use the budget: at a
# half, articles took a third of flink's requests from its lists.
RESERVE_SHARE = 0.9
# Share of visits that may be made only because the longest interval has passed.
LONGEST_SHARE = 0.1
# The same while the budget is not used up: a site silent for weeks has little else to do. With the small
# share alone the home page of a weblog with 162 tags was not visited for 18 days.
IDLE_SHARE = 0.5

YOUNG_SECONDS = 7 * DAY
# Uses count half after 34 requests.
_FADE = 0.98
_LEAST = 0.02
# Largest share of articles while none of them has gained a link.
_UNPROVEN = 0.12
# With two fifths the means of two recorded sites fell by 24 and 9 minutes, those of two rose by 74 and 6.
_PROVEN = 0.3
# Their share after a gain: gains cluster (a section of a manual, a translation).
AFTER_GAIN = 0.5
AFTER_GAIN_SECONDS = 2 * DAY
_PRIOR_GAINS = 0.05
# Prior: an article gains a link every six thousand days.
_PRIOR_ARTICLE_DAYS = 300.0

# Requests a day for missing pages, however small the budget.
_LEAST_FOR_MISSING = 1e-3


# One bucket of a site.


def filled(tokens: float, per_day: float, seconds: float, most: float) -> float:
    """Return a bucket's tokens after *seconds*. A clock that went back grants nothing."""
    return min(tokens + max(seconds, 0.0) / DAY * per_day, most)


def granted_at(tokens: float, per_day: float, now: float) -> float:
    """Return when a bucket that fills at *per_day* (> 0) holds one request."""
    # Slightly less than one, because of rounding.
    if tokens >= 1 - 1e-9:
        return now
    return now + (1 - tokens) / per_day * DAY


@dataclass
class Allocation:
    """Whose turn it is on a site, and what each bounded class has saved up. In memory."""

    bounds: Mapping[Share, float] = field(default_factory=dict)
    """Bounds set by the user, instead of those in :data:`QUOTAS`."""
    used: dict[Share, float] = field(default_factory=dict)
    """Requests by class; they fade."""
    articles: float = QUOTAS[Share.ARTICLE].turn
    """The learned turn of articles."""
    _saved: dict[Share, float] = field(default_factory=dict)
    _saved_at: float = 0.0

    def turn(self, waiting: Collection[Share], *, young: bool, articles: float) -> Share:
        """Return the class furthest below its part; *articles*: that of monitored articles."""
        parts = {share: quota.young if young else quota.turn for share, quota in QUOTAS.items()}
        parts[Share.ARTICLE] = articles
        return min(sorted(waiting), key=lambda share: self.used.get(share, 0.0) / parts[share])

    def count(self, share: Share) -> None:
        """Count a request of a class that had its turn."""
        faded = {one: count * _FADE for one, count in self.used.items()}
        self.used = {**faded, share: faded.get(share, 0.0) + 1.0}

    def draw(self, share: Share) -> None:
        """Take a request from a bounded class's savings, which may be overdrawn."""
        self._saved[share] = self._saved.get(share, 0.0) - 1

    def saved(self, share: Share, per_day: float, now: float) -> float:
        """Return how many requests a bounded class may make now; *per_day*: the site's budget."""
        seconds, self._saved_at = now - self._saved_at, now
        for one, quota in QUOTAS.items():
            bound = self.bounds.get(one, quota.bound)
            if bound is not None:
                most = max(quota.saved_days * bound * per_day, quota.least)
                before = self._saved.get(one, most if quota.full else 0.0)
                earned = seconds if one in self._saved else 0.0
                self._saved[one] = filled(before, bound * per_day, earned, most)
        return self._saved[share]

    def open_at(self, share: Share, per_day: float, now: float, *, overdraft: float = 0.0) -> float:
        """Return from when on a bounded class may make a request; infinite = never.

        *overdraft*: requests that it may make beyond its savings.
        """
        rate = (self.bounds.get(share, QUOTAS[share].bound) or 0.0) * per_day
        saved = self.saved(share, per_day, now) + overdraft
        return granted_at(saved, rate, now) if rate > 0 else math.inf


@dataclass(frozen=True, slots=True)
class MissingPages:
    """A site's pages that are linked and not there."""

    pages: int
    """Those that are asked for again; 0 = this one shares its requests with none."""
    days: float
    """Since the site was added."""
    per_day: float
    """The site's requests a day."""

    def wait(self, age: float, *, listed: bool) -> float:
        """Return the seconds until a page that has been linked for *age* seconds is asked for again.

        *listed*: a list shows it, and not only an article.
        """
        if self.days < _NEW_SITE_DAYS or not listed:
            wait = 2 * age
        elif age < _AWAITED_SECONDS:
            wait = min(age, _AWAITED_WAIT * max(self.pages, 1))
        else:
            wait = age
        return min(wait, self.longest)

    @property
    def longest(self) -> float:
        """The longest wait in seconds: 2 days or more."""
        return max(self.pages / max(MISSING_SHARE * self.per_day, _LEAST_FOR_MISSING), 2.0) * DAY


def article_share(articles: int, gains: int, article_days: float, lists_weight: float) -> float:
    """Return the share of the budget that monitored articles deserve, from 0.02 to 0.3.

    *gains* links to new pages in *article_days* days of watching them, summed over articles;
    *lists_weight* is the sum over hubs of the square roots of their links an hour
    (:attr:`incremental.schedule.SiteState.weight_total`).
    """
    # By the square-root law a class deserves visits in proportion to the sum of the square roots of its
    # rates, so hundreds of articles that never gained a link deserve few.
    rate = (_PRIOR_GAINS + gains) / (_PRIOR_ARTICLE_DAYS + max(article_days, 0.0)) / 24
    weight = articles * math.sqrt(rate)
    if weight <= 0:
        return _LEAST
    most = _PROVEN if gains else _UNPROVEN
    return min(max(weight / (weight + lists_weight), _LEAST), most)
