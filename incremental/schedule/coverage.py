"""Which hubs of a site suffice; the others are covered, because they show nothing else. Pure.

A site with two hundred tag pages shows each article on its home page, on an archive and on a few tags.
Visited equally often, each of them is sometimes first, so counting firsts does not help. A greedy set
cover does: it picks hubs by how much they show that no better hub shows (within 1 - 1/e of the best set
of that size; Nemhauser, Wolsey and Fisher 1978). A hub that adds nothing is covered, and visited just
often enough to notice when that changes.

A deployment often changes several lists at once: one process, seen through several pages. A hub that has
news only when another has, and not by chance, *follows* that one: it is covered as well, and read whenever
its leader brings news.

A list that overflowed covers nothing any more, so the hubs that it covered are read. The same choice
among these, layer by layer, shows which few of them suffice, and which are read only if those have
overflowed as well::

    feed, home page            watched
    four sections              read when the feed or the home page overflowed
    two hundred tags           read when a section overflowed
"""

import heapq
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

# Watched hubs read at once because another list overflowed.
MAX_PEERS = 3
# From so many announced pages on only they count: what a hub has always shown says little.
MIN_ANNOUNCED = 4
# News of two hubs came together if it was found within so long: many lists are read daily.
TOGETHER_SECONDS = 86_400.0
# Of a follower's visits with news, those that may have come alone.
MAX_ALONE = 0.1
# From so many visits with news on a hub may follow another, if all come together that seldom by chance.
MIN_TOGETHER = 5
MAX_CHANCE = 0.01


@dataclass(frozen=True, slots=True)
class ShownPages:
    """What one hub shows."""

    pages: AbstractSet[int]
    """Ids of the articles that it showed at its last visit; of a list that overflowed, before that too."""
    announced: AbstractSet[int] = frozenset()
    """Ids of recently announced pages that it showed in time, first or after another hub."""
    news: tuple[float, ...] = ()
    """When those were announced, unix seconds."""
    chosen: bool = False
    """Labelled a hub by the user: never covered."""
    anchor: bool = False
    """A seed, a feed or a sitemap: covered only on the evidence of announced pages."""
    late: bool = False
    """A sitemap: it lists everything, but perhaps late."""
    preference: float = 0.0
    """Breaks ties, largest first (a feed is cheaper to visit than an archive)."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which hubs are covered, and by which."""

    covered: Mapping[int, int | None] = field(default_factory=dict)
    """Hub to the hub that shows most of the same pages; None = it shows nothing."""
    backups: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Hub to others that show some of its pages: a few watched ones, and covered ones a layer below."""
    followers: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Hub to those that have news only when it has."""

    def follows(self, hub: int) -> bool:
        """Whether *hub* is covered because it has news only when its leader has."""
        leader = self.covered.get(hub)
        return leader is not None and hub in self.followers.get(leader, ())

    def covered_by(self, hub: int) -> tuple[int, ...]:
        """Return the hubs to read when *hub* overflowed, those that add most first."""
        return self.backups.get(hub, ())


def coverage(hubs: Mapping[int, ShownPages]) -> Coverage:
    """Return which of *hubs* are covered. Deterministic; usually O(n log n) set operations."""
    announced = set().union(*(shown.announced for shown in hubs.values())) if hubs else set()
    by_news = len(announced) >= MIN_ANNOUNCED
    chosen = set(_greedy(hubs, by_news=by_news))
    led = _led(hubs, chosen)
    chosen -= led.keys()
    covered: dict[int, int | None] = {}
    for hub, shown in hubs.items():
        # What a list has always shown says little, so seeds, feeds and sitemaps are covered only once
        # announced pages show that others suffice.
        if hub in chosen or shown.chosen or (shown.anchor and len(announced) < MIN_ANNOUNCED):
            continue
        covered[hub] = led.get(hub) or _nearest(shown, hubs, chosen)
    followers: dict[int, tuple[int, ...]] = {}
    for hub, leader in led.items():
        followers[leader] = (*followers.get(leader, ()), hub)
    return Coverage(covered, _backups(hubs, covered, by_news=by_news), followers)


def _led(hubs: Mapping[int, ShownPages], chosen: AbstractSet[int]) -> dict[int, int]:
    """Return which of the *chosen* hubs follow which, those with the least news first."""
    led: dict[int, int] = {}
    order = sorted(chosen, key=lambda hub: (len(set(hubs[hub].news)), hubs[hub].preference, hub))
    for place, hub in enumerate(order):
        # The later ones have more news, so nobody follows in a circle.
        likely = [one for one in reversed(order[place + 1 :]) if _follows(hubs[hub], hubs[one])]
        if likely and not hubs[hub].chosen:
            led[hub] = likely[0]
    return led


def _follows(hub: ShownPages, leader: ShownPages) -> bool:
    """Whether the news of *hub* came about when *leader* had some, more often than by chance."""
    own, other = set(hub.news), set(leader.news)
    together = {at for at in own if any(abs(at - one) <= TOGETHER_SECONDS for one in other)}
    if len(together) < max(MIN_TOGETHER, (1 - MAX_ALONE) * len(own)):
        return False
    by_chance = 2 * TOGETHER_SECONDS * len(other) / (max(own | other) - min(own | other))
    return min(by_chance, 1.0) ** len(together) <= MAX_CHANCE


def _backups(
    hubs: Mapping[int, ShownPages], covered: Mapping[int, int | None], *, by_news: bool
) -> dict[int, tuple[int, ...]]:
    """Return for each hub those a layer below that show some of its pages."""
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
    for hub in hubs.keys() - covered.keys():
        covered_by[hub] += _missing(hub, covered_by[hub], hubs, covered.keys())
    return {hub: tuple(below) for hub, below in covered_by.items() if below}


def _missing(
    hub: int, below: Sequence[int], hubs: Mapping[int, ShownPages], covered: AbstractSet[int]
) -> list[int]:
    """Return covered hubs that show what *hub* shows and none *below* does, those that add most first."""
    # A section without news of late is in no upper layer, though it may have some by now.
    left = set(_all(hubs[hub])).difference(*(hubs[one].pages for one in below))
    others = {
        one: replace(hubs[one], pages=hubs[one].pages & left)
        for one in sorted(covered)
        if one not in below
    }
    return _greedy(others, by_news=False)[:MAX_PEERS]


def _peers(hub: int, watched: Sequence[int], hubs: Mapping[int, ShownPages]) -> list[int]:
    """Return watched hubs whose lists reach further back than *hub*'s, longest first."""
    own = hubs[hub]
    longer = [
        one
        for one in watched
        if hubs[one].pages - own.pages and not _all(own).isdisjoint(_all(hubs[one]))
    ]
    return sorted(longer, key=lambda one: (-len(hubs[one].pages), one))[:MAX_PEERS]


def _layer(left: Mapping[int, ShownPages], *, by_news: bool) -> list[int]:
    """Return which hubs cover the others, best first."""
    # Sitemaps are often built nightly, so they cover nothing.
    late = [hub for hub, shown in left.items() if shown.late]
    lists = {hub: shown for hub, shown in left.items() if not shown.late}
    best = _greedy(lists, by_news=True) if by_news else []
    return [*(best or _greedy(lists, by_news=False)), *late] or list(left)


def _greedy(hubs: Mapping[int, ShownPages], *, by_news: bool) -> list[int]:
    """Return the hubs that add something, most first: lazy greedy (Minoux 1978)."""
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
