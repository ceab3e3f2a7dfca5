"""The scale model against a run: four daemons and eight Dask workers share thousands of made-up sites.

::

    alone     one crawler in this process visits sites of one list    cost of a visit, by kind
    shared    engines, turns at hosts, idle processes                 what sharing adds
       └──> scale.predicted(mix of the run) against what the run used

Every site has one list, and a fresh robots.txt. Costs are measured in the same hour as the run, because a
busy machine makes all of them larger.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lab.dask_cluster import DaskCluster
from lab.fleet import COUNTING, QUIET_DASK, Fleet, Used
from lab.load_server import LoadServer
from lab.postgres_server import PostgresServer
from lab.scale import KINDS, Cost, Shared, Spent, predicted
from store import open_store
from store.enums import HubRole

DAEMONS, WORKERS = 4, 8
_WARM = 64
_REST_SECONDS = 20.0
_TURNS = 2_000
_ENGINE_VISITS = 400
_UNCHANGED_SECONDS, _CHANGED_SECONDS = 300.0, 420.0
_SAID_EVERY = 20.0
_FIELDS = ("crawler_ms", "worker_ms", "database_ms", "statements")
_BYTES = {"first": 18_000.0, "unchanged": 300.0, "changed": 31_000.0}

Say = Callable[[str], object]


class _All(set[int]):
    """Every page: an article that is read after its list has changed counts as well."""

    def __contains__(self, _page: object) -> bool:
        return True


def costs_alone(sites: int) -> dict[str, Cost]:
    """Return what visits of sites of one list cost, by kind; a changed one with the article that is read."""
    from bench_throughput import SETTINGS, add_lists, crawl, crawling  # noqa: PLC0415 - loads the crawler

    from incremental.settings.loading import build_settings  # noqa: PLC0415 - likewise

    costs = {}
    with contextlib.ExitStack() as stack:
        enter = stack.enter_context
        server, web = enter(PostgresServer(*COUNTING)), enter(LoadServer(menu=False))
        server.count_statements()
        folder = Path(enter(tempfile.TemporaryDirectory(prefix="hubwatch-scale-")))
        world = enter(crawling(folder, build_settings(SETTINGS), server.url))
        world.visits.lists |= add_lists(world.store, web, sites, sites, HubRole.USER)
        world.crawler.load(time.time() - 60.0)
        for number, kind in enumerate(KINDS):
            if kind == "changed":
                web.change(1)
                world.visits.lists = _All()
            world.offset = 1_800.0 * number
            cpu, statements = server.cpu_seconds(), server.statements()
            wanted = sites * (2 if kind == "changed" else 1)
            phase = crawl(world, wanted, lambda _: None)
            rooms = {room: 1000 * spent / sites for room, spent in phase.rooms.items()}
            crawler = rooms["judge"] + rooms["record"] + rooms["schedule"]
            costs[kind] = Cost(
                crawler_ms=crawler,
                worker_ms=sum(rooms.values()) - crawler,
                database_ms=1000 * (server.cpu_seconds() - cpu) / sites,
                statements=(server.statements() - statements) / sites,
                received_bytes=_BYTES[kind],
            )
    return costs


def costs_shared() -> Shared:
    """Measure what sharing adds to a visit, and what processes use that have nothing to do."""
    turn_ms, turn_database_ms = _turns()
    here, there = _engine()
    rest = _idle()
    return Shared(
        daemon_ms=here + turn_ms,
        worker_ms=there,
        database_ms=turn_database_ms,
        statements=1.0,
        idle_daemon=rest.daemons / rest.seconds / DAEMONS,
        idle_workers=(rest.workers + rest.scheduler) / rest.seconds / WORKERS,
        idle_database=rest.database / rest.seconds / DAEMONS,
        idle_statements=rest.statements / rest.seconds / DAEMONS,
    )


def _turns() -> tuple[float, float]:
    """Return what taking a turn at a host costs: milliseconds here, and of the database."""
    with (
        PostgresServer() as server,
        tempfile.TemporaryDirectory() as folder,
        open_store(server.url, cache_folder=Path(folder)) as store,
    ):
        daemon = store.daemons.join("one", None, version="", lease_seconds=3_600)
        assert isinstance(daemon, int)
        began, database = time.thread_time(), server.cpu_seconds()
        for number in range(_TURNS):
            freed = {f"host{number - 1}": 0.0} if number else {}
            store.daemons.take_host(daemon, f"host{number}", delay_seconds=5.0, freed=freed)
        spent = time.thread_time() - began, server.cpu_seconds() - database
    return 1000 * spent[0] / _TURNS, 1000 * spent[1] / _TURNS


def _engine() -> tuple[float, float]:
    """Return what Dask adds to a visit over threads: milliseconds in the daemon, and elsewhere."""
    from bench_engines import measured, settings_of, site  # noqa: PLC0415 - loads the crawler

    with (
        site(50) as url,
        tempfile.TemporaryDirectory(prefix="hubwatch-dask-") as folder,
        DaskCluster(Path(folder), variables=QUIET_DASK) as cluster,
    ):
        for _ in range(2):
            cluster.start_worker(threads=2)
        cluster.wait_for(2)
        threads, dask = (
            measured(kind, settings_of(kind, cluster.address, 2), url, _ENGINE_VISITS)
            for kind in ("threads", "dask")
        )
    # A thread's fetching is in the daemon; on Dask it is the worker's, which counts as a visit's own cost.
    together = dask.here_ms + dask.workers_ms - threads.here_ms - threads.workers_ms
    return dask.here_ms, max(together - dask.here_ms, 0.0)


def _idle() -> Used:
    """Return what daemons and workers use that have nothing to do."""
    with (
        tempfile.TemporaryDirectory(prefix="hubwatch-fleet-") as folder,
        PostgresServer(*COUNTING) as server,
        Fleet(Path(folder) / "idle", server, daemons=DAEMONS, workers=WORKERS, threads=1) as fleet,
    ):
        fleet.add(_WARM, later=False)
        fleet.start()
        return fleet.rest(_REST_SECONDS)


@dataclass(frozen=True, slots=True)
class Ran:
    """A phase of the run."""

    used: Used
    kinds: dict[str, int]
    """Visits of each kind; ``reading``: articles, which belong to changed lists."""
    memory_mb: list[float]
    """Resident, of each daemon."""


def run(sites: int, part: int, first_seconds: float, say: Say) -> dict[str, Ran]:
    """Let the fleet visit *sites* once, *part* of them again unchanged and changed; return the phases.

    *first_seconds*: what has not been visited by then is left out.
    """
    said = time.monotonic()

    def tell(text: str) -> None:
        nonlocal said
        if time.monotonic() - said > _SAID_EVERY:
            said = time.monotonic()
            say(f"{text}, load {os.getloadavg()[0]:.0f}")

    found = {}
    with (
        tempfile.TemporaryDirectory(prefix="hubwatch-fleet-") as folder,
        PostgresServer(*COUNTING) as server,
        Fleet(
            Path(folder) / "run", server, daemons=DAEMONS, workers=WORKERS, threads=1, say=tell
        ) as fleet,
    ):
        say(f"adding {sites} sites")
        fleet.add(_WARM, later=False)
        fleet.add(part, later=True)
        fleet.add(sites - part, later=True, once=True)
        say("starting")
        fleet.start()
        say(f"the daemons have {fleet.shares()} sites")
        limits = {"first": first_seconds, "unchanged": _UNCHANGED_SECONDS}
        for name in KINDS:
            if name == "changed":
                fleet.sites.change(1)
            before = fleet.kinds()
            used = fleet.phase(most_seconds=limits.get(name, _CHANGED_SECONDS))
            kinds = {kind: many - before[kind] for kind, many in fleet.kinds().items()}
            if name == "first" and (left := fleet.leave_out()):
                say(f"{left} sites were not reached")
            found[name] = Ran(used, kinds, fleet.memory_mb())
            say(f"{name}: {kinds}, {used.due:.0f} lists were due")
    return found


def compare(phases: dict[str, Ran], costs: dict[str, Cost], shared: Shared) -> dict[str, Any]:
    """Return what the model predicts of a visit, what was measured, and measured over predicted."""
    answer = {}
    everything = Ran(
        sum((one.used for one in phases.values()), Used()),
        {kind: sum(one.kinds[kind] for one in phases.values()) for kind in (*KINDS, "reading")},
        next(reversed(phases.values())).memory_mb,
    )
    for name, one in {**phases, "all": everything}.items():
        used, visits = one.used, {kind: float(one.kinds[kind]) for kind in KINDS}
        many = sum(visits.values())
        spent = Spent(visits, used.seconds, DAEMONS, WORKERS)
        said = {field: value / many for field, value in predicted(costs, shared, spent).items()}
        was = {
            "crawler_ms": 1000 * used.daemons / many,
            "worker_ms": 1000 * (used.workers + used.scheduler) / many,
            "database_ms": 1000 * used.database / many,
            "statements": used.statements / many,
        }
        answer[name] = {
            "due": used.due,
            "visits": one.kinds,
            "seconds": used.seconds,
            "memory_mb": one.memory_mb,
            "predicted": said,
            "measured": was,
            "ratio": {field: was[field] / said[field] for field in _FIELDS},
        }
    return answer


def check(sites: int, part: int, first_seconds: float, say: Say) -> dict[str, Any]:
    """Run and compare; return what is printed as JSON."""
    phases = run(sites, part, first_seconds, say)
    say("measuring costs alone")
    costs = costs_alone(max(min(sites, 1_500), 100))
    say("measuring what sharing adds")
    shared = costs_shared()
    return {
        "sites": sites,
        "daemons": DAEMONS,
        "workers": WORKERS,
        "load": os.getloadavg()[2],
        "costs": {kind: asdict(cost) for kind, cost in costs.items()},
        "shared": asdict(shared),
        **compare(phases, costs, shared),
    }
