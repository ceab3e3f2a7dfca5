"""Which hubs of a site are enough: the rest show nothing that those do not show. Pure.

A site with two hundred tag pages shows each article on its home page, on an archive and on a few tags.
Visited alike, every one of them is now and then the first to show something, so counting who was
first tells nothing. What tells is who shows *everything*: a greedy set cover picks hubs by how much
they show that no better hub shows (within 1 - 1/e of the best set of that size; Nemhauser, Wolsey and
Fisher 1978). A hub that adds nothing rests: it is visited just often enough to notice when that ends.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
from collections.abc import Set as AbstractSet

MIN_TOLD = 4
"""Pages told as new from which they alone decide: what a hub showed all along says little of tomorrow."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What one hub shows."""

    pages: AbstractSet[int]
    """Ids of the pages that are no hubs and that it showed at its last visit."""
    told: AbstractSet[int] = frozenset()
    """Ids of the pages told as new lately that it showed in time, by itself or after another hub."""
    chosen: bool = False
    """The user said that it is a hub: never rests."""
    anchor: bool = False
    """A seed, a feed or a sitemap: rests only by the evidence of pages told, not by what it merely shows."""
    late: bool = False
    """A sitemap: that it lists everything does not say when."""
    preference: float = 0.0
    """Breaks ties: the larger first (a feed is cheaper to visit than an archive)."""


@dataclass(frozen=True, slots=True)
class Cover:
    """Which hubs rest, and behind which hub."""

    resting: Mapping[int, int | None] = field(default_factory=dict)
    """Hub to the hub that shows most of what it shows; None when it shows nothing at all."""
    sizes: Mapping[int, int] = field(default_factory=dict)
    """How many pages each resting hub shows."""

    def behind(self, hub: int, *, limit: int) -> list[int]:
        """Return the hubs that rest behind *hub*, those that show most first."""
        resting = [one for one, chosen in self.resting.items() if chosen == hub]
        return sorted(resting, key=lambda one: (-self.sizes.get(one, 0), one))[:limit]


def cover(hubs: Mapping[int, Shown]) -> Cover:
    """Return which of *hubs* rest. Deterministic; O(n log n) set operations in the usual case."""
    told = set().union(*(shown.told for shown in hubs.values())) if hubs else set()
    chosen = _greedy(hubs, by_news=len(told) >= MIN_TOLD)
    resting: dict[int, int | None] = {}
    for hub, shown in hubs.items():
        if hub in chosen or shown.chosen or (shown.anchor and len(told) < MIN_TOLD):
            continue
        resting[hub] = _nearest(shown, hubs, chosen)
    return Cover(resting, {hub: len(hubs[hub].pages) for hub in resting})


def _greedy(hubs: Mapping[int, Shown], *, by_news: bool) -> set[int]:
    """Return the hubs that add something, by lazy greedy selection (Minoux 1978)."""
    covered: set[int] = set()

    def gain(shown: Shown) -> int:
        if by_news:
            return len(shown.told - covered)
        return 0 if shown.late else len(shown.pages - covered)

    heap = [(-gain(shown), -shown.preference, hub) for hub, shown in hubs.items()]
    heapq.heapify(heap)
    chosen: set[int] = set()
    while heap:
        _, preference, hub = heapq.heappop(heap)
        now = gain(hubs[hub])
        if now <= 0:
            continue
        if heap and -now > heap[0][0]:
            heapq.heappush(heap, (-now, preference, hub))
            continue
        chosen.add(hub)
        covered |= hubs[hub].told if by_news else hubs[hub].pages
    return chosen


def _nearest(shown: Shown, hubs: Mapping[int, Shown], chosen: AbstractSet[int]) -> int | None:
    both = shown.pages | shown.told
    if not both or not chosen:
        return None
    return max(sorted(chosen), key=lambda hub: len(both & (hubs[hub].pages | hubs[hub].told)))
