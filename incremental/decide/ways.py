"""How a hub is read from now on, and when other ways are tried again. Pure.

::

    links from another source than before, most of them unknown    a new baseline: they are no news
    nothing new since the last search                              searched again after the days below
    three visits without a link                                    searched again at the next visit
    drawn by a browser, three times without a link                 read as it is, for a week
    three failures in a row                                        searched again at the next visit
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from incremental.base.times import DAY
from incremental.parse.hub_way import Way, WayKind, WayProblem
from store.values import SeenLink

BLANK_VISITS = 3
FAILURES = 3
# A plain page or JSON that appeared since is cheaper; a script may have changed what it asks for.
AGAIN_DAYS = {
    WayKind.PLAIN: 7.0,
    WayKind.EMBEDDED: 30.0,
    WayKind.JSON: 30.0,
    WayKind.RENDERED: 14.0,
    WayKind.BROWSER_MISSING: 7.0,
}
# Seconds of a browser that count as one request: a fetch takes a fifth of a second, and needs no processor.
SECONDS_A_REQUEST = 5.0


def next_way(way: Way, before: Way | None, *, links: int, came: int, now: float) -> Way:
    """Return the way after a visit that showed *links*, of which *came* were new; *before* is the last.

    A visit may itself ask to search again: one that had no time for it.
    """
    searched = before is None or before.again or before.kind != way.kind
    way = replace(way, blank=0 if links else way.blank + 1)
    if not way.sign:
        return Way()
    if searched or not way.searched_at:
        way = replace(way, searched_at=now)
    if way.kind == WayKind.RENDERED and way.blank >= BLANK_VISITS:
        return Way(sign=way.sign, searched_at=now, problem=WayProblem.BLANK)
    due = not came and now - way.searched_at >= AGAIN_DAYS[WayKind(way.kind)] * DAY
    blank = way.blank >= BLANK_VISITS and way.kind in (WayKind.EMBEDDED, WayKind.JSON)
    return replace(way, again=way.again or due or blank)


def failed_way(way: Way, failures: int) -> Way:
    """Return the way after a visit that failed, with so many failures in a row."""
    other = way.kind != WayKind.PLAIN
    return replace(way, again=way.again or (other and failures % FAILURES == 0))


def is_other_source(way: Way | None, before: Way | None) -> bool:
    """Return whether the links come from elsewhere than at the last visit."""
    if way is None:
        return False
    if before is None:
        return way.kind not in (WayKind.PLAIN, WayKind.BROWSER_MISSING)
    return way.kind != before.kind


def continues(found: Sequence[SeenLink], known: Collection[str]) -> bool:
    """Whether what another source shows continues the list that the hub was; else it is no news."""
    return len(known) > len(found) // 2


def cost_of(way: Way | None) -> float:
    """Return what a visit in this way costs, in requests."""
    if way is None:
        return 1.0
    return way.requests + way.seconds / SECONDS_A_REQUEST
