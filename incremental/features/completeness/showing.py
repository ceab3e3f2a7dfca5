"""Completeness of sites as people and programs read it."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass

from incremental.base.readable_urls import readable
from incremental.base.texts import Text
from incremental.base.times import DAY, MINUTE
from incremental.features.completeness.estimating import FEWEST_PAGES, Estimate, estimate, loss_of
from incremental.features.completeness.late import Late, cause_of
from incremental.fetch.status import FetchStatus
from store import Store
from store.completeness import NewPage, Shower
from store.values import SiteRow

DAYS = 30.0
# Pages found before a hub was lost tell what it alone showed.
_EARLIER_DAYS = 90.0
# A hub that failed for less may come back with everything that it showed meanwhile.
_LOST_AFTER = 2 * DAY
_FAILS = 2
_LATE = DAY
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class LatePage:
    """A page found more than a day after its date."""

    url: str
    delay_minutes: float
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
    late: list[LatePage]
    """Pages found more than a day after their date, latest first."""
    lost: list[str]
    """Hubs that can no longer be read and showed pages."""
    says: str
    """All this in words."""


def completeness_of(store: Store, now: float) -> list[Completeness]:
    """Return the completeness of each site, in the order the sites were added."""
    return [of_site(store, row.id, row.name, now) for row in store.read.sites()]


def site_line(store: Store, site: SiteRow, now: float) -> str:
    """Return how complete the new pages of a site are, in words."""
    return of_site(store, site.id, site.name, now).says


def of_site(store: Store, site_id: int, name: str, now: float) -> Completeness:
    """Return the completeness of a site."""
    since = now - DAYS * DAY
    known = store.completeness.new_pages(site_id, since - _EARLIER_DAYS * DAY)
    showers = store.completeness.showers(site_id)
    pages = [page for page in known if page.found_at >= since]
    showed = {hub for page in known for hub in page.shown_by}
    lost = {
        hub.id: hub.read_at
        for hub in showers.values()
        if hub.id in showed and hub.view != "article" and _is_lost(hub, now)
    }
    found = (
        None if len(pages) < FEWEST_PAGES else _estimated(pages, known, showers, lost, since, now)
    )
    delays = [page.found_at - page.published_at for page in pages if page.published_at is not None]
    delays = [delay for delay in delays if delay >= 0]
    late = [
        _late(store, page, page.published_at, showers)
        for page in pages
        if page.published_at is not None and page.found_at - page.published_at > _LATE
    ]
    delay = statistics.median(delays) / MINUTE if len(delays) >= FEWEST_PAGES else None
    names = [readable(showers[hub].url) for hub in sorted(lost, key=lost.__getitem__)]
    return Completeness(
        name,
        len(pages),
        None if found is None else round(found.share, 3),
        None if found is None else round(found.low, 3),
        None if found is None else round(found.high, 3),
        None if delay is None else round(delay, 1),
        late,
        names,
        _sentence(found, pages, (delay, len(delays)), late, names),
    )


def _late(store: Store, page: NewPage, dated: float, showers: dict[int, Shower]) -> LatePage:
    hub = showers.get(page.first_hub or 0)
    visits = [] if hub is None else store.completeness.visits(hub.id, dated, page.first_seen_at)
    first = None if hub is None else hub.baseline_at
    cause = cause_of(dated, page.first_seen_at, page.found_at, first, visits)
    shown = Text("completeness.no_hub") if hub is None else readable(hub.url)
    says = Text(f"completeness.why_{cause}", hub=shown)
    return LatePage(page.url, round((page.found_at - dated) / MINUTE, 1), cause, says)


def _is_lost(hub: Shower, now: float) -> bool:
    """Whether a hub is not there, or failed twice in a row, and was last read two days ago."""
    fails = hub.status == FetchStatus.GONE or hub.failures >= _FAILS
    return fails and hub.read_at > 0 and now - hub.read_at > _LOST_AFTER


def _estimated(  # noqa: PLR0913, PLR0917 - what an estimate rests on
    pages: list[NewPage],
    known: list[NewPage],
    showers: dict[int, Shower],
    lost: dict[int, float],
    since: float,
    now: float,
) -> Estimate | None:
    shown = [[showers[hub] for hub in page.shown_by if hub in showers] for page in pages]
    kinds = [{hub.view for hub in hubs} for hubs in shown if hubs]
    single = [{hub.url for hub in hubs} for hubs in shown if hubs]
    loss = loss_of([(page.found_at, page.shown_by) for page in known], lost, since=since, now=now)
    return estimate(kinds, single, loss=loss)


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
        low, high = (round(100 * end) for end in (found.low, found.high))
        shares = {"share": round(100 * found.share), "low": low, "high": high}
        parts.append(Text("completeness.found", pages=len(pages), **shares))
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
