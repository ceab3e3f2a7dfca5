"""Problems of a site, found in its stored facts. Pure.

::

    unreachable   nothing was read for six hours: three visits failed, or robots.txt closes the seed
    moved         nothing was read for six hours: visits are redirected to another host
    links_gone    a list shows hardly a link, and lost many at once
    standstill    the site has new pages, and a hub that used to show them shows none of them
    silent        nothing new for far longer than ever before, though much was expected
    expiring      the certificate ends within two days
    burst         more new pages in a day than in the eight days before together
    textless      new pages have no text, or all the same; earlier ones had their own
    garbled       titles of new pages were decoded wrongly, or could not be; earlier ones were not

Thresholds are chosen so that a healthy site almost never has a problem.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import pairwise
from typing import Any, Final

from incremental.base.times import DAY, HOUR
from incremental.fetch.status import HARMLESS, FetchStatus
from store.problems import FoundPage, ProblemKey, WatchedHub

# A page with no more links is not a list any more.
FEW_LINKS: Final = 3
UNREAD_SECONDS: Final = 6 * HOUR
_LOST_LINKS: Final = 8
_FAILURES: Final = 3
# Pages that establish a habit, and pages that show a change; an empty page may be a gallery.
_KNOWN: Final = 10
_LATEST: Final = 3
_LATEST_EMPTY: Final = 6
# A hub that showed this share of the site's new pages ought to show the next.
_SHOWN: Final = 0.8
_CHANCE: Final = 1e-3
_UNSEEN: Final = 3
# New pages expected during a silence: a Poisson process has such a gap once in 150.
_EXPECTED: Final = 5.0
_LONGER: Final = 1.2
_GAPS: Final = 10
_RENEWED: Final = 2 * DAY
_BURST: Final = 50
BURST_DAYS: Final = 8
# What could not be decoded, and two bytes of UTF-8 read as two letters of Western Europe.
_WRONG: Final = re.compile(
    "\ufffd|[\u00c2-\u00f4][\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u2013-\u203a\u20ac\u2122]"
)


class Fault(StrEnum):
    """Kinds of problems; the text of the same name is the sentence."""

    UNREACHABLE = "unreachable"
    MOVED = "moved"
    LINKS_GONE = "links_gone"
    STANDSTILL = "standstill"
    SILENT = "silent"
    EXPIRING = "expiring"
    BURST = "burst"
    TEXTLESS = "textless"
    GARBLED = "garbled"


LOOK_AGAIN = frozenset({Fault.STANDSTILL, Fault.SILENT, Fault.LINKS_GONE})
"""Kinds after which the site's best hubs are visited at once, as another may still list new pages."""


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """The facts of a site. Times are unix seconds, UTC."""

    pages: Sequence[FoundPage]
    """Its latest new pages, oldest first."""
    hubs: Sequence[WatchedHub]
    visits: Sequence[tuple[int, str, str]]
    """Of hubs since :func:`last_read`, latest first: page id, status and detail; asked only after
    :data:`UNREAD_SECONDS`."""
    today: int
    """New pages of the last day."""
    before: int
    """New pages of the :data:`BURST_DAYS` days before that day."""
    host: str = ""
    """Of the seed."""
    certificate_until: float | None = None
    """When the certificate ends that the host showed last; None = unknown."""
    days: float = BURST_DAYS
    """Of those before the last one, how many it was watched."""


def last_read(hubs: Sequence[WatchedHub]) -> float:
    """Return when one of *hubs* was last read; 0 = never."""
    return max((hub.visited_at for hub in hubs), default=0.0)


Evidence = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Findings:
    """The problems of a site, and the kinds that could not be judged."""

    problems: Mapping[ProblemKey, Evidence]
    open: frozenset[str] = frozenset()
    """Kinds that could not be judged: open problems of them stay open."""


def findings(facts: SiteFacts, now: float) -> Findings:
    """Find the problems of a site, with the values of their sentences."""
    unread = dict(_unread(facts, now))
    if unread:
        # Nothing else can be judged of a site that cannot be read.
        return Findings(unread, frozenset(Fault) - {Fault.UNREACHABLE, Fault.MOVED})
    hubs = dict((*_vanished(facts.hubs), *_standing(facts)))
    found = {**hubs, **dict(_burst(facts)), **dict(_changed(facts.pages))}
    found |= dict(_expiring(facts, now))
    if hubs:
        # A hub that shows nothing explains why nothing came.
        return Findings(found, frozenset({Fault.SILENT}))
    return Findings({**found, **dict(_silent(facts, now))})


def _unread(facts: SiteFacts, now: float) -> Iterator[tuple[ProblemKey, Evidence]]:
    """Yield why nothing was read for hours; the status is that of most failed visits."""
    if not facts.hubs or now - last_read(facts.hubs) < UNREAD_SECONDS:
        return
    # Pages that end or move are no fault of the site, nor are sections closed to robots.
    failed = Counter(how for _, how, _ in facts.visits if how not in HARMLESS)
    status = next((name for name, _ in failed.most_common(1)), "")
    seeds = {hub.id: hub.last_status for hub in facts.hubs if hub.is_seed}
    led = [(hub, to) for hub, how, to in facts.visits if how == FetchStatus.REDIRECTED and to]
    # Where the seed leads is the new address, if anything is.
    led.sort(key=lambda one: one[0] not in seeds)
    if FetchStatus.ROBOTS_DENIED in seeds.values():
        yield ProblemKey(Fault.UNREACHABLE), {"status": FetchStatus.ROBOTS_DENIED}
    elif len(led) >= max(_FAILURES, failed[status]):
        yield ProblemKey(Fault.MOVED), {"to": led[0][1]}
    elif failed.total() >= _FAILURES:
        yield ProblemKey(Fault.UNREACHABLE), {"status": status}


def _vanished(hubs: Sequence[WatchedHub]) -> Iterator[tuple[ProblemKey, Evidence]]:
    for hub in hubs:
        if hub.shown_links <= FEW_LINKS and hub.lost >= _LOST_LINKS:
            # A form of login, consent or sale says in its title what it is.
            said = {"lost": hub.lost, "left": hub.shown_links, "title": hub.title}
            yield ProblemKey(Fault.LINKS_GONE, hub.id), said


def _standing(facts: SiteFacts) -> Iterator[tuple[ProblemKey, Evidence]]:
    """Yield hubs that show none of the latest new pages although they showed nearly all before."""
    for hub in facts.hubs:
        # It cannot show pages found since its last visit.
        known = [page for page in facts.pages if page.found_at <= hub.visited_at]
        seen, times = [page.id in hub.shows for page in known], [page.found_at for page in known]
        runs = _misses(seen)
        missed, before = runs[-1], seen[: len(seen) - runs[-1]][-4 * _KNOWN :]
        if missed < _UNSEEN or len(before) < _KNOWN or hub.shown_links <= FEW_LINKS:
            continue
        # Odd pages found together may be a single event.
        if times[-1] - times[-missed] < HOUR:
            continue
        share = sum(before) / (len(before) + 1)
        unusual = (1 - share) ** missed <= _CHANCE and missed > 2 * max(runs[:-1], default=0)
        if share >= _SHOWN and unusual:
            said = {"missed": missed, "share": round(100 * sum(before) / len(before))}
            yield ProblemKey(Fault.STANDSTILL, hub.id), said


def _misses(seen: Sequence[bool]) -> list[int]:
    """Return the lengths of the runs of pages that were not shown; the last is the present one."""
    runs = [0]
    for shown in seen:
        if shown:
            runs.append(0)
        else:
            runs[-1] += 1
    return runs


def _silent(facts: SiteFacts, now: float) -> Iterator[tuple[ProblemKey, Evidence]]:
    times = [page.found_at for page in facts.pages]
    gaps = [later - earlier for earlier, later in pairwise(times) if later - earlier > HOUR]
    if len(gaps) < _GAPS:
        return
    # Time without a successful visit does not count as silence.
    gap = min(now, last_read(facts.hubs)) - times[-1]
    expected = (len(times) - 1) / (times[-1] - times[0]) * gap
    if gap > DAY and gap > _LONGER * max(gaps) and expected > _EXPECTED:
        said = {"days": round(gap / DAY, 1), "longest": round(max(gaps) / DAY, 1)}
        yield ProblemKey(Fault.SILENT), said


def _burst(facts: SiteFacts) -> Iterator[tuple[ProblemKey, Evidence]]:
    # Without earlier pages the site may only be catching up after a pause; a young site has few of them.
    usual = facts.before * BURST_DAYS / facts.days if facts.days > 0 else 0.0
    if facts.today >= _BURST and facts.today > usual > 0:
        said = {"n": facts.today, "days": BURST_DAYS, "before": facts.before}
        yield ProblemKey(Fault.BURST), said


def _expiring(facts: SiteFacts, now: float) -> Iterator[tuple[ProblemKey, Evidence]]:
    """Yield a certificate that nobody renewed in time; one of six days is renewed two days before its end."""
    until = facts.certificate_until
    if until is not None and now < until < now + _RENEWED and now - last_read(facts.hubs) < DAY:
        at = datetime.fromtimestamp(until, UTC).strftime("%Y-%m-%d %H:%M UTC")
        yield ProblemKey(Fault.EXPIRING), {"host": facts.host, "at": at}


def _changed(pages: Sequence[FoundPage]) -> Iterator[tuple[ProblemKey, Evidence]]:
    """Yield faults of the latest pages that no earlier page had."""
    read = [page for page in pages if page.text_bytes is not None]
    looks = [(page.title, page.text_bytes) for page in read]
    alike = [looks.count(one) > 1 for one in looks]
    empty = [page.text_bytes == 0 or same for page, same in zip(read, alike, strict=True)]
    for fault, wrong, least in (
        (Fault.TEXTLESS, alike, _LATEST),
        (Fault.TEXTLESS, empty, _LATEST_EMPTY),
        (Fault.GARBLED, [_WRONG.search(page.title) is not None for page in read], _LATEST),
    ):
        latest = _trues_at_end(wrong)
        before = wrong[: len(wrong) - latest][-_KNOWN:]
        if latest >= least and len(before) == _KNOWN and not any(before):
            yield ProblemKey(fault), {"n": latest}


def _trues_at_end(values: Sequence[bool]) -> int:
    return next((n for n, one in enumerate(reversed(values)) if not one), len(values))
