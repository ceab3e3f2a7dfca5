#!/usr/bin/env python3
"""Crawl hundreds of loopback hosts as quickly as the machine can, and Scrapy after it.

    scripts/bench_throughput.py --pages 2000 --hosts 200 --peer scrapy --json

A server in a process of its own has lists of 50 links (18 kB, with ETags) on many loopback addresses. We
crawl with everything that the daemon has: robots.txt obeyed, links canonicalised and judged by the URL
SVM, every visit a transaction on disk, new pages announced. Each list is visited four times::

    first       never read before; all its links are stored
    unchanged   answered 304
    same_links  without ETag; the body differs, its links do not
    changed     three of its fifty links are new, and are announced

Lists are given as a user gives them, and pages are not read for their text: a visit is one list.
``first_readings`` are lists that nobody gave; each is also read for its text, to tell it from an article.

Scrapy obeys robots.txt, extracts the links, and writes each once into SQLite; a page is a transaction.
Beside ``same_links`` it reads the lists again, with the links it has. It
needs an environment of its own: it depends on a package with the same name as one of ours.

first_visits_per_second, ...  visits of lists by the wall clock, robots.txt included
cpu_ms_first, ...             processor time of a visit, readers included, server not
statements_per_visit          SQL statements of all four visits; a batch of rows is one, BEGIN none
peak_rss_mb                   of this process; readers_rss_mb: of its readers together
ratio_first, ...              visits a second, over Scrapy's pages a second
rooms                         processor milliseconds of a first visit, by what they go to
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, not installed

from lab.arguments import parser_of, print_json, whole_number
from lab.load_server import LoadServer
from lab.peer_environment import peer_python
from lab.printing import show
from rich.console import Console
from rich.progress import Progress

from incremental.base.clock import SystemClock
from incremental.base.urls import canonical_key
from incremental.crawl import crawler as crawler_module
from incremental.crawl.crawler import Crawler
from incremental.crawl.facts import FactReader
from incremental.daemon.assembly import make_crawler, make_fetcher
from incremental.fetch.status import FetchStatus
from incremental.sandbox.pool import ReaderPool
from incremental.sandbox.process import ReaderLimits
from incremental.settings import Settings
from incremental.settings.loading import build_settings
from incremental.settings.seeds import add_seed
from store import Store, open_store
from store.database import statements
from store.database.statements import run_many
from store.enums import HubKind, HubRole
from store.values import NewHub, SeenLink, VisitRecord

WORKERS = 16
_SCRAPY = "scrapy==2.19.*"
# Each with the generation and the printing of its lists.
_PHASES = {"first": (0, 0), "unchanged": (0, 0), "same_links": (0, 1), "changed": (1, 0)}
# A phase that comes to nothing ends after this long.
_MOST_SECONDS = 1_800.0
# Between two visits of a list the clock is put forward by this: longer than the longest interval.
_LATER_SECONDS = 1_800.0
_STAGGERED_SECONDS = 60.0
SETTINGS: dict[str, Any] = {
    "fetch": {"allowed_networks": ["127.0.0.0/8"]},
    "revisit": {
        "requests_per_day": 1e9,
        "min_interval_minutes": 10,
        "max_interval_hours": 0.25,
    },
    "news": {"max_per_day": 1_000_000, "verify_share": 0},
    "refresh": {"share": 0},
    "daemon": {"workers": WORKERS},
}


@dataclass
class Phase:
    """One visit of every list."""

    visits: int
    seconds: float
    """Until all but those under way were recorded."""
    in_time: int
    """Visits of those seconds."""
    statements: int = 0
    announced: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    rooms: dict[str, float] = field(default_factory=dict)
    """Processor seconds."""

    def per_visit(self, total: float) -> float:
        """Return *total* over the visits."""
        return total / max(self.visits, 1)


class Meters:
    """Counts statements and processor time by room, from outside."""

    def __init__(self, crawler: Crawler, store: Store, readers: ReaderPool) -> None:
        self._readers = readers
        self.spent: defaultdict[str, float] = defaultdict(float)
        self.statements = 0
        database: Any = store.database
        execute = database.execute_sql

        def counted(sql: str, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - peewee's own
            self.statements += not sql.startswith(("BEGIN", "COMMIT"))
            return execute(sql, *arguments, **options)

        def counted_many(database: Any, sql: str, rows: Sequence[Any]) -> None:  # noqa: ANN401 - likewise
            self.statements += len(rows) > 1  # a batch; one row goes the other way
            run_many(database, sql, rows)

        database.execute_sql = counted
        statements.run_many = counted_many
        self._time(FactReader, "ask", "judge")
        self._time(crawler_module, "decide", "judge")
        self._time(crawler.topics, "opinion", "judge")
        self._time(store.write, "visit", "record")
        self._time(crawler, "step", "step")
        self._time(crawler, "drain", "step")

    def _time(self, owner: Any, name: str, room: str) -> None:  # noqa: ANN401 - a part of the crawler
        inner: Callable[..., Any] = getattr(owner, name)

        def timed(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - the part's own
            began = time.thread_time()
            try:
                return inner(*arguments, **options)
            finally:
                self.spent[room] += time.thread_time() - began

        setattr(owner, name, timed)

    def cpu_seconds(self) -> tuple[float, float]:
        """Return the processor time of this process and of its readers, ended ones included."""
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        alive = sum(map(_process_seconds, self._readers.pids))
        return time.process_time(), alive + ended.ru_utime + ended.ru_stime


def _process_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _rss_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _addresses(server: LoadServer, pages: int, hosts: int) -> Iterator[list[str]]:
    """Yield the addresses of each host's lists, its home page first."""
    for number in range(hosts):
        count = pages // hosts + (number < pages % hosts)
        yield [server.url(number, str(section - 1) if section else "") for section in range(count)]


def add_lists(store: Store, server: LoadServer, pages: int, hosts: int, role: HubRole) -> set[int]:
    """Add *pages* lists on *hosts* sites; return their ids."""
    now, added = time.time(), set[int]()
    for home, *others in _addresses(server, pages, hosts):
        site_id = add_seed(store, home, now=now)
        store.write.update_site(site_id, probed_at=now)
        hub = NewHub(HubKind.HTML, role, 1.0, "given by you", now)
        links = [SeenLink(canonical_key(url), url, hub=hub) for url in others]
        added |= set(store.write.add_pages(site_id, links, now=now).values())
        if role is HubRole.USER:
            added.add(store.read.known(site_id, [canonical_key(home)])[canonical_key(home)].id)
    return added


def crawl(world: Crawling, wanted: int, tick: Callable[[int], None]) -> Phase:
    """Crawl until *wanted* lists were visited."""
    crawler, meters, visits = world.crawler, world.meters, world.visits
    woken, began = threading.Event(), time.monotonic()
    visits.count.clear()
    visits.announced, before = 0, meters.statements
    own, readers = meters.cpu_seconds()
    meters.spent.clear()
    while visits.total < wanted and time.monotonic() - began < _MOST_SECONDS:
        woken.clear()
        wake_at = crawler.step(world.now(), woken.set)
        tick(visits.total)
        if visits.total < wanted:
            woken.wait(min(max(wake_at - world.now(), 0.0), 1.0))
    phase = Phase(0, time.monotonic() - began, visits.total)
    while not crawler.idle and time.monotonic() - began < _MOST_SECONDS:
        crawler.drain(world.now())
        woken.wait(0.01)
    phase.visits, phase.statements = visits.total, meters.statements - before
    after, after_readers = meters.cpu_seconds()
    spent = meters.spent
    phase.announced, phase.statuses = visits.announced, dict(visits.count)
    phase.rooms = {
        "fetch": after - own - spent["step"],
        "parse": after_readers - readers,
        "judge": spent["judge"],
        "record": spent["record"],
        "schedule": spent["step"] - spent["judge"] - spent["record"],
    }
    return phase


class Visits:
    """The visits of lists that the crawler recorded, by status."""

    def __init__(self) -> None:
        self.lists: set[int] = set()
        self.count: Counter[str] = Counter()
        self.announced = 0

    @property
    def total(self) -> int:
        """How many."""
        return self.count.total()

    def note(self, record: VisitRecord, announced: Sequence[int]) -> None:
        """Count a visit; see :data:`incremental.crawl.crawler.Announced`."""
        if record.page_id in self.lists:
            self.count[record.status] += 1
            self.announced += len(announced)


@dataclass
class Crawling:
    """A crawler at work."""

    store: Store
    crawler: Crawler
    meters: Meters
    readers: ReaderPool
    visits: Visits
    offset: float = 0.0
    """Seconds that the crawler's clock is ahead."""

    def now(self) -> float:
        """Return the crawler's time."""
        return time.time() + self.offset


@contextlib.contextmanager
def crawling(folder: Path, settings: Settings, database: str = "") -> Iterator[Crawling]:
    """Yield a crawler as the daemon makes it, on an empty *database*, or on a new file in *folder*."""
    with contextlib.ExitStack() as stack:
        place = database or str(folder / "hubwatch.sqlite")
        store = stack.enter_context(open_store(place, cache_folder=folder / "pages"))
        fetcher = make_fetcher(settings, SystemClock())
        stack.callback(fetcher.close)
        threads = stack.enter_context(ThreadPoolExecutor(settings.daemon.workers))
        readers = stack.enter_context(ReaderPool(min(os.cpu_count() or 1, 4), ReaderLimits()))
        visits = Visits()
        crawler = make_crawler(
            store,
            settings,
            fetch=fetcher.fetch,
            executor=threads,
            read=readers.read,
            announced=visits.note,
        )
        yield Crawling(store, crawler, Meters(crawler, store, readers), readers, visits)


def measure(  # noqa: PLR0913 - where, and what is told of it
    pages: int,
    hosts: int,
    role: HubRole,
    tick: Callable[[str, int], None],
    *,
    database: str = "",
    between: Callable[[], object] = lambda: None,
) -> tuple[dict[str, Phase], dict[str, float]]:
    """Visit every list four times; return the visits, and megabytes of memory.

    On SQLite, or on the empty *database*. *between* is called before, between and after the phases.
    """
    phases: dict[str, Phase] = {}
    settings = build_settings(SETTINGS)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hubwatch-speed-")))
        server = stack.enter_context(LoadServer())
        world = stack.enter_context(crawling(folder, settings, database))
        world.visits.lists |= add_lists(world.store, server, pages, hosts, role)
        crawler = world.crawler
        # The first requests after a start are spread over a minute, which has passed by now.
        crawler.load(time.time() - _STAGGERED_SECONDS)
        between()
        for number, (name, shown) in enumerate(_PHASES.items()):
            server.change(*shown)
            world.offset = number * _LATER_SECONDS
            phases[name] = crawl(world, len(world.visits.lists), partial(tick, name))
            between()
            if role is not HubRole.USER:
                break
        memory = {
            "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "readers_rss_mb": sum(map(_rss_mb, world.readers.pids)),
        }
    return phases, memory


def report(
    phases: dict[str, Phase], memory: dict[str, float], readings: Phase | None
) -> dict[str, Any]:
    """Return the figures of our visits."""
    ours: dict[str, Any] = {}
    for name, one in phases.items():
        key = "first_visits_per_second" if name == "first" else f"{name}_per_second"
        ours[key] = one.in_time / one.seconds
    for name, one in phases.items():
        ours[f"cpu_ms_{name}"] = 1000 * one.per_visit(sum(one.rooms.values()))
    ours |= memory
    total = sum(one.visits for one in phases.values())
    ours["statements_per_visit"] = sum(one.statements for one in phases.values()) / total
    ours["statements"] = {name: one.per_visit(one.statements) for name, one in phases.items()}
    ours["visits"] = {name: one.statuses for name, one in phases.items()}
    ours["announced"] = phases["changed"].announced
    if readings is not None:
        ours["first_readings_per_second"] = readings.in_time / readings.seconds
        ours["cpu_ms_first_reading"] = 1000 * readings.per_visit(sum(readings.rooms.values()))
    rooms = {
        name: {room: 1000 * one.per_visit(spent) for room, spent in one.rooms.items()}
        for name, one in phases.items()
    }
    return {"ours": ours, "rooms": rooms["first"], "rooms_by_visit": rooms}


def scrapy(pages: int, hosts: int) -> dict[str, dict[str, float]]:
    """Let Scrapy read the same lists: ``first``, then ``same_links``, of the next printing."""
    python = peer_python("scrapy", _SCRAPY)
    script = Path(__file__).with_name("lab") / "scrapy_peer.py"
    read: dict[str, dict[str, float]] = {}
    with LoadServer() as server, tempfile.TemporaryDirectory(prefix="hubwatch-peer-") as folder:
        addresses = Path(folder) / "addresses.txt"
        addresses.write_text(
            "\n".join(itertools.chain(*_addresses(server, pages, hosts))), encoding="utf-8"
        )
        for name in ("first", "same_links"):
            server.change(*_PHASES[name])
            done = subprocess.run(  # noqa: S603 - our script
                [python, str(script), str(addresses), str(WORKERS), f"{folder}/links.sqlite"],
                check=True,
                stdout=subprocess.PIPE,
                text=True,
                # Ours would stand in for the package of the same name that Scrapy needs.
                env={name: text for name, text in os.environ.items() if name != "PYTHONPATH"},
            )
            answer = json.loads(done.stdout.splitlines()[-1])
            read[name] = {
                "pages_per_second": answer["pages"] / answer["seconds"],
                "cpu_ms": 1000 * answer["cpu_seconds"] / answer["pages"],
            }
    return read


def main() -> int:
    """Measure; 0 = every list was visited as it should be."""
    parser = parser_of(__doc__)
    parser.add_argument("--pages", type=whole_number, default=2_000, help="lists in all")
    parser.add_argument("--hosts", type=whole_number, default=200, help="loopback addresses")
    parser.add_argument("--peer", choices=["scrapy"], help="measure it in the same run")
    arguments = parser.parse_args()
    pages, hosts = arguments.pages, arguments.hosts
    if not 1 <= hosts <= pages:
        parser.error("--hosts: at least 1, and at most as many as --pages")
    console = Console(stderr=arguments.json)
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("visits", total=pages)

        def tick(name: str, done: int) -> None:
            bar.update(task, completed=done, description=name)

        phases, memory = measure(pages, hosts, HubRole.USER, tick)
        readings = None
        if pages > hosts:
            found, _ = measure(pages, hosts, HubRole.LIST, tick)
            readings = found["first"]
    answer = report(phases, memory, readings)
    if arguments.peer:
        answer["scrapy"] = scrapy(pages, hosts)
        for name, one in phases.items():
            peer = answer["scrapy"].get(name, answer["scrapy"]["first"])
            answer[f"ratio_{name}"] = one.in_time / one.seconds / peer["pages_per_second"]
    show(answer, console=console)
    print_json(arguments, answer)
    return 0 if _as_named(phases, pages) else 1


def _as_named(phases: dict[str, Phase], pages: int) -> bool:
    """Whether every visit was what its phase is called."""
    wanted = {"first": FetchStatus.FETCHED, "unchanged": FetchStatus.NOT_MODIFIED}
    return all(
        phases[name].statuses == {wanted.get(name, FetchStatus.FETCHED): pages} for name in _PHASES
    )


if __name__ == "__main__":
    sys.exit(main())
