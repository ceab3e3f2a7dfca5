"""When a page is fetched again for changes of its text. Pure arithmetic; unix seconds.

An announced page waits for a share of the time that it has stayed the same. A page that a user watches and
that changes at a constant rate accrues ``rate * t^2 / 2`` minutes of delay in t minutes. It is visited when
that reaches the site's price, as its hubs are (:mod:`incremental.schedule.price`)::

    interval = sqrt(2 * price / rate),   within the watch's bounds

The rate is learned from the changes seen, which fade. Several changes between two visits count as one, so
the rate of a page that changes at every visit is underestimated until its interval has shrunk.
"""

import math
from dataclasses import dataclass

from incremental.base.times import DAY, MINUTE

# The next refresh waits for this share of the time the page has stayed the same. Most corrections come
# within a day, and a page unchanged for a month mostly stays so for another: about eleven refreshes in
# ninety days.
PATIENCE = 0.5
# Without a change to the last refresh; from the announcement or a change to the first one.
MOST_REFRESH_DAYS = 90.0
_FIRST_REFRESH_SECONDS = DAY
# What was seen counts half after this long.
_HALF_LIFE_SECONDS = 30 * DAY
# Prior: one change a week, as if watched for half of one.
_PRIOR_CHANGES, _PRIOR_SECONDS = 0.5, 3.5 * DAY
# Minutes of delay below which no visit is worthwhile. Where nothing else used the budget, a page that did
# not change in fifteen days was visited eighteen times a day.
LEAST_PRICE_MINUTES = 15.0
# A watched page is visited daily at least, unless its watch or its site says otherwise.
LONGEST_SECONDS = DAY
# A visit that failed is repeated no sooner than this.
RETRY_SECONDS = 15 * MINUTE


@dataclass(frozen=True, slots=True)
class WatchTerms:
    """What bounds the interval."""

    price_minutes: float
    """Accrued delay at which a visit is worthwhile; >= 0."""
    min_seconds: float
    max_seconds: float


@dataclass(frozen=True, slots=True)
class Counted:
    """Changes seen in the time watched; both fade."""

    changes: float = 0.0
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Changes a minute, with the prior; > 0."""
        seconds = max(self.seconds, 0.0) + _PRIOR_SECONDS
        return (max(self.changes, 0.0) + _PRIOR_CHANGES) / seconds * MINUTE


def next_refresh_at(same_since: float, now: float) -> float | None:
    """Return when to refresh a page unchanged *same_since*; None = never again."""
    age = max(now - same_since, 0.0)
    if age >= MOST_REFRESH_DAYS * DAY:
        return None
    return now + max(_FIRST_REFRESH_SECONDS, PATIENCE * age)


def counted(before: Counted, seconds: float, *, changed: bool) -> Counted:
    """Count a comparison with the text of *seconds* ago. A clock that went back counts no time."""
    passed = max(seconds, 0.0)
    kept = 0.5 ** (passed / _HALF_LIFE_SECONDS)
    return Counted(before.changes * kept + changed, before.seconds * kept + passed)


def interval_seconds(seen: Counted, terms: WatchTerms) -> float:
    """Return how long to wait for the next visit."""
    price = max(terms.price_minutes, LEAST_PRICE_MINUTES)
    wanted = math.sqrt(2 * price / seen.rate) * MINUTE
    return max(min(wanted, terms.max_seconds), terms.min_seconds)


def bounds(every: float | None, site_least: float, site_most: float) -> tuple[float, float]:
    """Return the shortest and longest interval: that of a watch, else those of its site."""
    if every is not None:
        return every, every
    return site_least, max(min(site_most, LONGEST_SECONDS), site_least)
