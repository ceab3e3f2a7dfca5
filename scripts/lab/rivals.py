"""How others schedule revisits, behind the same protocol and with their own parameters.

Each is a rule that turns what a visit found into the next interval. In the benchmark all make the same
number of visits, so what counts is how a rule shares visits out, not how many it would make: natively
some of these products fetch many times more. Sources are named at each rule.
"""

import math
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import replace

from incremental.base.times import DAY, HOUR, MINUTE
from incremental.schedule.budget import BudgetState
from incremental.schedule.rates import count_visit
from incremental.schedule.state import HubState, SiteState, Visit

WEEK = 7 * DAY

Rule = Callable[[HubState, Visit], float]
"""The next interval, seconds, from the state before the visit and the visit."""


class IntervalPolicy:
    """Visits each hub after the interval that a rule gives; the most overdue first."""

    def __init__(self, name: str, first_interval: float, rule: Rule) -> None:
        self.name = name
        self._first = first_interval
        self._rule = rule

    def observe(self, hub: HubState, site: SiteState, visit: Visit) -> tuple[HubState, SiteState]:
        """Ask the rule for the next interval; a failed visit leaves it as it is."""
        hub = replace(hub, interval=hub.interval or self._first)
        interval = hub.interval if visit.failed else self._rule(hub, visit)
        return replace(count_visit(hub, visit), interval=interval), site

    def index(self, hub: HubState, site: SiteState, budget: BudgetState, now: float) -> float:
        """Return elapsed time over interval; infinite before the first visit."""
        del site, budget
        if not hub.tried_at:
            return math.inf
        return max(now - hub.tried_at, 0.0) / (hub.interval or self._first)


def changed(visit: Visit) -> bool:
    """Whether the page shows a link that it did not show before: the signature has changed."""
    return not visit.baseline and visit.novel + sum(visit.shared.values()) > 0


def round_robin() -> IntervalPolicy:
    """Return the rule that knows nothing: the hub visited longest ago is next."""
    return IntervalPolicy("round_robin", DAY, lambda _hub, _visit: DAY)


def nutch() -> IntervalPolicy:
    """Return Apache Nutch's AdaptiveFetchSchedule with the values of nutch-default.xml.

    Without sync_delta, which needs a Last-Modified that pages of links rarely send.
    """

    def rule(hub: HubState, visit: Visit) -> float:
        interval = hub.interval * (0.8 if changed(visit) else 1.4)
        return min(max(interval, MINUTE), 365 * DAY)

    return IntervalPolicy("nutch", 30 * DAY, rule)


def _storm(
    name: str, first: float, shortest: float, longest: float, steps: tuple[float, float]
) -> IntervalPolicy:
    up, down = steps

    def rule(hub: HubState, visit: Visit) -> float:
        if changed(visit):
            minutes = int(((1 - down) * hub.interval + down * shortest) / MINUTE)
        else:
            minutes = int(hub.interval * (1 + up) / MINUTE)
        return min(max(minutes * MINUTE, shortest), longest)

    return IntervalPolicy(name, first, rule)


def stormcrawler() -> IntervalPolicy:
    """Return Apache StormCrawler's AdaptiveScheduler with its default values."""
    return _storm("stormcrawler", DAY, HOUR, 14 * DAY, (0.5, 0.5))


def news_crawl() -> IntervalPolicy:
    """Return Common Crawl's news-crawl: StormCrawler's scheduler with the values of its own."""
    return _storm("news_crawl", 12 * HOUR, 90 * MINUTE, 90 * DAY, (0.5, 0.2))


def mediacloud() -> IntervalPolicy:
    """Return the overlap rule of Media Cloud's rss-fetcher (``_check_auto_adjust``).

    Keeps the share of links that were there already between a third and two thirds, so that nothing
    scrolls off: steps of an hour down, of ten minutes up (an hour after a month without news).
    """

    def rule(hub: HubState, visit: Visit) -> float:
        new = visit.novel + sum(visit.shared.values())
        known = 1 - new / visit.shown if visit.shown else 1.0
        interval = hub.interval
        if known < 1 / 3 and not visit.baseline:
            interval -= HOUR
        elif known > 2 / 3:
            quiet = visit.at - (hub.last_novel_at or hub.first_at or visit.at) > 31 * DAY
            interval += HOUR if quiet else 10 * MINUTE
        return min(max(interval, 10 * MINUTE), DAY)

    return IntervalPolicy("mediacloud", 6 * HOUR, rule)


class MinifluxPolicy(IntervalPolicy):
    """miniflux' entry_frequency scheduler, factor 1: a week over the number of entries in a week.

    It reads publication times; where a hub prints none the time of the sighting stands in.
    """

    def __init__(self) -> None:
        super().__init__("miniflux", DAY, self._next)
        self._recent: dict[str, deque[tuple[float, int]]] = defaultdict(deque)

    def _next(self, hub: HubState, visit: Visit) -> float:
        recent = self._recent[hub.key]
        if changed(visit):
            recent.append((visit.at, visit.novel + sum(visit.shared.values())))
        while recent and recent[0][0] < visit.at - WEEK:
            recent.popleft()
        entries = sum(links for _, links in recent)
        if entries < 2 or recent[0][0] == recent[-1][0]:  # noqa: PLR2004 - a span needs two
            return DAY
        mean = (recent[-1][0] - recent[0][0]) / (entries - 1)
        return min(max(WEEK / math.ceil(WEEK / mean), 5 * MINUTE), DAY)


def by_true_rate(name: str, rates: Mapping[str, float], power: float) -> IntervalPolicy:
    """Return intervals ``1 / rate ** power`` for rates (per hour) that nobody can know beforehand.

    Power 1 is the proportional rule, 0.5 the square-root law.
    """
    return IntervalPolicy(
        name, HOUR, lambda hub, _visit: HOUR / max(rates.get(hub.key, 0.0), 1e-9) ** power
    )
