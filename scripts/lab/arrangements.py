"""The same sites crawled by different arrangements of daemons: what each announces, and what a visit costs.

::

    first      every list is read for the first time, with its site's robots.txt
    unchanged  every list is answered 304
    changed    every list has three new articles; the first of each site is read as well

All daemons run to quiescence in each phase. What they use is counted from the moment when they hold all
sites and every process has made a visit; idle times in the phases count as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.fleet import COUNTING, Fleet, Used
from lab.postgres_server import PostgresServer

PHASES = ("first", "unchanged", "changed")
CHANGED = PHASES.index("changed")
WARM = 40
"""Sites that are visited before."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Daemons on one store; without *workers* of Dask visits run in threads."""

    name: str
    daemons: int = 1
    workers: int = 0
    shared: bool = True
    """Whether the store is PostgreSQL."""


ARRANGEMENTS = (
    Arrangement("one daemon, threads, PostgreSQL"),
    Arrangement("two daemons, four Dask workers, PostgreSQL", daemons=2, workers=4),
    Arrangement("one daemon, threads, SQLite", shared=False),
)


@dataclass(frozen=True, slots=True)
class Crawled:
    """What an arrangement did."""

    phases: dict[str, Used]
    announced: Counter[str]
    published: set[str]
    idle: Used

    @property
    def total(self) -> Used:
        """All phases together."""
        return sum(self.phases.values(), Used())

    @property
    def is_true(self) -> bool:
        """Whether all that was published was announced, once, and nothing else."""
        return self.announced == Counter(self.published)

    @property
    def per_visit_ms(self) -> float:
        """Processor time of all phases by visit, without PostgreSQL."""
        return self.total.per_visit_ms(self.total.ours)

    @property
    def busy_per_visit_ms(self) -> float:
        """The same without what the processes use while nothing is due, which a slow machine multiplies."""
        total = self.total
        idle = self.idle.ours / self.idle.seconds * total.seconds
        return total.per_visit_ms(total.ours - idle)

    def as_json(self) -> dict[str, Any]:
        """Return the figures, each of a visit."""
        return {
            "announced": self.announced.total(),
            "true": self.is_true,
            "idle_percent_of_a_core": 100 * self.idle.ours / self.idle.seconds,
            **_figures(self.total),
            "phases": {name: _figures(used) for name, used in self.phases.items()},
        }


def _figures(used: Used) -> dict[str, float]:
    return {
        "visits": used.visits,
        "daemons_ms": used.per_visit_ms(used.daemons),
        "workers_ms": used.per_visit_ms(used.workers + used.scheduler),
        "scheduler_ms": used.per_visit_ms(used.scheduler),
        "postgres_ms": used.per_visit_ms(used.database),
        "together_ms": used.per_visit_ms(used.ours),
        "statements": used.statements / max(used.visits, 1),
        "seconds": used.seconds,
    }


def crawl(
    arrangement: Arrangement, folder: Path, sites: int, say: Callable[[str], object]
) -> Crawled:
    """Let an arrangement crawl so many sites in each of the phases."""
    if arrangement.shared:
        with PostgresServer(*COUNTING) as server:
            return _crawl(arrangement, folder, server, sites, say)
    return _crawl(arrangement, folder, None, sites, say)


def _crawl(
    arrangement: Arrangement,
    folder: Path,
    server: PostgresServer | None,
    sites: int,
    say: Callable[[str], object],
) -> Crawled:
    with Fleet(
        folder,
        server,
        daemons=arrangement.daemons,
        workers=arrangement.workers,
        say=lambda done: say(f"{arrangement.name}: {done}"),
    ) as fleet:
        fleet.add(WARM, later=False)
        fleet.add(sites, later=True)
        fleet.start()
        idle = fleet.rest(10)
        phases = {}
        for number, name in enumerate(PHASES):
            if number == CHANGED:
                fleet.sites.change(1)
            phases[name] = fleet.phase()
        return Crawled(phases, fleet.announced(), fleet.published(1), idle)
