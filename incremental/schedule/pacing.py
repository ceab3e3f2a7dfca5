"""The limits around the price: longest intervals, early visits, retries, hours of the day."""

from incremental.base.times import DAY, HOUR, MINUTE
from incremental.schedule.allocation import IDLE_SHARE, LONGEST_SHARE
from incremental.schedule.budget import BudgetState, left_for_visits, reserve_at
from incremental.schedule.state import HubState, ListKind, SiteState, Terms

# A new hub is visited early to learn its rate, but never more often than the budget allows on average.
_EARLY_VISITS = (15 * MINUTE, HOUR, 4 * HOUR)
_FIRST_RETRY = 10 * MINUTE
_LONGEST_RETRY = 90 * DAY
# After a month without anything new a week, after half a year 90 days, until a change hint or a visit
# reactivates the hub.
_QUIET_AFTER = 30 * DAY
_QUIET_INTERVAL = 7 * DAY
_BURIED_AFTER = 180 * DAY
_BURIED_INTERVAL = 90 * DAY
# Longest interval of home pages and feeds that are not covered, while requests are saved up: a recorded
# weblog that had been silent for half a year was read once a day, and its next post waited for two days.
_IDLE_INTERVAL = 2 * HOUR


def longest_interval(
    hub: HubState, site: SiteState, budget: BudgetState, terms: Terms, now: float
) -> float:
    """Return the longest interval of a hub, in seconds.

    Longer if the budget is small for the number of hubs, and after a month without anything new.
    """
    longest = terms.max_interval_seconds
    idle = reserve_at(budget, terms.requests_per_day, now) <= now
    # On its first day a site saves up nothing, because what is left goes to lists that were never read.
    new = now - budget.started_at < DAY
    if (idle or new) and hub.kind in (ListKind.HOME, ListKind.FEED):
        return min(longest, _IDLE_INTERVAL)
    # A home page keeps the limit of the settings: that of a recorded weblog, which shared a tenth of the
    # visits with 162 tags, was not visited for eighteen days.
    if hub.kind == ListKind.HOME:
        return longest
    visits_per_day = left_for_visits(budget, terms.requests_per_day)
    if visits_per_day > 0:
        share = IDLE_SHARE if idle else LONGEST_SHARE
        longest = max(longest, site.hubs / (share * visits_per_day) * DAY)
    # While requests are saved up they have no better use, so silence makes no interval longer.
    if idle:
        return longest
    quiet = now - max(hub.last_novel_at, hub.first_at)
    if quiet > _BURIED_AFTER:
        return max(longest, _BURIED_INTERVAL)
    return max(longest, _QUIET_INTERVAL) if quiet > _QUIET_AFTER else longest


def early_visit_at(hub: HubState, site: SiteState, budget: BudgetState, terms: Terms) -> float:
    """Return the next early visit of a new hub, to learn its rate; infinite = it is no longer new."""
    if not 1 <= hub.visits <= len(_EARLY_VISITS):
        return float("inf")
    # What the first look at a site found is looked at again as soon as the user allows: what appeared
    # meanwhile is news. A home page may be read twice in the first minutes.
    first_look = hub.visited_at - budget.started_at < min(terms.min_interval_seconds, HOUR)
    if first_look and hub.kind in (ListKind.HOME, ListKind.FEED, ListKind.SITEMAP):
        return hub.visited_at + terms.min_interval_seconds
    mean = max(site.hubs, 1) / left_for_visits(budget, terms.requests_per_day) * DAY
    return hub.visited_at + max(_EARLY_VISITS[hub.visits - 1], mean)


def retry_at(hub: HubState, now: float) -> float:
    """Return when to retry a failed hub: after 10 minutes, doubling up to a day.

    After many days of failures it waits half of that time, at most 90 days; a home page is retried daily.
    """
    # A last try in the future (the clock went back) counts as made now.
    tried_at = min(hub.tried_at, now)
    longest = DAY
    if hub.visited_at and hub.kind != ListKind.HOME:
        longest = min(max((tried_at - hub.visited_at) / 2, DAY), _LONGEST_RETRY)
    return tried_at + min(_FIRST_RETRY * 2.0 ** min(hub.failures - 1, 20), longest)


def share_at(share: float, now: float, terms: Terms) -> float:
    """Return when *share* of the allowed hours of this day (UTC) has passed; *now* if it has already."""
    passed = 0.0
    spans = sorted(
        span
        for start, end in terms.windows or ((0.0, 24.0),)
        for span in (((start, end),) if start < end else ((0.0, end), (start, 24.0)))
    )
    wanted = share * sum(end - start for start, end in spans)
    for start, end in spans:
        if passed + end - start >= wanted:
            return max(now, now // DAY * DAY + (start + wanted - passed) * HOUR)
        passed += end - start
    return max(now, (now // DAY + 1) * DAY)


def in_window(at: float, terms: Terms) -> float:
    """Return *at*, or the start of the next allowed hours."""
    if not terms.windows or at == float("inf"):
        return at
    hour = at % DAY / HOUR
    waits = []
    for start, end in terms.windows:
        if (hour - start) % 24 < (end - start) % 24:
            return at
        waits.append((start - hour) % 24)
    return at + min(waits) * HOUR
