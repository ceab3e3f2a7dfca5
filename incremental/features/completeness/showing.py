"""Completeness of sites as people and programs read it; and why a page was missed, or found late.

::

    never announced                                                withheld
    seen in time, announced late, and no topic took it             off_topic
    seen in time, announced late                                   held_back
    a list was all new at a visit meanwhile, so some of it passed  scrolled_off
    the list that first showed it was first read after its date    unwatched
    that list was read meanwhile, and did not show it yet          shown_later
    robots.txt denied it at every visit meanwhile                  robots
    the site refused every visit meanwhile                         blocked
    it was visited meanwhile, and could not be read                unreadable
    it was not visited meanwhile                                   not_visited

The first that holds is the cause. All but ``shown_later`` are misses: there it was the site that was late.
"""

import statistics
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from incremental.base.readable_urls import readable
from incremental.base.texts import Text, named
from incremental.base.times import DAY, MINUTE
from incremental.features.completeness.estimating import (
    FEWEST_PAGES,
    Audits,
    Estimate,
    estimate,
    loss_of,
)
from incremental.fetch.status import HAS_PAGE, FetchStatus
from store import Store
from store.completeness import KeptEstimate, NewPage, Shower, WithheldPage
from store.rules import Rule
from store.topics.values import TopicRow
from store.values import SiteRow

DAYS = 30.0
# Pages found before a hub was lost tell what it alone showed.
_EARLIER_DAYS = 90.0
# A hub that failed for less may come back with everything that it showed meanwhile.
_LOST_AFTER = 2 * DAY
_FORGOTTEN_AFTER = 365 * DAY
_FAILS = 2
_LATE = DAY
# A list that is replaced within so long after a page's date may have shown the page.
_ON_LISTS = 7 * DAY
_MOST_NAMED = 3
_LEAST = 0.001


class Late(StrEnum):
    """Why a page was missed, or found late."""

    WITHHELD = "withheld"
    OFF_TOPIC = "off_topic"
    HELD_BACK = "held_back"
    SCROLLED_OFF = "scrolled_off"
    UNWATCHED = "unwatched"
    SHOWN_LATER = "shown_later"
    ROBOTS = "robots"
    BLOCKED = "blocked"
    UNREADABLE = "unreadable"
    NOT_VISITED = "not_visited"

    @property
    def is_miss(self) -> bool:
        """Whether the page was there to be found in time."""
        return self is not Late.SHOWN_LATER


_FAILED = {
    frozenset({FetchStatus.ROBOTS_DENIED}): Late.ROBOTS,
    frozenset({FetchStatus.BLOCKED}): Late.BLOCKED,
}


@dataclass(frozen=True, slots=True)
class History:
    """What led to a page. Times are unix seconds."""

    published_at: float
    seen_at: float
    """When a list first showed it."""
    found_at: float
    baseline_at: float | None
    """When that list was first read; None = never."""
    visits: Collection[str]
    """How the visits of that list ended, from the page's date until it was seen."""
    overflowed: bool = False
    """A list of the site was all new at a visit in that time."""
    refused: bool = False
    """Topics judged it, and none took it."""


def cause_of(page: History) -> Late:
    """Return why a page was found late."""
    if page.found_at - page.seen_at > page.seen_at - page.published_at:
        return Late.OFF_TOPIC if page.refused else Late.HELD_BACK
    if page.overflowed:
        return Late.SCROLLED_OFF
    if page.baseline_at is None or page.baseline_at > page.published_at:
        return Late.UNWATCHED
    if HAS_PAGE & set(page.visits):
        return Late.SHOWN_LATER
    failed = Late.UNREADABLE if page.visits else Late.NOT_VISITED
    return _FAILED.get(frozenset(map(FetchStatus, page.visits)), failed)


@dataclass(frozen=True, slots=True)
class LatePage:
    """A page found more than a day after its date, or never announced."""

    url: str
    delay_minutes: float | None
    """null = it was not announced."""
    cause: Late
    says: str
    """The cause in words, with what helps."""


@dataclass(frozen=True, slots=True)
class Completeness:
    """How complete the new pages of a site are that were found in the last 30 days."""

    site: str
    pages: int
    share: float | None
    """Estimated share found, 0 to 1; null = nothing can be compared, see *says*."""
    low: float | None
    high: float | None
    """The 90 % interval of *share*."""
    delay_minutes: float | None
    """Median from publication, as pages and feeds date it, until found."""
    missed: int
    """How many of *late* were there to be found in time: they count as missed in *share*."""
    late: list[LatePage]
    """Pages found more than a day after their date, latest first, and those that were not announced."""
    lost: list[str]
    """Hubs that can no longer be read and showed pages."""
    says: str
    """All this in words."""


def completeness_of(store: Store, now: float) -> list[Completeness]:
    """Return the completeness of each site, in the order the sites were added."""
    return [of_site(store, row.id, row.name, now) for row in store.read.sites()]


@dataclass(frozen=True, slots=True)
class TopicCompleteness:
    """How complete the new pages on a topic are, over all sites."""

    topic: str
    pages: int
    share: float | None
    """Estimated share found, of the sites that can be judged; null = none can."""
    low: float | None
    high: float | None
    says: str


def of_topic(store: Store, topic: TopicRow, now: float) -> TopicCompleteness:
    """Return the completeness of a topic: each site's share, weighted by its pages on the topic."""
    counts = store.completeness.on_topic(topic.id, now - DAYS * DAY)
    names = {row.id: row.name for row in store.read.sites_by_id(list(counts))}
    sites = [(counts[site], of_site(store, site, name, now)) for site, name in names.items()]
    judged = [
        (n, (one.share, one.low, one.high))
        for n, one in sites
        if one.share is not None and one.low is not None and one.high is not None
    ]
    found, pages = sum(n for n, _ in judged), sum(counts.values())
    if not found:
        says = Text("completeness.topic_unknown", n=pages, topic=topic.name)
        return TopicCompleteness(topic.name, pages, None, None, None, says)
    share, low, high = (
        round(found / sum(n / max(shares[at], _LEAST) for n, shares in judged), 3)
        for at in range(3)
    )
    values = {"share": round(100 * share), "low": round(100 * low), "high": round(100 * high)}
    says = Text("completeness.topic", n=pages, topic=topic.name, sites=len(judged), **values)
    return TopicCompleteness(topic.name, pages, share, low, high, says)


def site_words(store: Store) -> dict[int, Text]:
    """Return how complete each site was when it was last estimated, the least complete first."""
    return {row.site: _found(row.pages, row) for row in store.completeness.kept()}


def _found(pages: int, by: Estimate | KeptEstimate) -> Text:
    share, low, high = (round(100 * one) for one in (by.share, by.low, by.high))
    return Text("completeness.found", pages=pages, share=share, low=low, high=high)


def site_line(store: Store, site: SiteRow, now: float) -> str:
    """Return how complete the new pages of a site are, in words."""
    return of_site(store, site.id, site.name, now).says


def of_site(
    store: Store, site_id: int, name: str, now: float, *, days: float = DAYS
) -> Completeness:
    """Return the completeness of a site in so many days until now."""
    since = now - days * DAY
    showers = store.completeness.showers(site_id)
    lost = {
        hub.id: hub.read_at
        for hub in showers.values()
        if hub.view != "article" and _is_lost(hub, now)
    }
    began = min((since, *lost.values()))
    known = store.completeness.new_pages(site_id, began - _EARLIER_DAYS * DAY)
    pages = [page for page in known if page.found_at >= since]
    showed = {hub for page in known for hub in page.shown_by}
    lost = {hub: read_at for hub, read_at in lost.items() if hub in showed}
    # What was published before anybody watched was not there to be found.
    added_at = max((row.added_at for row in store.read.sites_by_id([site_id])), default=0.0)
    dated = [(page, page.published_at) for page in pages if page.published_at is not None]
    slow = [
        (page, at) for page, at in dated if at > added_at and _is_late(at, page.found_at, page.rule)
    ]
    late = _all_late(store, site_id, slow, showers)
    withheld = [
        _withheld(page, showers)
        for page in store.completeness.withheld(site_id, since, now - _LATE)
    ]
    missed = sum(page.cause.is_miss for page in late)
    found = None
    if len(pages) >= FEWEST_PAGES:
        in_time = _in_time(pages, missed, len(withheld))
        found = _estimated(pages, known, showers, lost, since, now, in_time)
    delays = [page.found_at - page.published_at for page in pages if page.published_at is not None]
    delays = [delay for delay in delays if delay >= 0]
    delay = statistics.median(delays) / MINUTE if len(delays) >= FEWEST_PAGES else None
    names = [readable(showers[hub].url) for hub in sorted(lost, key=lost.__getitem__)]
    late += withheld
    return Completeness(
        name,
        len(pages),
        None if found is None else round(found.share, 3),
        None if found is None else round(found.low, 3),
        None if found is None else round(found.high, 3),
        None if delay is None else round(delay, 1),
        missed + len(withheld),
        late,
        names,
        _sentence(found, pages, (delay, len(delays)), late, names),
    )


def _in_time(pages: list[NewPage], missed: int, withheld: int) -> float:
    """Return how many pages were found in time for each that hubs found or a rule withheld."""
    audited = [page for page in pages if page.is_only_audited]
    # Audits come a day later: what they bring is in time only if its date says so.
    doubtful = sum(
        page.published_at is None
        or (
            page.found_at - page.published_at > _LATE
            and not _is_late(page.published_at, page.found_at, page.rule)
        )
        for page in audited
    )
    return (len(pages) - missed - doubtful) / max(len(pages) - len(audited) + withheld, 1)


def _is_late(dated: float, found_at: float, rule: str) -> bool:
    """Whether a page was found a day after its date; midnight may stand for any hour of that day."""
    allowed = 2 * _LATE if dated % DAY == 0 else _LATE
    # A page that was linked before it existed was not there to be found.
    return found_at - dated > allowed and rule != Rule.CONFIRMED


def _all_late(
    store: Store, site_id: int, slow: list[tuple[NewPage, float]], showers: dict[int, Shower]
) -> list[LatePage]:
    """Return why pages were late, each given with its date."""
    if not slow:
        return []
    overflows = store.completeness.overflows(site_id, min(at for _, at in slow))
    refused = store.completeness.refused([page.id for page, _ in slow])
    late = []
    for page, dated in slow:
        seen_at, hub = page.first_seen_at, showers.get(page.first_hub or 0)
        before = bisect_left(overflows, (min(seen_at, dated + _ON_LISTS), 0))
        passed = overflows[before - 1][1] if before and overflows[before - 1][0] >= dated else None
        cause = cause_of(
            History(
                *(dated, seen_at, page.found_at),
                baseline_at=None if hub is None else hub.baseline_at,
                visits=[] if hub is None else store.completeness.visits(hub.id, dated, seen_at),
                overflowed=passed is not None,
                refused=page.id in refused,
            )
        )
        hub = showers.get(passed or 0, hub) if cause is Late.SCROLLED_OFF else hub
        says = Text(f"completeness.why_{cause}", hub=_shown(hub))
        late.append(LatePage(page.url, round((page.found_at - dated) / MINUTE, 1), cause, says))
    return late


def _withheld(page: WithheldPage, showers: dict[int, Shower]) -> LatePage:
    if page.rule == Rule.BASELINE:
        says = Text("completeness.why_never", hub=_shown(showers.get(page.first_hub or 0)))
        return LatePage(page.url, None, Late.UNWATCHED, says)
    says = Text("completeness.why_withheld", rule=named("rule", page.rule))
    return LatePage(page.url, None, Late.WITHHELD, says)


def _shown(hub: Shower | None) -> str:
    return Text("completeness.no_hub") if hub is None else readable(hub.url)


def _is_lost(hub: Shower, now: float) -> bool:
    """Whether a hub is not there, or failed twice in a row, and was last read two days to a year ago."""
    fails = hub.status == FetchStatus.GONE or hub.failures >= _FAILS
    return fails and hub.read_at > 0 and _LOST_AFTER < now - hub.read_at < _FORGOTTEN_AFTER


def _estimated(  # noqa: PLR0913, PLR0917 - what an estimate rests on
    pages: list[NewPage],
    known: list[NewPage],
    showers: dict[int, Shower],
    lost: dict[int, float],
    since: float,
    now: float,
    in_time: float,
) -> Estimate | None:
    # A page that an audit brought says what hubs miss, and is none that they found.
    by_hubs = [page for page in pages if not page.is_only_audited]
    shown = [[showers[hub] for hub in page.shown_by if hub in showers] for page in by_hubs]
    kinds = [{hub.view for hub in hubs} for hubs in shown if hubs]
    single = [{hub.url for hub in hubs} for hubs in shown if hubs]
    first_at = min((showers[hub].baseline_at or now for hub in lost), default=now)
    found = [(page.found_at, page.shown_by, page.audited_at is not None) for page in known]
    drawn = sum(page.audited_at is not None for page in pages)
    return estimate(
        kinds,
        single,
        loss=loss_of(found, lost, first_at, since=since, now=now),
        audits=Audits(drawn, len(pages) - len(by_hubs)),
        in_time=in_time,
    )


def _sentence(
    found: Estimate | None,
    pages: list[NewPage],
    median: tuple[float | None, int],
    late: list[LatePage],
    lost: list[str],
) -> Text:
    parts = []
    delay, dated = median
    if found is not None:
        parts.append(_found(len(pages), found))
    elif not pages:
        parts.append(Text("completeness.few_none"))
    elif len(pages) < FEWEST_PAGES:
        parts.append(Text("completeness.few", n=len(pages)))
    else:
        parts.append(Text("completeness.one_view", pages=len(pages)))
    if delay is not None:
        parts.append(Text("completeness.half", n=dated, delay=_span(delay)))
    if late:
        causes = Counter(page.cause for page in late).most_common()
        counted = tuple(Text(f"completeness.late_{cause}", n=n) for cause, n in causes)
        parts.append(Text("completeness.late", n=len(late), causes=counted))
    if lost:
        shown = "; ".join(lost[:_MOST_NAMED])
        parts.append(Text("completeness.lost", n=len(lost), hubs=shown))
    return Text("completeness.all", parts=tuple(parts))


def _span(minutes: float) -> Text:
    hours = minutes / 60
    if hours < 2:  # noqa: PLR2004 - below, minutes say more
        return Text("completeness.minutes", n=round(minutes))
    if hours < 48:  # noqa: PLR2004 - likewise
        return Text("completeness.hours", n=round(hours))
    return Text("completeness.days", n=round(hours / 24))
