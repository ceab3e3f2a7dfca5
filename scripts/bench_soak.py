#!/usr/bin/env python3
"""Let the crawler run for a simulated year, with faults, and measure what grows.

    scripts/bench_soak.py --days 365 --json
    scripts/bench_soak.py --quick --json                    a month of two sites, for the tests
    scripts/bench_soak.py --days 365 --restart-days 0       one process life: nothing may leak
    scripts/bench_soak.py --chart docs/images/soak.png

Real: crawler, fetcher with its address guard and sockets, threads, parser, store on disk (SQLite in WAL
mode), page cache, housekeeping, nightly training, notifier with Apprise, web server and its clients, a
topic. Simulated: the clock, which jumps to whatever is due next, and the web (soak_world.py), served by
a process of its own, so that only the crawler's memory is measured.

Memory is the resident set after gc.collect() and malloc_trim(0), once a simulated day. The slope is the
median of the slopes between all pairs of days (Theil and Sen), so a peak does not count.
"""

import contextlib
import ctypes
import gc
import itertools
import logging
import os
import signal
import socket
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from lab.cli import Panel, parser_of, plot, print_json, show
from lab.clocks import SimulatedClock
from lab.speed import rss_mb
from rich.console import Console
from rich.progress import Progress
from soak_server import HANG_SECONDS, Served, served
from soak_world import DAY, HOUR, SITES, START, Fault, World

from incremental.crawl.crawler import Crawler
from incremental.daemon.assembly import make_crawler
from incremental.daemon.daemon import Step
from incremental.daemon.housekeeping import Housekeeping
from incremental.features.messages.notifier import Notifier
from incremental.features.messages.settings import ChannelSettings, MessagesSettings
from incremental.fetch.guard import Endpoint
from incremental.fetch.options import FetchSettings
from incremental.fetch.session import Fetcher
from incremental.interfaces.web.context import Web
from incremental.interfaces.web.server import served as web_served
from incremental.settings import RevisitSettings, Settings
from incremental.settings.sections import WebSettings
from incremental.settings.seeds import SeedTerms, add_seed
from incremental.settings.storage import models_folder, open_configured_store
from incremental.topics.editing import begin
from incremental.topics.training.nightly_training import Learner
from store import Store
from store.database.home import DATABASE
from store.values import VisitRecord

MB = 1_000_000
MONTH_DAYS = 365 / 12
# The daemon asks twice a minute; a year of that would be a million questions about nothing.
MESSAGES_SECONDS = 4 * 3_600.0
# The page cache is walked this often: forty thousand files each day would be most of the work.
CACHE_DAYS = 7
# Of each site's budget: whatever it publishes, and for each story of a mean day.
REQUESTS_PER_DAY, REQUESTS_PER_STORY = 2.0, 2.0
LOCKED_EVERY_DAYS, LOCKED_SECONDS = 15, 1.0
# Added late and removed early, respectively.
LATE_SITE, EARLY_SITE = "market.example", "club.example"
GONE_FROM, GONE_UNTIL = 0.4, 0.5
# The crawler's clock is wrong for a while: from, until (parts of the run), by so many seconds.
WRONG_CLOCK = ((0.25, 0.26, -HOUR), (0.45, 0.452, DAY), (0.7, 0.72, HOUR), (0.8, 0.802, -DAY))
SETTLING_SECONDS = 2 * DAY
FLAT = 0.05
LEVEL = 0.10
PATHS = (
    "",
    "?q=bridge",
    "sites",
    "status",
    "metrics",
    "healthz",
    "feeds/new.atom",
    "api/v1/status",
)
_BLOCK_BYTES = 512
_SIDES = ("-wal", "-journal")


class WrongClock(SimulatedClock):
    """The crawler's clock: the world's time, plus what it is wrong by."""

    def __init__(self, moment: float) -> None:
        super().__init__(moment)
        self.moment = moment
        """The true time, unix seconds."""
        self.off = 0.0

    def now(self) -> float:
        """Return what the clock shows, unix seconds."""
        return self.moment + self.off

    def monotonic(self) -> float:
        """Return the machine's seconds: time-outs of sockets are real."""
        return time.monotonic()

    def real(self, moment: float) -> float:
        """Return *moment* itself."""
        return moment


@dataclass
class Sample:
    """What was measured at the end of a simulated day."""

    day: float
    visits: int
    rss_mb: float
    handles: int
    threads: int
    store_mb: float
    wal_mb: float
    cache_mb: float


@dataclass
class Tally:
    """What the run counts."""

    found: dict[str, bytearray]
    until: float = 0.0
    """When the run ended, unix seconds of simulated time."""
    visits: int = 0
    announced: int = 0
    told_again: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    samples: list[Sample] = field(default_factory=list)


class Soak:
    """One run: the daemon's parts on one store, taken apart and put together again at each restart."""

    def __init__(
        self, world: World, web: Served, folder: Path, *, restart_days: float, topic: bool = True
    ) -> None:
        self._world = world
        self._served = web
        self._folder = folder
        self._restart_days = restart_days
        self._clock = WrongClock(START)
        self._woken = threading.Event()
        self._cache_mb = 0.0
        self._topic = topic
        self.tally = Tally({host: bytearray(len(t)) for host, t in world.times.items()})
        fetch = FetchSettings(
            allowed_networks=("127.0.0.0/8",),
            connect_timeout_seconds=HANG_SECONDS / 2,
            read_timeout_seconds=HANG_SECONDS / 2,
        )
        hook = f"json://127.0.0.1:{web.port}/hook"
        zone = "Europe/Berlin"
        self._settings = msgspec.structs.replace(
            Settings(),
            fetch=fetch,
            web=WebSettings(port=0),
            revisit=RevisitSettings(min_interval_minutes=60),
        )
        self._channels = (
            ChannelSettings("digest", hook, daily_at="08:00", time_zone=zone),
            ChannelSettings("quiet", hook, every_minutes=240, quiet_hours="22:00-07:00"),
        )

    def run(self, progress: Callable[[float], None]) -> Tally:
        """Run to the world's end, or until SIGINT or SIGTERM: then the figures are of the days so far."""
        with contextlib.suppress(KeyboardInterrupt):
            while self._clock.moment < self._world.end:
                with self._life() as (store, crawler, jobs, address):
                    self._live(store, crawler, jobs, address, progress)
                self.tally.faults["restarts"] += self._clock.moment < self._world.end
        self.tally.until = self._clock.moment
        return self.tally

    @contextlib.contextmanager
    def _life(self) -> Iterator[tuple[Store, Crawler, dict[str, Step], str]]:
        """Put the parts together as the command ``run`` does."""
        settings, folder, clock = self._settings, self._folder, self._clock
        with contextlib.ExitStack() as stack:
            store = stack.enter_context(open_configured_store(settings, folder))
            if not store.read.sites():
                self._begin(store)
            fetcher = Fetcher(settings.fetch, clock=clock, resolver=self._resolve)
            stack.callback(fetcher.close)
            visits = stack.enter_context(ThreadPoolExecutor(settings.daemon.workers))
            messages = stack.enter_context(ThreadPoolExecutor(1))
            models = models_folder(settings, folder)
            crawler = make_crawler(
                store,
                settings,
                fetch=fetcher.fetch,
                executor=visits,
                models=models,
                announced=partial(self._announced, store),
            )
            own = msgspec.structs.replace(
                settings, further=(MessagesSettings(channel=self._channels),)
            )
            notifier = Notifier(store, own, clock, executor=messages)
            jobs: dict[str, Step] = {
                "housekeeping": Housekeeping(store, settings).step,
                "learning": Learner(store, models, settings.hubs.retrain_labels).step,
                "messages": notifier.step,
                "topics": partial(_catch_up, crawler),
            }
            address = stack.enter_context(web_served(Web(settings, folder, clock, store)))
            crawler.load(clock.now())
            notifier.begin(clock.now())
            yield store, crawler, jobs, address
            while not crawler.idle:
                self._wait()
                crawler.drain(clock.now())
            notifier.settle(clock.now)

    def _begin(self, store: Store) -> None:
        for host in self._world.sites:
            if host != LATE_SITE:
                self._add(store, host)
        if not self._topic:
            return
        words = ("energy", "climate", "solar", "wind", "能源", "气候")
        begin(store, "energy", examples=(), keywords=words, now=START)

    def _add(self, store: Store, host: str) -> None:
        """Watch a site, with a budget that fits what it publishes."""
        stories = self._world.sites[host].per_day
        budget = REQUESTS_PER_DAY + REQUESTS_PER_STORY * stories
        terms = SeedTerms(requests_per_day=budget)
        add_seed(store, f"http://{host}/", now=self._clock.now(), terms=terms)

    def _live(
        self,
        store: Store,
        crawler: Crawler,
        jobs: dict[str, Step],
        address: str,
        progress: Callable[[float], None],
    ) -> None:
        """Step until the next restart or the end."""
        clock, end = self._clock, self._world.end
        until = min(end, clock.moment + (self._restart_days or float("inf")) * DAY)
        # In true time, so that a wrong clock stops nothing here; the daemon's scheduler does the same.
        due = dict.fromkeys(jobs, clock.moment)
        while clock.moment < until:
            self._served.set_time(clock.moment)
            self._woken.clear()
            wake_at = crawler.step(clock.now(), self._woken.set) - clock.off
            if not crawler.idle:
                self._wait()
                continue
            for name, step in jobs.items():
                if due[name] <= clock.moment:
                    again = step(clock.now()) - clock.off
                    due[name] = max(again, clock.moment + MESSAGES_SECONDS)
            day = self._day_ends_at(clock.moment)
            clock.moment = max(min(wake_at, *due.values(), day, until), clock.moment)
            if clock.moment >= day:
                self._day_ends(store, crawler, address)
                progress((clock.moment - START) / (end - START))

    def _wait(self) -> None:
        """Wait for a visit under way: meanwhile the time stands still."""
        self._woken.wait(0.05)

    def _day_ends_at(self, moment: float) -> float:
        done = len(self.tally.samples)
        return max(START + (done + 1) * DAY, moment)

    def _day_ends(self, store: Store, crawler: Crawler, address: str) -> None:
        day = len(self.tally.samples) + 1
        self._change_watched(store, crawler)
        self._set_clock()
        for path in PATHS[day % 2 :: 2]:
            with urllib.request.urlopen(address + path) as answer:  # noqa: S310 - our own server
                answer.read()
        if day % CACHE_DAYS == 1:
            self._age_bodies()
        if day % LOCKED_EVERY_DAYS == 0:
            self._lock()
        self.tally.samples.append(self._measured(day))

    def _change_watched(self, store: Store, crawler: Crawler) -> None:
        """Remove a site and add it again, and one that was not watched at first."""
        part = (self._clock.moment - START) / (self._world.end - START)
        watched = {row.seed_url: row.id for row in store.read.sites()}
        early, late = f"http://{EARLY_SITE}/", f"http://{LATE_SITE}/"
        if early in watched and GONE_FROM <= part < GONE_UNTIL:
            store.write.remove_site(watched[early])
            self.tally.faults["sites removed"] += 1
        elif EARLY_SITE in self._world.sites and early not in watched and part >= GONE_UNTIL:
            self._add(store, EARLY_SITE)
        elif LATE_SITE in self._world.sites and late not in watched and part >= 1 / 12:
            self._add(store, LATE_SITE)
        else:
            return
        crawler.load(self._clock.now())

    def _set_clock(self) -> None:
        part = (self._clock.moment - START) / (self._world.end - START)
        off = sum(by for since, until, by in WRONG_CLOCK if since <= part < until)
        self.tally.faults["clock changes"] += off != self._clock.off
        self._clock.off = off

    def _lock(self) -> None:
        """Let another process's transaction hold the store while the crawler goes on."""
        holder = sqlite3.connect(self._database, check_same_thread=False)
        holder.execute("BEGIN IMMEDIATE")
        threading.Timer(LOCKED_SECONDS, holder.close).start()
        self.tally.faults["store locked"] += 1

    def _age_bodies(self) -> None:
        """Give the bodies written lately the simulated time, for what is forgotten by age; add them up."""
        now, size = self._clock.now(), 0
        for path in self._cache.rglob("*.*"):
            known = path.stat()
            size += known.st_blocks * _BLOCK_BYTES
            if known.st_mtime > self._world.end + 30 * DAY:
                os.utime(path, (now, now))
        self._cache_mb = size / MB

    def _resolve(self, host: str, _port: int) -> list[Endpoint]:
        """Resolve every name to the world's server."""
        if self._world.fault(host, self._clock.moment) is Fault.NO_NAME:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return [Endpoint(socket.AF_INET, ("127.0.0.1", self._served.port))]

    def _announced(self, store: Store, record: VisitRecord, pages: Sequence[int]) -> None:
        tally = self.tally
        tally.visits += 1
        tally.statuses[record.status] += 1
        for url in store.read.urls(pages):
            tally.announced += 1
            story = self._world.story(url)
            if story is not None:
                host, number = story
                tally.told_again += tally.found[host][number]
                tally.found[host][number] = 1

    # Measuring.

    @property
    def _database(self) -> Path:
        return self._folder / self._settings.store.folder / DATABASE

    @property
    def _cache(self) -> Path:
        return self._folder / self._settings.store.folder / "pages"

    def _measured(self, day: float) -> Sample:
        gc.collect()
        _trim()
        path = self._database
        sides = [path.with_name(path.name + side) for side in _SIDES]
        return Sample(
            day,
            self.tally.visits,
            rss_mb(os.getpid()),
            len(list(Path("/proc/self/fd").iterdir())),
            len(list(Path("/proc/self/task").iterdir())),
            path.stat().st_size / MB,
            sum(side.stat().st_size for side in sides if side.exists()) / MB,
            self._cache_mb,
        )


def _catch_up(crawler: Crawler, now: float) -> float:
    """Judge what is older than a topic."""
    while crawler.topics.catch_up(now):
        pass
    return now + DAY


def _trim() -> None:
    """Give free memory back, where the C library can."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def slope(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return the median of the slopes between all pairs of points (Theil 1950, Sen 1968)."""
    pairs = itertools.combinations(zip(xs, ys, strict=True), 2)
    return statistics.median((y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in pairs if x2 != x1)


def report(tally: Tally, world: World, told: Counter[str]) -> dict[str, Any]:
    """Return the figures of a run."""
    samples = tally.samples
    tenth = max(len(samples) // 10, 1)
    rest = samples[tenth:] or samples
    last = samples[-max(len(samples) // 20, 1) :]
    begun = samples[tenth : tenth + len(last)] or last

    def middle(rows: Sequence[Sample], name: str) -> float:
        return float(statistics.median(getattr(row, name) for row in rows))

    tenth_mb, end_mb = middle(begun, "rss_mb"), middle(last, "rss_mb")
    growth = end_mb / tenth_mb - 1
    ends = range(1, int(len(samples) / MONTH_DAYS + 1e-6) + 1)
    months = [samples[min(int(month * MONTH_DAYS), len(samples)) - 1] for month in ends]
    three_quarters = samples[len(samples) * 3 // 4 - 1].store_mb
    last_quarter = samples[-1].store_mb / three_quarters - 1
    published, found = _counted(tally, world)
    held = {
        "memory": growth <= FLAT,
        "store": last_quarter <= LEVEL,
        "handles": middle(last, "handles") <= middle(begun, "handles") + 2,
        "threads": middle(last, "threads") <= middle(begun, "threads") + 2,
        "told once": tally.told_again == 0,
    }
    per_day = slope([row.day for row in rest], [row.rss_mb for row in rest])
    visits = tally.visits
    return {
        "days": len(samples),
        "sites": len(world.sites),
        "visits": visits,
        "published": published,
        "found": found,
        "announced": tally.announced,
        "announced_twice": tally.told_again,
        "messages_about": len(told),
        "rss_slope_mb_per_day": round(per_day, 4),
        "rss_slope_mb_per_1000_visits": round(per_day * len(samples) / visits * 1_000, 4),
        "rss_start_mb": round(samples[0].rss_mb, 1),
        "rss_tenth_mb": round(tenth_mb, 1),
        "rss_end_mb": round(end_mb, 1),
        "rss_growth": round(growth, 4),
        "handles_start": middle(begun, "handles"),
        "handles_end": middle(last, "handles"),
        "threads_start": middle(begun, "threads"),
        "threads_end": middle(last, "threads"),
        "store_mb_by_month": [round(row.store_mb, 2) for row in months],
        "store_last_quarter_growth": round(last_quarter, 4),
        "wal_mb_max": round(max(row.wal_mb for row in samples), 2),
        "cache_mb_by_month": [round(row.cache_mb, 2) for row in months],
        "statuses": dict(tally.statuses.most_common()),
        "faults": dict(tally.faults),
        "held": held,
    }


def _counted(tally: Tally, world: World) -> tuple[int, int]:
    """Return how many stories came while their site was watched, and how many of them were announced."""
    published = found = 0
    span = world.end - START
    for host, times in world.times.items():
        since = START + (span / 12 + DAY if host == LATE_SITE else 0.0)
        flags = tally.found[host]
        for number, at in enumerate(times):
            gone = (
                host == EARLY_SITE
                and GONE_FROM <= (at - START) / span < GONE_UNTIL + 2 * DAY / span
            )
            if since + DAY <= at < tally.until - SETTLING_SECONDS and not gone:
                published += 1
                found += flags[number]
    return published, found


def _panels(samples: Sequence[Sample]) -> list[Panel]:
    """Return memory, and store and page cache, over the days."""
    days = [row.day for row in samples]
    disk = {"store": "store_mb", "page cache": "cache_mb", "write-ahead log": "wal_mb"}
    lines = {name: (days, [getattr(row, key) for row in samples]) for name, key in disk.items()}
    memory = {"memory (RSS)": (days, [row.rss_mb for row in samples])}
    return [Panel(memory, y="MB"), Panel(lines, x="simulated days", y="MB")]


def main() -> int:
    """Run from the command line; exit 0, or 1 if something did not hold."""
    parser = parser_of(__doc__)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument(
        "--restart-days", type=float, default=28.0, metavar="N", help="0 = never (default: 28)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="30 days of two sites")
    parser.add_argument("--chart", type=Path, metavar="PNG")
    options = parser.parse_args()
    if options.quick:
        options.days, options.restart_days = 30, 10.0
    logging.basicConfig(level=logging.ERROR)
    began = time.perf_counter()
    world = World(options.seed, options.days, 2 if options.quick else len(SITES))
    console = Console(stderr=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.ExitStack() as stack:
        temporary = stack.enter_context(tempfile.TemporaryDirectory(prefix="hubwatch-soak-"))
        web = stack.enter_context(served(world))
        bar = stack.enter_context(Progress(console=console, disable=not console.is_terminal))
        task = bar.add_task("simulated time", total=1.0)
        soak = Soak(world, web, Path(temporary), restart_days=options.restart_days)
        tally = soak.run(lambda share: bar.update(task, completed=share))
        result = report(tally, world, web.told())
    result["wall_seconds"] = round(time.perf_counter() - began, 1)
    if options.chart:
        plot(_panels(tally.samples), options.chart)
    show(result)
    print_json(options, result)
    return 0 if all(result["held"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
