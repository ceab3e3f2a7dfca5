"""Daemons that share made-up sites, with Dask or without, and what each kind of process uses.

::

    LoadServer <── hubwatch run, several times ──> PostgreSQL, or a SQLite file
                     └──> Dask's scheduler and workers

Every site is a loopback address with one list. A few sites are visited first, so that all processes have
loaded what they need. Then the clocks of all daemons are put forward and every list is due; a phase ends
when all were visited and nothing happens any more.
"""

from __future__ import annotations

import contextlib
import resource
import signal
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from math import inf
from pathlib import Path
from typing import Any, Self

import psutil  # type: ignore[import-untyped] # ships no types

from incremental.fetch.status import FetchStatus
from incremental.settings.seeds import SeedTerms, add_seed
from lab.daemon_process import MAIN, DaemonProcess, wait_until, write_settings
from lab.dask_cluster import DaskCluster
from lab.load_server import LoadServer, new_paths
from lab.new_pages import new_pages
from lab.postgres_server import PostgresServer
from store import Store, open_store
from store.enums import HubStatus, PageState, SiteStatus
from store.home import DATABASE

COUNTING = ("shared_preload_libraries=pg_stat_statements", "pg_stat_statements.track_utility=off")
"""Options of a PostgreSQL server whose statements can be counted."""
# All lists are visited at one interval, and the clock is put forward by more than that. After three times
# the robots.txt of the first day is still valid, and no plan is so old that it is made again.
_INTERVAL_HOURS = 2.0
_LATER_SECONDS = 5 * 1800
_FIRST_SECONDS = 3600.0
_ONCE_SECONDS = 30 * 86_400.0
_AHEAD = f"""
import signal
from incremental.base import clock
ahead, machine = 0.0, clock.SystemClock.now
def put_forward(*_):
    global ahead
    ahead += {_LATER_SECONDS}
signal.signal(signal.SIGUSR1, put_forward)
clock.SystemClock.now = lambda self: machine(self) + ahead
clock.SystemClock.real = lambda self, moment: moment - ahead
"""
QUIET_DASK = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "false",
    "DASK_DISTRIBUTED__WORKER__MEMORY__MONITOR_INTERVAL": "2s",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "5s",
    "DASK_DISTRIBUTED__SCHEDULER__WORK_STEALING": "false",
}
"""As shipped, Dask looks at itself many times a second: 3.5 % of a core for each idle worker; so, 0.3."""
_DAEMONS = QUIET_DASK | {"OMP_NUM_THREADS": "1"}
_POLL_SECONDS = 1.0
_QUIET_SECONDS = 6.0
# Without any visit for so long a phase has failed.
_PATIENCE_SECONDS = 120.0
_HOME = "hubwatch-data"
_ADDED_AT_ONCE = 500
_FILES = 65_536


@dataclass(frozen=True, slots=True)
class Used:
    """Processor seconds, and what was done for them."""

    daemons: float = 0.0
    workers: float = 0.0
    """Of Dask, with their readers."""
    scheduler: float = 0.0
    database: float = 0.0
    """PostgreSQL's processes."""
    statements: float = 0.0
    """As PostgreSQL counts them: each row of a batch is one; without BEGIN and COMMIT."""
    seconds: float = 0.0
    visits: float = 0.0
    due: float = 0.0
    """Lists that had to be visited."""

    def __sub__(self, other: Used) -> Used:
        return Used(*(getattr(self, f.name) - getattr(other, f.name) for f in fields(Used)))

    def __add__(self, other: Used) -> Used:
        return Used(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Used)))

    @property
    def ours(self) -> float:
        """Processor seconds of all but the database."""
        return self.daemons + self.workers + self.scheduler

    def per_visit_ms(self, seconds: float) -> float:
        """Return *seconds* by visit, in milliseconds."""
        return 1000 * seconds / max(self.visits, 1)


class Fleet:
    """Daemons at work; a context manager. *server*: None = SQLite. *workers*: Dask's, each of *threads*."""

    def __init__(  # noqa: PLR0913 - what it is made of
        self,
        folder: Path,
        server: PostgresServer | None,
        *,
        daemons: int = 1,
        workers: int = 0,
        threads: int = 2,
        fetches: int = 8,
        variables: Mapping[str, str] = QUIET_DASK,
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._folder, self._server, self._say = folder, server, say
        self._stack = contextlib.ExitStack()
        self._workers, self._threads = workers, threads
        self._fetches = fetches
        self.sites = LoadServer(menu=False)
        self.daemons = [DaemonProcess(folder / f"d{n}", code=_AHEAD + MAIN) for n in range(daemons)]
        self._cluster = DaskCluster(folder, variables=variables) if workers else None
        self._ahead = 0.0
        self._added: list[int] = []

    def __enter__(self) -> Self:
        enter = self._stack.enter_context
        # Sockets of many hosts.
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(_FILES, most), most))
        self._folder.mkdir(parents=True, exist_ok=True)
        place = str(self._folder / "d0" / _HOME / DATABASE)
        if self._server is not None:
            place = self._server.empty_database()
            self._server.count_statements()
        for one in self.daemons:
            one.folder.mkdir(parents=True)
            (one.folder / _HOME).mkdir(mode=0o700)
        self.store: Store = enter(open_store(place, cache_folder=self._folder / "cache"))
        enter(self.sites)
        if self._cluster is not None:
            enter(self._cluster)
            for _ in range(self._workers):
                self._cluster.start_worker(threads=self._threads)
            self._cluster.wait_for(self._workers)
        for one in self.daemons:
            enter(one)
            write_settings(one.folder, self._settings(place))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _settings(self, place: str) -> dict[str, dict[str, object]]:
        engine: dict[str, object] = {}
        if self._cluster is not None:
            engine = {"kind": "dask", "address": self._cluster.address}
        shared = {"database": place} if self._server is not None else {}
        return {
            "store": {
                **shared,
                "folder": _HOME,
                "connections": 4,
                "cache": (self._folder / "cache").as_uri(),
            },
            "fetch": {"allowed_networks": ["127.0.0.0/8"]},
            "revisit": {
                "requests_per_day": 1e9,
                "min_interval_minutes": 60 * _INTERVAL_HOURS,
                "max_interval_hours": _INTERVAL_HOURS,
            },
            "news": {"max_per_day": 1_000_000, "verify_share": 0},
            "refresh": {"share": 0},
            "hubs": {"retrain_labels": 0},
            "daemon": {"workers": self._fetches},
            "embeddings": {"provider": "none"},
            "web": {"enabled": False},
            "engine": engine,
        }

    # What is done.

    def add(self, count: int, *, later: bool, once: bool = False) -> None:
        """Add so many sites, due now or after the clock is put forward; *once*: in the first phase only."""
        now = time.time() + (_FIRST_SECONDS if later else 0.0)
        terms = SeedTerms(min_interval_seconds=_ONCE_SECONDS, max_interval_seconds=_ONCE_SECONDS)
        while count:
            some = min(count, _ADDED_AT_ONCE)
            with self.store.write.together():
                for _ in range(some):
                    url = self.sites.url(len(self._added))
                    site_id = add_seed(self.store, url, now=now, terms=terms if once else None)
                    self.store.write.update_site(site_id, probed_at=now)
                    self._added.append(site_id)
            count -= some

    def start(self, within: float = 300) -> Used:
        """Start the daemons, and wait until they hold all sites and what is due was visited."""
        before = self.used()
        for one in self.daemons:
            one.start(variables=_DAEMONS)
        wait_until(lambda: self._is_shared() or self._ended(), within, every=_POLL_SECONDS)
        assert self._is_shared(), self._ended() or f"the daemons share {self.shares()}"
        return self._until_quiet(before)

    def phase(self, *, most_seconds: float = inf) -> Used:
        """Put the clock forward, wait until what is due was visited; return what it took.

        *most_seconds*: what has not been visited by then is left for the next phase.
        """
        self._ahead += _LATER_SECONDS
        before = self.used()
        for one in self.daemons:
            one.send(signal.SIGUSR1)
        # A daemon looks at the store again when somebody has edited a site.
        self.store.write.update_site(self._added[0], changed_at=time.time() + self._ahead)
        return self._until_quiet(before, most_seconds)

    def leave_out(self) -> int:
        """Pause the sites that no phase has reached yet; return how many."""
        statement = (
            f"UPDATE site SET state = '{SiteStatus.PAUSED}' WHERE id IN "  # noqa: S608 - a name of ours
            "(SELECT site_id FROM hub WHERE baseline_at IS NULL) RETURNING id"
        )
        return len(self._asked(statement))

    def rest(self, seconds: float) -> Used:
        """Wait, with nothing due; return what that took."""
        before = self.used()
        time.sleep(seconds)
        return self.used() - before

    def _is_shared(self) -> bool:
        if self._server is None:
            return True
        shares = [one.sites for one in self.store.daemons.all()]
        return len(shares) == len(self.daemons) and sum(shares) == len(self._added)

    def _ended(self) -> str:
        """Return what a daemon that has ended said."""
        return "".join(one.errors()[-2_000:] for one in self.daemons if not one.running)

    def _until_quiet(self, before: Used, most_seconds: float = inf) -> Used:
        """Return what was used until the last visit."""
        due = max(self._due(), 1)
        latest, moved_at = before, time.monotonic()
        while True:
            time.sleep(_POLL_SECONDS)
            now, moment = self.used(), time.monotonic()
            assert not self._ended(), self._ended()
            if now.visits != latest.visits:
                latest, moved_at = now, moment
                self._say(f"{now.visits - before.visits:.0f} visits, {due} lists were due")
            made, still = latest.visits - before.visits, moment - moved_at
            if moment - before.seconds > most_seconds:
                return replace(now - before, due=due)
            if made >= due and still > _QUIET_SECONDS and not self._due() + self._pending():
                return replace(latest - before, due=due)
            if still > _PATIENCE_SECONDS:
                still_due, log = self._due(), self.daemons[0].errors()[-2_000:]
                self._say(f"stood still after {made:.0f} visits, {still_due} lists are due: {log}")
                return replace(latest - before, due=due)

    def _due(self) -> int:
        """Return how many lists of sites that are not paused are due."""
        query = (
            "SELECT count(*) FROM hub JOIN site ON site.id = hub.site_id "  # noqa: S608 - values of ours
            f"WHERE hub.due_at <= {time.time() + self._ahead} AND hub.state <> '{HubStatus.DROPPED}' "
            f"AND site.state <> '{SiteStatus.PAUSED}'"
        )
        return int(self._asked(query)[0][0])

    def _pending(self) -> int:
        """Return how many new pages are not announced yet."""
        query = f"SELECT count(*) FROM page WHERE state = '{PageState.PENDING}'"  # noqa: S608 - a name of ours
        return int(self._asked(query)[0][0])

    # What it looks like.

    def used(self) -> Used:
        """Return what was used so far."""
        workers = [] if self._cluster is None else [one.pid for one in self._cluster.workers]
        scheduler = [
            one.pid
            for one in psutil.Process().children()
            if any("dask_scheduler" in word for word in one.cmdline())
        ]
        return Used(
            daemons=sum(map(cpu_seconds, self._pids())),
            workers=sum(map(cpu_seconds, workers)),
            scheduler=sum(map(cpu_seconds, scheduler)),
            database=self._server.cpu_seconds() if self._server is not None else 0.0,
            statements=self._statements(),
            seconds=time.monotonic(),
            visits=self._asked("SELECT coalesce(max(id), 0) FROM visit")[0][0],
        )

    def _statements(self) -> float:
        # On the connection at hand: a new one each second would be work for the server as well.
        query = "SELECT coalesce(sum(calls), 0)::float8 FROM pg_stat_statements"
        return float(self._asked(query)[0][0]) if self._server is not None else 0.0

    def statuses(self) -> Counter[str]:
        """Return how many visits ended in each status, since the beginning."""
        return Counter(dict(self._asked("SELECT status, count(*) FROM visit GROUP BY status")))

    def kinds(self) -> dict[str, int]:
        """Return how many visits there were of each kind, since the beginning."""
        statuses = self.statuses()
        readings = "SELECT count(*) FROM visit WHERE page_id NOT IN (SELECT page_id FROM hub)"
        first = "SELECT count(*) FROM hub WHERE baseline_at IS NOT NULL"
        found = {
            "first": self._asked(first)[0][0],
            "unchanged": statuses[FetchStatus.NOT_MODIFIED],
            "reading": self._asked(readings)[0][0],
        }
        return {**found, "changed": statuses.total() - sum(found.values())}

    def announced(self) -> Counter[str]:
        """Return how often each address was announced."""
        return new_pages(self.store)

    def published(self, generation: int) -> set[str]:
        """Return what all sites have published up to a generation."""
        paths = new_paths(generation)
        return {
            self.sites.url(number).rstrip("/") + path
            for number in range(len(self._added))
            for path in paths
        }

    def memory_mb(self) -> list[float]:
        """Return the resident memory of each daemon, without the processes that it started."""
        return [psutil.Process(pid).memory_info().rss / 1e6 for pid in self._pids()]

    def shares(self) -> list[int]:
        """Return how many sites each daemon has."""
        return [one.sites for one in self.store.daemons.all()]

    def _pids(self) -> list[int]:
        return [one.pid for one in self.daemons if one.running]

    def _asked(self, query: str) -> list[Any]:
        return list(self.store.database.execute_sql(query).fetchall())  # type: ignore[no-untyped-call]  # peewee's stubs lack it


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process and of all that it started, ended ones included."""
    total = 0.0
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        for one in [process, *process.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                times = one.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
    return total
