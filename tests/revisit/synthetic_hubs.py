"""A made-up workload: two hundred hubs whose rates differ by orders of magnitude, with days and weeks.

200 hubs on 60 hosts, 100 links an hour in all, rates log-normal (sigma 1.5); each host keeps its own
time zone, works by a raised cosine clamped at 0.05 (peak 2.3 times the mean) and half as much at the
weekend. Four weeks, of which the second two count. Arrivals are Poisson; no overlap, no roll-off.
"""

from dataclasses import dataclass

import numpy as np
from lab.world import Row, World

from incremental.schedule.profile import BINS, WEEK, Shape

HUBS = 200
HOSTS = 60
LINKS_PER_HUB_HOUR = 0.5
SIGMA = 1.5
WEEKS = 4
# A Thursday 00:00 UTC, where the weeks of a shape begin.
START = 1_700_092_800.0
END = START + WEEKS * WEEK * 3600
_STAY_SECONDS = 7 * 86400.0
# Saturday and Sunday, counted from Thursday.
_WEEKEND = (2, 3)


@dataclass(frozen=True, slots=True)
class Workload:
    """A world, and what is true of it."""

    world: World
    sites: dict[str, str]


def draw(seed: int, *, hubs: int = HUBS) -> Workload:
    """Draw the workload for *seed*; the same seed draws the same. Fewer *hubs* bring fewer links."""
    rng = np.random.default_rng(seed)
    zones = rng.integers(0, 24, HOSTS)
    hosts = rng.integers(0, HOSTS, hubs)
    drawn = np.exp(rng.normal(0.0, SIGMA, hubs))
    drawn *= LINKS_PER_HUB_HOUR / drawn.mean()
    rows: list[Row] = []
    sites = {}
    for number, (host, rate) in enumerate(zip(hosts, drawn, strict=True)):
        hub = f"host{host}:hub{number}"
        shape = _shape(int(zones[host]))
        sites[hub] = f"host{host}"
        for serial, at in enumerate(_arrivals(rng, float(rate), shape)):
            rows.append(Row(hub, f"{number}/{serial}", at, min(at + _STAY_SECONDS, END)))
    return Workload(World(rows), {h: s for h, s in sites.items() if h in {r.hub for r in rows}})


def _shape(zone: int) -> Shape:
    hours = np.arange(WEEK)
    day = np.maximum(0.05, 0.6 + np.cos((hours + zone - 14) / 24 * 2 * np.pi))
    local_day = ((hours + zone) // 24) % 7
    week = day * np.where(np.isin(local_day, _WEEKEND), 0.5, 1.0)
    return Shape(tuple((week / week.mean()).tolist()), (1.0,) * BINS)


def _arrivals(rng: np.random.Generator, rate: float, shape: Shape) -> list[float]:
    counts = rng.poisson(rate * np.tile(shape.hours, WEEKS))
    starts = np.repeat(np.arange(counts.size), counts)
    return sorted((START + 3600 * (starts + rng.random(starts.size))).tolist())
