"""Crawling the lists of a load server as quickly as it goes, with meters outside of the crawler."""

from __future__ import annotations

import contextlib
import os
import resource
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from incremental.base.clock import SystemClock
from incremental.base.urls import canonical_key
from incremental.crawl import crawler as crawler_module
from incremental.crawl.crawler import Crawler
from incremental.crawl.facts import FactReader
from incremental.daemon.assembly import make_crawler, make_fetcher
from incremental.sandbox.process import ReaderLimits, ReaderPool
from incremental.settings import Settings
from incremental.settings.seeds import add_seed
from incremental.visit.engines.elsewhere import make_elsewhere
from lab.load_server import LoadServer
from store import Store, open_store
from store.database import statements
from store.database.statements import run_many
from store.enums import HubKind, HubRole
from store.values import NewHub, SeenLink, VisitRecord

WORKERS = 16
# A phase that comes to nothing ends after this long.
_MOST_SECONDS = 1_800.0
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
    articles: int = 0
    """Visits of other pages than lists, in that time."""
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


def rss_mb(pid: int) -> float:
    """Return the memory of a process in megabytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def addresses_of(server: LoadServer, pages: int, hosts: int) -> Iterator[list[str]]:
    """Yield the addresses of each host's lists, its home page first."""
    for number in range(hosts):
        count = pages // hosts + (number < pages % hosts)
        yield [server.url(number, str(section - 1) if section else "") for section in range(count)]


def add_lists(  # noqa: PLR0913 - which lists, and as what
    store: Store,
    server: LoadServer,
    pages: int,
    hosts: int,
    role: HubRole,
    *,
    without: frozenset[str] = frozenset(),
) -> set[int]:
    """Add *pages* lists on *hosts* sites, but those of *without*; return their ids."""
    now, added = time.time(), set[int]()
    for home, *others in addresses_of(server, pages, hosts):
        site_id = add_seed(store, home, now=now)
        store.write.update_site(site_id, probed_at=now)
        hub = NewHub(HubKind.HTML, role, 1.0, "given by you", now)
        links = [SeenLink(canonical_key(url), url, hub=hub) for url in others if url not in without]
        added |= set(store.write.add_pages(site_id, links, now=now).values())
        if role is HubRole.USER:
            added.add(store.read.known(site_id, [canonical_key(home)])[canonical_key(home)].id)
    return added


def crawl(world: Crawling, wanted: int, tick: Callable[[int], None]) -> Phase:
    """Crawl until *wanted* lists were visited."""
    crawler, meters, visits = world.crawler, world.meters, world.visits
    woken, began = threading.Event(), time.monotonic()
    visits.count.clear()
    visits.announced, visits.articles, before = 0, 0, meters.statements
    own, readers = meters.cpu_seconds()
    meters.spent.clear()
    while visits.total < wanted and time.monotonic() - began < _MOST_SECONDS:
        woken.clear()
        wake_at = crawler.step(world.now(), woken.set)
        tick(visits.total)
        if visits.total < wanted:
            woken.wait(min(max(wake_at - world.now(), 0.0), 1.0))
    phase = Phase(0, time.monotonic() - began, visits.total, articles=visits.articles)
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
    """Recorded visits to lists, by status."""

    def __init__(self) -> None:
        self.lists: set[int] = set()
        self.count: Counter[str] = Counter()
        self.announced = 0
        self.articles = 0

    @property
    def total(self) -> int:
        """How many."""
        return self.count.total()

    def note(self, record: VisitRecord, announced: Sequence[int]) -> None:
        """Count a visit; see :data:`incremental.crawl.crawler.Announced`."""
        if record.page_id in self.lists:
            self.count[record.status] += 1
            self.announced += len(announced)
        else:
            self.articles += 1


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


@dataclass(frozen=True)
class Setup:
    """What a crawler runs on."""

    engine: str = "threads"
    database: str = ""
    """An empty one; empty = a new file."""


HERE = Setup()


@contextlib.contextmanager
def crawling(folder: Path, settings: Settings, setup: Setup = HERE) -> Iterator[Crawling]:
    """Yield a crawler as the daemon makes it, in *folder*."""
    with contextlib.ExitStack() as stack:
        place = setup.database or str(folder / "hubwatch.sqlite")
        engine = msgspec.structs.replace(settings.engine, kind=setup.engine)
        settings = msgspec.structs.replace(settings, engine=engine)
        elsewhere = stack.enter_context(make_elsewhere(settings, SystemClock()))
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
            elsewhere=elsewhere,
            read=readers.read,
            announced=visits.note,
        )
        yield Crawling(store, crawler, Meters(crawler, store, readers), readers, visits)
