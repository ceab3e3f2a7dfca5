"""Hubs that show the same links: after a neighbour's visit the links that it showed wait no longer.

The first hub that shows a link gets the credit. For each neighbour a hub keeps two counts: links new to
it but known from the neighbour, and links that the neighbour could have shown first (they arrived before
its last visit). Their ratio is the share of this hub's links that the neighbour's visit takes away.
"""

from dataclasses import dataclass, replace

from incremental.schedule.profile import HOUR, Shape
from incremental.schedule.rates import RATE_HALF_LIFE_DAYS
from incremental.schedule.state import HubState, SiteState, Visit

_NEIGHBOURS = 10
# Pseudo-links that were not shared.
_DOUBT = 1.0


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits on a hub at :attr:`since`, after the last visit of the hub or of a neighbour."""

    since: float
    """Hours since the epoch."""
    links: float
    delay: float
    """Link-hours."""


def backlog(hub: HubState, site: SiteState, shape: Shape, rate: float) -> Backlog:
    """Return what waits after the neighbours' latest visits; *rate* in links per hour."""
    start = hub.visited_at / HOUR
    cuts = sorted(
        (site.seen_at[key] / HOUR, 1.0 - _share(counts))
        for key, counts in hub.overlaps.items()
        if site.seen_at.get(key, 0.0) > hub.visited_at
    )
    links = delay = 0.0
    kept = 1.0
    for _, keep in cuts:
        kept *= keep
    for at, keep in cuts:
        arrived, waited = shape.integrals(start, at)
        delay += links * (at - start) + kept * rate * waited
        links += kept * rate * arrived
        kept = min(kept / keep, 1.0) if keep else 1.0
        start = at
    return Backlog(start, links, delay)


def learn_overlap(hub: HubState, site: SiteState, visit: Visit, shape: Shape) -> HubState:
    """Return the hub with its neighbours' counts updated; *hub* is the state before the visit."""
    fresh = visit.novel + sum(visit.shared.values())
    if visit.failed or visit.baseline or not fresh or not hub.visited_at or not hub.key:
        return hub
    start, end = hub.visited_at / HOUR, visit.at / HOUR
    arrived = shape.integrals(start, end)[0]
    fade = 0.5 ** (max(end - start, 0.0) / 24 / RATE_HALF_LIFE_DAYS)
    counts = {key: [value * fade for value in pair] for key, pair in hub.overlaps.items()}
    for key in {*counts, *visit.shared}:
        hits, chances = counts.get(key, [0.0, 0.0])
        shared = float(visit.shared.get(key, 0))
        # The neighbour could have shown first only what arrived before its last visit.
        before = shape.integrals(start, site.seen_at.get(key, 0.0) / HOUR)[0]
        chance = fresh * min(before / arrived, 1.0) if arrived > 0 else shared
        counts[key] = [hits + shared, chances + max(chance, shared)]
    best = sorted(counts, key=lambda key: counts[key][0], reverse=True)[:_NEIGHBOURS]
    return replace(hub, overlaps={key: counts[key] for key in best})


def _share(counts: list[float]) -> float:
    hits, chances = counts
    return min(hits / (chances + _DOUBT), 0.99)
