"""Several real daemons on one PostgreSQL store, killed and frozen at will, and what must be true meanwhile.

::

    publishing sites, some on one host  <--  hubwatch run, several times  -->  PostgreSQL, restarted at will
      (what was published, who asked when)     │ or: Dask's workers <── scheduler

Each daemon has a folder and a name of its own, which is sent as its user agent, by workers as well.
"""

import contextlib
import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

from incremental.crawl.sharing import LEASE_SECONDS
from lab.daemon_process import MAIN, DaemonProcess, quick_settings, wait_until, write_settings
from lab.dask_cluster import DaskCluster
from lab.message_receiver import MessageReceiver
from lab.new_pages import new_pages
from lab.postgres_server import PostgresServer
from lab.publishing_site import PublishingSite, ServedSite
from store import open_store
from store.daemons import DaemonRow

DELAY_SECONDS = 0.3
# A host on loopback is owed no pause otherwise, nor is a start spread over less than a minute.
PAUSING = f"""
from collections import defaultdict
import incremental.crawl.frontier as frontier, incremental.visit.host_gate as gate
import incremental.fetch.politeness as politeness
politeness.polite_delay_seconds = gate.polite_delay_seconds = lambda state, settings: {DELAY_SECONDS}
frontier.staggered_start = lambda hosts, now: defaultdict(lambda: now)
"""
LEASING = """
import incremental.crawl.sharing as membership
membership.LEASE_SECONDS, membership.BEAT_SECONDS = {lease}, {beat}
"""
# A worker that says nothing for so long is given up by the scheduler; Dask's own default is five minutes.
GIVEN_UP_SECONDS = 8
# A visit that was lost with its worker is not made again sooner.
FETCH_SECONDS = 10.0
_ANSWER_SECONDS = 0.05
_SLOW_SECONDS = 1.0, 6.0
# What two clocks of one machine, and the way of a request to its log, may differ by.
_TOLERANCE_SECONDS = 0.05


class Asked(NamedTuple):
    """A request as its host saw it, until it was answered or its connection closed."""

    began: float
    ended: float
    who: str
    site: str


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two requests to one host at once, or the second within the host's delay after the first."""

    host: str
    first: Asked
    second: Asked


class Cluster:
    """A PostgreSQL server, sites and daemons; a context manager. *shared_host*: sites on one host.

    *workers*: of a Dask cluster that makes the visits of all daemons; 0 = they make them in threads.
    *slow_share*: of the answers, those that take seconds. *lease_seconds*: after which a dead daemon's
    sites are taken over; it beats four times in it. *server*: used, emptied, in the place of one of its own.
    """

    def __init__(  # noqa: PLR0913 - what the world is made of
        self,
        folder: Path,
        *,
        daemons: int = 2,
        workers: int = 0,
        sites: int = 6,
        shared_host: Container[int] = (0, 2),
        seconds_between: float = 5.0,
        min_interval_minutes: float = 0.1,
        slow_share: float = 0.0,
        lease_seconds: float = LEASE_SECONDS,
        server: PostgresServer | None = None,
        seed: int = 0,
    ) -> None:
        self.folder = folder
        self._min_interval_minutes = min_interval_minutes
        self._slow_share, self._workers = slow_share, workers
        self.dask: DaskCluster | None = None
        self._stack = contextlib.ExitStack()
        self._log: dict[str, list[Asked]] = defaultdict(list)
        self._lock = threading.Lock()
        self._is_own = server is None
        self.server = server or PostgresServer()
        self.sites = [
            self._site(number, shared_host, seconds_between, seed) for number in range(sites)
        ]
        self.hook = MessageReceiver()
        code = PAUSING + LEASING.format(lease=lease_seconds, beat=lease_seconds / 4) + MAIN
        self.daemons = [DaemonProcess(folder / f"d{n}", code=code) for n in range(daemons)]

    def _site(self, number: int, shared: Container[int], between: float, seed: int) -> ServedSite:
        host = "127.0.0.2" if number in shared else f"127.0.0.{number + 3}"

        def seen(who: str, began: float, ended: float) -> None:
            with self._lock:
                self._log[host].append(Asked(began, ended, who.partition("/")[0], f"{number}"))

        site = PublishingSite(seconds_between=between, seed=seed * 1_000 + number)
        dice = random.Random(f"{seed}/{number}")

        def takes() -> float:
            slow = dice.random() < self._slow_share
            return dice.uniform(*_SLOW_SECONDS) if slow else _ANSWER_SECONDS

        return ServedSite(site, host=host, delay_seconds=takes, seen=seen)

    def __enter__(self) -> Self:
        enter = self._stack.enter_context
        if self._is_own:
            enter(self.server)
        self.url = self.server.empty_database()
        for site in self.sites:
            enter(site)
        enter(self.hook)
        if self._workers:
            self.dask = enter(self._dask_cluster())
        for process in self.daemons:
            enter(process)
        for number, daemon in enumerate(self.daemons):
            daemon.folder.mkdir(parents=True)
            self._write_settings(daemon.folder, f"d{number}")
        self.store = enter(open_store(self.url, cache_folder=self.folder / "cache"))
        if self.dask is not None:
            for _ in range(self._workers):
                self.dask.start_worker(threads=2)
            self.dask.wait_for(self._workers)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _dask_cluster(self) -> DaskCluster:
        folder = self.folder / "dask"
        folder.mkdir(parents=True)
        patience = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": f"{GIVEN_UP_SECONDS}s"}
        return DaskCluster(folder, variables=patience)

    def _engine(self) -> Mapping[str, object]:
        if self.dask is None:
            return {"kind": "threads"}
        return {"kind": "dask", "address": self.dask.address}

    def _write_settings(self, folder: Path, name: str) -> None:
        settings = quick_settings(
            self.hook.url,
            engine=self._engine(),
            store={"database": self.url, "connections": 4},
            fetch={"user_agent": f"{name}/1", "total_timeout_seconds": FETCH_SECONDS},
            revisit={"min_interval_minutes": self._min_interval_minutes},
            daemon={"parse_workers": 0},
            embeddings={"provider": "none"},
            web={"enabled": False},
        )
        write_settings(folder, settings)

    # What is done to it.

    def begin(self, *, within: float = 120) -> None:
        """Start the first daemon with all sites, wait for its baselines, and let the sites publish."""
        self.daemons[0].start(*(site.url for site in self.sites))
        assert wait_until(self._is_known, within, every=0.5), self.daemons[0].errors()[-2_000:]
        for site in self.sites:
            site.site.begin()

    def _is_known(self) -> bool:
        hubs = [hub for hub in self.store.read.hubs() if hub.baseline_at is not None]
        return len({hub.site_id for hub in hubs}) == len(self.sites)

    def end_publishing(self, *, within: float = 120) -> list[str]:
        """Publish nothing more and wait until all is announced; return what was not."""
        for site in self.sites:
            site.site.end()
        wait_until(lambda: not self.lost(), within, every=1.0)
        return self.lost()

    def restart_server(self, seconds_away: float = 1.0, *, mode: str = "fast") -> None:
        """Restart PostgreSQL, which is away for a while; *mode* ``immediate`` = it crashes."""
        self.server.stop(mode)
        time.sleep(seconds_away)
        self.server.start()
        self.store.recover()

    # What it looks like.

    def rows(self) -> list[DaemonRow]:
        """Return the daemons in the store."""
        return self.store.daemons.all()

    def shares(self) -> list[int]:
        """Return how many sites each daemon has, the oldest first."""
        return [one.sites for one in self.rows()]

    def are_sharing(self, daemons: int) -> bool:
        """Whether so many daemons have all sites between them, and each has some."""
        shares = self.shares()
        return len(shares) == daemons and sum(shares) == len(self.sites) and all(shares)

    def published(self) -> set[str]:
        """Return the addresses published since :meth:`begin`."""
        return {url for site in self.sites for url in site.published()}

    def announced(self) -> Counter[str]:
        """Return how often each address is in the list of new pages."""
        return new_pages(self.store)

    def lost(self) -> list[str]:
        """Return what was published and is not announced."""
        return sorted(self.published() - self.announced().keys())

    def asked(self) -> dict[str, list[Asked]]:
        """Return the requests of each host, the earliest first."""
        with self._lock:
            return {host: sorted(log) for host, log in self._log.items()}

    def are_all_asking(self, since: float) -> bool:
        """Whether each daemon that has sites has begun a request since a moment."""
        at_work = {self.name_of(one) for one in self.rows() if one.sites}
        seen = {who for names in self.askers(since).values() for who in names}
        return bool(at_work) and at_work <= seen

    def name_of(self, row: DaemonRow) -> str:
        """Return the name that a daemon at work sends with its requests; empty = it runs no more."""
        ours = (f"d{n}" for n, one in enumerate(self.daemons) if is_of(row, one))
        return next(ours, "")

    def askers(self, since: float) -> dict[str, set[str]]:
        """Return who asked each site since a moment, by the site's number."""
        found: dict[str, set[str]] = defaultdict(set)
        for log in self.asked().values():
            for one in log:
                if one.began >= since:
                    found[one.site].add(one.who)
        return found

    def overlaps(self) -> list[Overlap]:
        """Return where one host was asked twice at once, or again within its delay, by whomever."""
        return list(overlaps(self.asked()))


def is_of(row: DaemonRow, daemon: DaemonProcess) -> bool:
    """Whether a row is that of a daemon's process."""
    return row.name.endswith(f"-{daemon.pid}")


def overlaps(asked: Mapping[str, list[Asked]]) -> Iterator[Overlap]:
    """Yield the requests that came before a host was free; *asked*: those of each host, the earliest first.

    No visit of these sites makes two requests: none redirects, and no page needs parts. robots.txt is a visit
    of its own, after which the host is owed its delay like after any other. So nothing is excepted.
    """
    for host, log in asked.items():
        last: Asked | None = None
        for one in log:
            if last is not None and one.began < last.ended + DELAY_SECONDS - _TOLERANCE_SECONDS:
                yield Overlap(host, last, one)
            last = one if last is None else max(last, one, key=lambda request: request.ended)
