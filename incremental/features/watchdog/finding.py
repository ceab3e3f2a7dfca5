"""What is wrong with a site, from what is stored about it. Pure.

::

    unreachable   nothing was read for six hours: three visits failed, or robots.txt closes the site
    links_gone    a list shows hardly a link, and lost many at once
    standstill    the site has new pages, and a hub that used to show them shows none of them
    silent        nothing new for far longer than ever before, though much was expected
    burst         more new pages in a day than in any eight before together
    textless      new pages have no text, or all the same; earlier ones had their own
    garbled       titles of new pages have characters that could not be decoded; earlier ones had none

Each is told by counts that a healthy site hardly ever has, so that it can be believed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any, Final

from incremental.base.times import DAY, HOUR
from incremental.fetch.status import HAS_PAGE, FetchStatus
from store.problems import FoundPage, ProblemKey, WatchedHub

# A page that shows no more is no list, whatever is left of it.
FEW_LINKS: Final = 3
_LOST_LINKS: Final = 8
# Failed visits, and the time since the last that did not fail.
_FAILURES: Final = 3
_UNREAD_SECONDS: Final = 6 * HOUR
# Pages by which a habit is known, and those in which a change of it shows; an empty page may be a picture.
_KNOWN: Final = 10
_LATEST: Final = 3
_LATEST_EMPTY: Final = 6
# A hub that showed this share of the site's new pages ought to show the next.
_SHOWN: Final = 0.8
_CHANCE: Final = 1e-3
_UNSEEN: Final = 2
# New pages expected during a silence: a Poisson process has such a gap once in 150.
_EXPECTED: Final = 5.0
_LONGER: Final = 1.2
_GAPS: Final = 10
_BURST: Final = 50
_BURST_DAYS: Final = 8
_UNDECODED: Final = "\ufffd"


class Fault(StrEnum):
    """What is wrong; its sentence is the text of this name."""

    UNREACHABLE = "unreachable"
    LINKS_GONE = "links_gone"
    STANDSTILL = "standstill"
    SILENT = "silent"
    BURST = "burst"
    TEXTLESS = "textless"
    GARBLED = "garbled"


LOOK_AGAIN = frozenset({Fault.STANDSTILL, Fault.SILENT, Fault.LINKS_GONE})
"""Those for which all hubs of the site are visited at once: another may show what one does not."""


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """What is known of a site."""

    pages: Sequence[FoundPage]
    """Its latest new pages, oldest first."""
    hubs: Sequence[WatchedHub]
    added_at: float


Evidence = Mapping[str, Any]
Problems = dict[ProblemKey, Evidence]


def problems_of(facts: SiteFacts, now: float) -> Problems:
    """Return what is wrong with a site, with what the sentence about it says."""
    vanished = dict(_vanished(facts.hubs))
    status = None if vanished else _unreachable(facts.hubs, now)
    if status is not None:
        # Nothing else can be told of a site that cannot be read.
        return {ProblemKey(Fault.UNREACHABLE): {"status": status}}
    hubs = vanished | dict(_standing(facts))
    # A hub that shows nothing explains why nothing came.
    silence = {} if hubs else dict(_silent(facts.pages, now))
    return {**hubs, **silence, **dict(_burst(facts, now)), **dict(_changed(facts.pages))}


def _unreachable(hubs: Sequence[WatchedHub], now: float) -> str | None:
    """Return the status of most failing hubs if nothing was read for hours; None = something was."""
    failing = [hub for hub in hubs if hub.last_status not in HAS_PAGE]
    read_at = max((hub.visited_at for hub in hubs), default=now)
    closed = any(hub.last_status == FetchStatus.ROBOTS_DENIED for hub in failing)
    tried = sum(hub.failures for hub in failing)
    if now - read_at < _UNREAD_SECONDS or not (closed or tried >= _FAILURES):
        return None
    return Counter(hub.last_status for hub in failing).most_common(1)[0][0]


def _vanished(hubs: Sequence[WatchedHub]) -> Iterator[tuple[ProblemKey, Evidence]]:
    for hub in hubs:
        if hub.shown_links <= FEW_LINKS and hub.lost >= _LOST_LINKS:
            # A form of login, consent or sale says in its title what it is.
            said = {"lost": hub.lost, "left": hub.shown_links, "title": hub.title}
            yield ProblemKey(Fault.LINKS_GONE, hub.id), said


def _standing(facts: SiteFacts) -> Iterator[tuple[ProblemKey, Evidence]]:
    """Tell hubs that show none of the latest new pages though they showed nearly all before."""
    for hub in facts.hubs:
        # What came since its last visit it cannot have shown.
        seen = [page.id in hub.shows for page in facts.pages if page.found_at <= hub.visited_at]
        runs = _misses(seen)
        missed, before = runs[-1], seen[: len(seen) - runs[-1]][-4 * _KNOWN :]
        if missed < _UNSEEN or len(before) < _KNOWN or hub.shown_links <= FEW_LINKS:
            continue
        share = sum(before) / (len(before) + 1)
        unusual = (1 - share) ** missed <= _CHANCE and missed > 2 * max(runs[:-1], default=0)
        if share >= _SHOWN and unusual:
            said = {"missed": missed, "share": round(100 * sum(before) / len(before))}
            yield ProblemKey(Fault.STANDSTILL, hub.id), said | {"kind": str(hub.kind)}


def _misses(seen: Sequence[bool]) -> list[int]:
    """Return the lengths of the runs of pages that were not shown; the last is the present one."""
    runs = [0]
    for shown in seen:
        if shown:
            runs.append(0)
        else:
            runs[-1] += 1
    return runs


def _silent(pages: Sequence[FoundPage], now: float) -> Iterator[tuple[ProblemKey, Evidence]]:
    times = [page.found_at for page in pages]
    gaps = [later - earlier for earlier, later in pairwise(times) if later - earlier > HOUR]
    if len(gaps) < _GAPS:
        return
    gap = now - times[-1]
    expected = (len(times) - 1) / (times[-1] - times[0]) * gap
    if gap > DAY and gap > _LONGER * max(gaps) and expected > _EXPECTED:
        said = {"days": round(gap / DAY, 1), "longest": round(max(gaps) / DAY, 1)}
        yield ProblemKey(Fault.SILENT), said


def _burst(facts: SiteFacts, now: float) -> Iterator[tuple[ProblemKey, Evidence]]:
    if now - facts.added_at < (_BURST_DAYS + 1) * DAY:
        return
    today = sum(page.found_at > now - DAY for page in facts.pages)
    earliest = facts.pages[0].found_at if facts.pages else now
    earlier = sum(now - (_BURST_DAYS + 1) * DAY < p.found_at <= now - DAY for p in facts.pages)
    if today >= _BURST and today > earlier and (earliest <= now - DAY or today == len(facts.pages)):
        yield ProblemKey(Fault.BURST), {"n": today, "days": _BURST_DAYS, "before": earlier}


def _changed(pages: Sequence[FoundPage]) -> Iterator[tuple[ProblemKey, Evidence]]:
    """Tell what is wrong with the latest pages that was right with all earlier ones."""
    read = [page for page in pages if page.has_text is not None]
    alike = [not page.unlike for page in read]
    empty = [not page.has_text or not page.unlike for page in read]
    for fault, wrong, least in (
        (Fault.TEXTLESS, alike, _LATEST),
        (Fault.TEXTLESS, empty, _LATEST_EMPTY),
        (Fault.GARBLED, [_UNDECODED in page.title for page in read], _LATEST),
    ):
        latest = _trues_at_end(wrong)
        before = wrong[: len(wrong) - latest][-_KNOWN:]
        if latest >= least and len(before) == _KNOWN and not any(before):
            yield ProblemKey(fault), {"n": latest}


def _trues_at_end(values: Sequence[bool]) -> int:
    return next((n for n, one in enumerate(reversed(values)) if not one), len(values))
