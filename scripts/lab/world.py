"""A world of hubs whose links come and go at known times, to compare policies.

A visit at t sees the links with ``first_seen <= t < visible_until``. Nothing is read here: rows come
from a file (``scripts/bench_revisit.py``) or are drawn by a test.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from incremental.schedule.state import Visit

DAY = 86400.0


@dataclass(frozen=True, slots=True)
class Row:
    """One stay of one link on one hub, unix seconds."""

    hub: str
    link: str
    first_seen: float
    visible_until: float


@dataclass(slots=True)
class _Timeline:
    """The stays on one hub, by first_seen; *next* is the first that no visit has come to."""

    stays: list[tuple[float, float, str]] = field(default_factory=list)
    next: int = 0
    based: bool = False
    visible: list[tuple[float, str]] = field(default_factory=list)
    """Until when, and which link."""
    young: list[tuple[float, str]] = field(default_factory=list)
    """Of these, what the last visit found first."""

    def arrived(self, at: float) -> list[tuple[float, str]]:
        """Move on to *at* and return what is visible now and was not at the visit before."""
        fresh = []
        while self.next < len(self.stays) and self.stays[self.next][0] <= at:
            _, until, link = self.stays[self.next]
            self.next += 1
            if until > at:
                fresh.append((until, link))
        self.visible = [stay for stay in self.visible if stay[0] > at] + fresh
        return fresh


class World:
    """Answers visits in the order of time, and keeps the first sighting of each link.

    Rows may come in any order. A stay that ends before it begins was never visible and is dropped;
    overlapping stays of one link on one hub count as one.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        stays = _merged(rows)
        if not stays:
            raise ValueError("no row in which a link is visible at any time")
        self.hubs: list[str] = list(stays)
        self.stays = stays
        self.appeared: dict[str, float] = {}
        for of_hub in stays.values():
            for first, _, link in of_hub:
                self.appeared[link] = min(first, self.appeared.get(link, first))
        self.start = min(self.appeared.values())
        self.end = max(last for of_hub in stays.values() for _, last, _ in of_hub)
        self.forget()

    def forget(self) -> None:
        """Begin again, without visits."""
        self._timelines = {hub: _Timeline(stays) for hub, stays in self.stays.items()}
        self.sighted: dict[str, float] = {}
        self._sighted_on: dict[str, str] = {}

    def visit(self, hub: str, at: float) -> Visit:
        """Return what a visit of *hub* finds, and remember what it has shown."""
        line = self._timelines[hub]
        fresh = line.arrived(at)
        novel, shared = self._credit(hub, fresh, at)
        vanished = sum(until <= at for until, _ in line.young)
        # What is there when a hub's rows begin is known.
        baseline = not line.based and (bool(fresh) or not line.stays[line.next :])
        line.based = line.based or bool(fresh)
        line.young = [] if baseline else fresh
        shown = len(line.visible)
        if baseline:
            return Visit(at=at, shown=shown, baseline=True)
        return Visit(
            at=at,
            shown=shown,
            novel=novel,
            all_new=0 < shown == len(fresh),
            shared=shared,
            vanished=vanished,
        )

    def _credit(
        self, hub: str, fresh: list[tuple[float, str]], at: float
    ) -> tuple[int, dict[str, int]]:
        """Give *hub* the credit for links that no hub has shown; count the others by who has it."""
        shared: dict[str, int] = {}
        novel = 0
        for _, link in fresh:
            first_on = self._sighted_on.setdefault(link, hub)
            if self.sighted.setdefault(link, at) == at and first_on == hub:
                novel += 1
            elif first_on != hub:
                shared[first_on] = shared.get(first_on, 0) + 1
        return novel, shared

    def slots(self, fetches_per_hour: float) -> int:
        """Return how many slots of 1/B hours the world lasts."""
        return int((self.end - self.start) / 3600 * fetches_per_hour)

    def true_rates(self) -> dict[str, float]:
        """Return each hub's rows an hour over the whole span."""
        hours = (self.end - self.start) / 3600
        return {hub: len(stays) / hours for hub, stays in self.stays.items()}


def _merged(rows: Iterable[Row]) -> Mapping[str, list[tuple[float, float, str]]]:
    """Return each hub's stays by time, hubs in the order in which they first occur."""
    by_link: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for row in rows:
        of_hub = by_link.setdefault(row.hub, {})
        if row.visible_until > row.first_seen:
            of_hub.setdefault(row.link, []).append((row.first_seen, row.visible_until))
    merged = {
        hub: sorted(
            (first, last, link) for link, stays in of_hub.items() for first, last in _union(stays)
        )
        for hub, of_hub in by_link.items()
    }
    return {hub: stays for hub, stays in merged.items() if stays}


def _union(stays: list[tuple[float, float]]) -> list[tuple[float, float]]:
    joined: list[tuple[float, float]] = []
    for first, last in sorted(stays):
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined
