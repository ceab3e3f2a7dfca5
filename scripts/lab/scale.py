"""What a number of hubs needs: from costs of one visit to cores, writes, disks and bandwidth.

::

    demand (requests of a hub a day, by kind)  ─┐
    cost (processor ms, statements, bytes)     ─┴─> need of each part ─> stage whose limits it keeps

A part that needs more than one of its kind can give is saturated; a stage is what people run until then.
"""

from __future__ import annotations

from dataclasses import dataclass

DAY = 86_400.0
KINDS = ("first", "unchanged", "changed")


@dataclass(frozen=True)
class Cost:
    """What a visit of one kind costs. Processor milliseconds, statements, bytes."""

    crawler_ms: float
    """On the crawler's own thread: choose, judge, record."""
    worker_ms: float
    """Fetch and parse, on any worker."""
    database_ms: float
    """Of the PostgreSQL server's processes."""
    statements: float
    received_bytes: float


@dataclass(frozen=True)
class Shared:
    """What several daemons on one store, with visits on Dask's workers, pay on top. Measured."""

    daemon_ms: float
    """Of a visit: to give it to a worker and take what came of it, and the turn at its host."""
    worker_ms: float
    """Of a visit: to take it and give it back, on worker and scheduler."""
    database_ms: float
    """Of a visit: the turn at its host."""
    statements: float
    """Of a visit, likewise."""
    idle_daemon: float
    """Cores of a daemon with nothing to do: its lease, who else is there, what was edited."""
    idle_workers: float
    """Cores of a worker, and of its part of the scheduler."""
    idle_database: float
    """Cores of PostgreSQL for each daemon."""
    idle_statements: float
    """A second, of each daemon."""


@dataclass(frozen=True)
class Demand:
    """What one hub asks for. Measured by replays of whole sites."""

    visits_per_day: dict[str, float]
    """By kind."""
    new_pages_per_day: float
    hubs_per_site: float


@dataclass(frozen=True)
class Storage:
    """Bytes that are kept."""

    hub_bytes: float
    """Of a hub with its links and schedule, in the database."""
    page_bytes: float
    """Of a new page with its text and indexes, in the database."""
    cached_bytes: float
    """Of a body in the page cache."""
    kept_days: float
    """Texts and changes (``[retention] text_days``)."""


@dataclass(frozen=True)
class Machine:
    """What one machine gives; a choice, not a measurement."""

    cores: int = 32
    use: float = 0.6
    """Share of a core that is planned with: the rest is for peaks."""
    disk_tb: float = 30.0
    network_gbit: float = 10.0
    memory_gb: float = 128.0


@dataclass(frozen=True)
class Need:
    """What a number of hubs needs. Rates are of an average second."""

    hubs: float
    visits_per_second: float
    crawler_cores: float
    """Each daemon's crawler is one thread: so many daemons."""
    worker_cores: float
    database_cores: float
    statements_per_second: float
    new_pages_per_day: float
    database_tb: float
    """After ``kept_days``."""
    cache_tb: float
    received_gbit: float
    daemons: int
    machines: int
    stage: str
    saturated: str
    """The part of the stage before that gives way first; empty at the first stage."""


@dataclass(frozen=True)
class Model:
    """Costs, demand and machines."""

    costs: dict[str, Cost]
    demand: Demand
    storage: Storage
    shared: Shared
    machine: Machine = Machine()

    def _parts(self, hubs: float, rates: dict[str, float], *, shared: bool) -> dict[str, float]:
        """Return what each part needs, *shared* = with several daemons."""

        def cores(field: str, more: float) -> float:
            spent = total(self.costs, rates, field) + (sum(rates.values()) * more if shared else 0)
            return spent / 1000 / self.machine.use

        pages = hubs * self.demand.new_pages_per_day
        kept = self.storage
        return {
            "crawler_cores": cores("crawler_ms", self.shared.daemon_ms),
            "worker_cores": cores("worker_ms", self.shared.worker_ms),
            "database_cores": cores("database_ms", self.shared.database_ms),
            "database_tb": (hubs * kept.hub_bytes + pages * kept.kept_days * kept.page_bytes)
            / 1e12,
            "received_gbit": 8 * total(self.costs, rates, "received_bytes") / 1e9,
        }

    def need(self, hubs: float) -> Need:
        """Return what *hubs* hubs need."""
        rates = {kind: hubs * self.demand.visits_per_day[kind] / DAY for kind in KINDS}
        visits = sum(rates.values())
        pages, kept = hubs * self.demand.new_pages_per_day, self.storage
        statements = total(self.costs, rates, "statements")
        parts = self._parts(hubs, rates, shared=False)
        stage, saturated = stage_of(parts, self.machine)
        if stage != STAGES[0]:
            parts = self._parts(hubs, rates, shared=True)
            statements += visits * self.shared.statements
            stage, saturated = stage_of(parts, self.machine)
        daemons = max(1, -int(-parts["crawler_cores"] // 1))
        cores = daemons + parts["worker_cores"] + parts["database_cores"]
        return Need(
            hubs=hubs,
            visits_per_second=visits,
            statements_per_second=statements,
            new_pages_per_day=pages,
            cache_tb=(hubs + pages * kept.kept_days) * kept.cached_bytes / 1e12,
            daemons=daemons,
            machines=max(1, -int(-cores // self.machine.cores)),
            stage=stage,
            saturated=saturated,
            **parts,
        )


def total(costs: dict[str, Cost], visits: dict[str, float], field: str) -> float:
    """Return what *visits*, by kind, cost of one *field*."""
    return sum(many * float(getattr(costs[kind], field)) for kind, many in visits.items())


@dataclass(frozen=True)
class Spent:
    """Visits that several daemons have made."""

    visits: dict[str, float]
    """By kind."""
    seconds: float
    daemons: int
    workers: int


def predicted(costs: dict[str, Cost], shared: Shared, spent: Spent) -> dict[str, float]:
    """Return what visits should cost several daemons, all in all, idle times included."""
    visits, seconds = spent.visits, spent.seconds
    many = sum(visits.values())
    idle = {
        "crawler_ms": 1000 * spent.daemons * shared.idle_daemon,
        "worker_ms": 1000 * spent.workers * shared.idle_workers,
        "database_ms": 1000 * spent.daemons * shared.idle_database,
        "statements": spent.daemons * shared.idle_statements,
    }
    more = {
        "crawler_ms": shared.daemon_ms,
        "worker_ms": shared.worker_ms,
        "database_ms": shared.database_ms,
        "statements": shared.statements,
    }
    return {
        field: total(costs, visits, field) + many * more[field] + seconds * idle[field]
        for field in more
    }


STAGES = ("one process, SQLite", "daemons and workers, one PostgreSQL", "partitioned PostgreSQL",
          "frontier service, columnar history")  # fmt: skip
"""What is run, in the order in which it is left behind."""
PARTITIONS = 64
"""PostgreSQL servers that one schedule over all of them is still run on."""


def stage_of(parts: dict[str, float], machine: Machine) -> tuple[str, str]:
    """Return the first stage that keeps its limits, and what was fullest at the stage before."""
    cores, database = float(machine.cores), machine.cores * 1.0
    limits: tuple[dict[str, float], ...] = (
        # SQLite has one writer and the crawler one thread; readers use the other cores.
        {"crawler_cores": 1.0, "worker_cores": cores - 1, "database_tb": machine.disk_tb / 10,
         "received_gbit": machine.network_gbit},
        {"database_cores": database, "database_tb": machine.disk_tb},
        {"database_cores": PARTITIONS * database, "database_tb": PARTITIONS * machine.disk_tb},
    )  # fmt: skip
    saturated = ""
    for stage, limit in zip(STAGES, limits, strict=False):
        fullest = max(limit, key=lambda part: parts[part] / limit[part])
        if parts[fullest] <= limit[fullest]:
            return stage, saturated
        saturated = fullest
    return STAGES[-1], saturated
