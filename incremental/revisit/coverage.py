"""Which hubs of a site are enough: the rest show nothing that those do not show. Pure.

A site with two hundred tag pages shows each article on its home page, on an archive and on a few tags.
Visited alike, every one of them is now and then the first to show something, so counting who was
first tells nothing. What tells is who shows *everything*: a greedy set cover picks hubs by how much
they show that no better hub shows (within 1 - 1/e of the best set of that size; Nemhauser, Wolsey and
Fisher 1978). A hub that adds nothing rests: it is visited just often enough to notice when that ends.

A list that overflowed covers nothing any more, so the hubs behind it are read. These are covered
in turn: the same choice among the resting ones, layer below layer, says which few of them suffice, and which
are read only if those have overflowed as well::

    feed, home page            watched
    four sections              read when the feed or the home page overflowed
    two hundred tags           read when a section overflowed
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

# Watched hubs that are read at once because the list of another one overflowed.
MAX_PEERS = 3
# Announced pages from which they alone decide: what a hub always showed says little of tomorrow.
MIN_ANNOUNCED = 4


@dataclass(frozen=True, slots=True)
class ShownPages:
    """What one hub shows."""

    pages: AbstractSet[int]
    """Ids of the pages that are no hubs and that it showed at its last visit."""
    announced: AbstractSet[int] = frozenset()
    """Ids of the pages announced as new lately that it showed in time, by itself or after another hub."""
    chosen: bool = False
    """The user said that it is a hub: never rests."""
    anchor: bool = False
    """A seed, a feed or a sitemap: covered only by the evidence of announced pages."""
    late: bool = False
    """A sitemap: that it lists everything does not say when."""
    preference: float = 0.0
    """Breaks ties: the larger first (a feed is cheaper to visit than an archive)."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which hubs rest, and behind which hub."""

    covered: Mapping[int, int | None] = field(default_factory=dict)
    """Hub to the hub that shows most of what it shows; None when it shows nothing at all."""
    backups: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Hub to those that show some of what it shows: a few watched ones, the resting ones a layer below."""

    def covered_by(self, hub: int) -> tuple[int, ...]:
        """Return the hubs to read when the list of *hub* overflowed, those that add most first."""
        return self.backups.get(hub, ())


def coverage(hubs: Mapping[int, ShownPages]) -> Coverage:
    """Return which of *hubs* rest. Deterministic; O(n log n) set operations in the usual case."""
    announced = set().union(*(shown.announced for shown in hubs.values())) if hubs else set()
    by_news = len(announced) >= MIN_ANNOUNCED
    chosen = set(_greedy(hubs, by_news=by_news))
    covered: dict[int, int | None] = {}
    for hub, shown in hubs.items():
        if hub in chosen or shown.chosen or (shown.anchor and len(announced) < MIN_ANNOUNCED):
            continue
        covered[hub] = _nearest(shown, hubs, chosen)
    return Coverage(covered, _backups(hubs, covered, by_news=by_news))


def _backups(
    hubs: Mapping[int, ShownPages], covered: Mapping[int, int | None], *, by_news: bool
) -> dict[int, tuple[int, ...]]:
    """Return, for each hub, which of the layer below it show some of what it shows."""
    covered_by: dict[int, list[int]] = {}
    upper = [hub for hub in hubs if hub not in covered]
    for hub in upper:
        covered_by[hub] = _peers(hub, upper, hubs)
    left = {hub: hubs[hub] for hub, nearest in covered.items() if nearest is not None}
    while left:
        layer = _layer(left, by_news=by_news)
        for hub in layer:
            shown, nearest = left.pop(hub), covered[hub]
            above = [one for one in upper if not _all(shown).isdisjoint(_all(hubs[one]))]
            if not above and nearest is not None:
                above = [nearest]
            for one in above:
                covered_by.setdefault(one, []).append(hub)
        upper = layer
    return {hub: tuple(below) for hub, below in covered_by.items() if below}


def _peers(hub: int, watched: Sequence[int], hubs: Mapping[int, ShownPages]) -> list[int]:
    """Return the watched hubs whose lists reach further back than that of *hub*, the longest first."""
    own = hubs[hub]
    longer = [
        one
        for one in watched
        if hubs[one].pages - own.pages and not _all(own).isdisjoint(_all(hubs[one]))
    ]
    return sorted(longer, key=lambda one: (-len(hubs[one].pages), one))[:MAX_PEERS]


def _layer(left: Mapping[int, ShownPages], *, by_news: bool) -> list[int]:
    """Return which of the hubs left cover the others, best first; sitemaps, made at night, cover nothing."""
    late = [hub for hub, shown in left.items() if shown.late]
    lists = {hub: shown for hub, shown in left.items() if not shown.late}
    best = _greedy(lists, by_news=True) if by_news else []
    return [*(best or _greedy(lists, by_news=False)), *late] or list(left)


def _greedy(hubs: Mapping[int, ShownPages], *, by_news: bool) -> list[int]:
    """Return the hubs that add something, those that add most first: lazy greedy (Minoux 1978)."""
    covered: set[int] = set()

    def gain(shown: ShownPages) -> int:
        if by_news:
            return len(shown.announced - covered)
        return 0 if shown.late else len(shown.pages - covered)

    heap = [(-gain(shown), -shown.preference, hub) for hub, shown in hubs.items()]
    heapq.heapify(heap)
    chosen: list[int] = []
    while heap:
        _, preference, hub = heapq.heappop(heap)
        now = gain(hubs[hub])
        if now <= 0:
            continue
        if heap and -now > heap[0][0]:
            heapq.heappush(heap, (-now, preference, hub))
            continue
        chosen.append(hub)
        covered |= hubs[hub].announced if by_news else hubs[hub].pages
    return chosen


def _nearest(
    shown: ShownPages, hubs: Mapping[int, ShownPages], chosen: AbstractSet[int]
) -> int | None:
    both = _all(shown)
    if not both or not chosen:
        return None
    return max(sorted(chosen), key=lambda hub: len(both & _all(hubs[hub])))


def _all(shown: ShownPages) -> AbstractSet[int]:
    return shown.pages | shown.announced
