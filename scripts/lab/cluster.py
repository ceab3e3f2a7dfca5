"""Several real daemons on one PostgreSQL store, killed and frozen at will, and what must be true meanwhile.

::

    publishing sites, some on one host  <--  hubwatch run, several times  -->  PostgreSQL, restarted at will
      (what was published, who asked when)

Each daemon has a folder and a name of its own, which it sends as its user agent.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Container, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, Self

from lab.daemon_process import MAIN, DaemonProcess, wait_until, write_settings
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
import incremental.crawl.frontier as frontier, incremental.crawl.host_gate as gate
import incremental.fetch.politeness as politeness
politeness.polite_delay_seconds = gate.polite_delay_seconds = lambda state, settings: {DELAY_SECONDS}
frontier.staggered_start = lambda hosts, now: defaultdict(lambda: now)
"""
# What two clocks of one machine, and the way of a request to its log, may differ by.
_TOLERANCE_SECONDS = 0.05


class Asked(NamedTuple):
    """A request as its host saw it."""

    began: float
    ended: float
    who: str
    site: str


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two daemons at one host within its delay."""

    host: str
    first: Asked
    second: Asked


class Cluster:
    """A PostgreSQL server, sites and daemons; a context manager. *shared_host*: sites on one host."""

    def __init__(  # noqa: PLR0913 - what the world is made of
        self,
        folder: Path,
        *,
        daemons: int = 2,
        sites: int = 6,
        shared_host: Container[int] = (0, 2),
        seconds_between: float = 5.0,
        min_interval_minutes: float = 0.1,
        seed: int = 0,
    ) -> None:
        self.folder = folder
        self._min_interval_minutes = min_interval_minutes
        self._stack = contextlib.ExitStack()
        self._log: dict[str, list[Asked]] = defaultdict(list)
        self._lock = threading.Lock()
        self.server = PostgresServer()
        self.sites = [
            self._site(number, shared_host, seconds_between, seed) for number in range(sites)
        ]
        self.hook = MessageReceiver()
        code = PAUSING + MAIN
        self.daemons = [DaemonProcess(folder / f"d{n}", code=code) for n in range(daemons)]

    def _site(self, number: int, shared: Container[int], between: float, seed: int) -> ServedSite:
        host = "127.0.0.2" if number in shared else f"127.0.0.{number + 3}"

        def seen(who: str, began: float, ended: float) -> None:
            with self._lock:
                self._log[host].append(Asked(began, ended, who.partition("/")[0], f"{number}"))

        site = PublishingSite(seconds_between=between, seed=seed * 1_000 + number)
        return ServedSite(site, host=host, delay_seconds=0.05, seen=seen)

    def __enter__(self) -> Self:
        enter = self._stack.enter_context
        enter(self.server)
        self.url = self.server.empty_database()
        for site in self.sites:
            enter(site)
        enter(self.hook)
        for process in self.daemons:
            enter(process)
        for number, daemon in enumerate(self.daemons):
            daemon.folder.mkdir(parents=True)
            self._write_settings(daemon.folder, f"d{number}")
        self.store = enter(open_store(self.url, cache_folder=self.folder / "cache"))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _write_settings(self, folder: Path, name: str) -> None:
        write_settings(
            folder,
            {
                "store": {"database": self.url, "connections": 4},
                "fetch": {"allowed_networks": ["127.0.0.0/8"], "user_agent": f"{name}/1"},
                "politeness": {"backoff_seconds": 1.0, "max_backoff_seconds": 2.0},
                "revisit": {
                    "requests_per_day": 1e8,
                    "min_interval_minutes": self._min_interval_minutes,
                },
                "news": {"max_per_day": 1_000_000},
                "hubs": {"retrain_labels": 0},
                "daemon": {"parse_workers": 0},
                "embeddings": {"provider": "none"},
                "web": {"enabled": False},
                "[notify]": {
                    "name": "hook",
                    "url": self.hook.url,
                    "every_minutes": 0.05,
                    "max_per_hour": 1_000,
                },
            },
        )

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

    def restart_server(self, seconds_away: float = 1.0) -> None:
        """Restart PostgreSQL, which is away for a while."""
        self.server.stop()
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

    def askers(self, since: float) -> dict[str, set[str]]:
        """Return who asked each site since a moment, by the site's number."""
        found: dict[str, set[str]] = defaultdict(set)
        for log in self.asked().values():
            for one in log:
                if one.began >= since:
                    found[one.site].add(one.who)
        return found

    def overlaps(self) -> list[Overlap]:
        """Return where two daemons asked one host at once, or one within its delay after another."""
        return list(_overlaps(self.asked()))


def _overlaps(asked: dict[str, list[Asked]]) -> Iterator[Overlap]:
    for host, log in asked.items():
        for first, second in pairwise(log):
            soon = second.began < first.ended + DELAY_SECONDS - _TOLERANCE_SECONDS
            if first.who != second.who and soon:
                yield Overlap(host, first, second)
