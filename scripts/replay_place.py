"""Where a replay's visits run: below requests in this process, or over HTTP on one of the engines.

Below requests, the recording answers at the simulated time without a server. Engines need one: it answers at
the simulated time as well, which stands still while visits run. So what is found, and when, does not
depend on the engine; addresses are those of the server.
"""

import contextlib
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import get_args
from urllib.parse import urlsplit

import msgspec
from lab.clocks import SimulatedClock
from replay_site import ReplayAdapter, ReplaySite
from serve_replay import serve

from incremental.base.clock import SystemClock
from incremental.base.threads import InlineExecutor
from incremental.crawl.crawler import Crawler
from incremental.daemon.assembly import make_crawler, make_fetcher
from incremental.fetch.status import Request, Response
from incremental.settings import Settings
from incremental.settings.sections import EngineKind, EngineSettings
from incremental.settings.seeds import add_seed
from incremental.visit.engines.elsewhere import Elsewhere, make_elsewhere
from store import Store, open_store

ENGINES = get_args(EngineKind)
STORES = ("sqlite", "postgres")
_LOOPBACK = "127.0.0.0/8"
_WORKERS = 2
# Of an engine that has nobody to give visits to.
_ASKED_AGAIN_SECONDS = 0.05

Fetch = Callable[[Request], Response]


@dataclass(frozen=True)
class Setup:
    """What a replay runs on."""

    engine: EngineKind | None = None
    """One of ``ENGINES``; None = below requests."""
    store: str = STORES[0]
    port: int = 0
    """Of the recording's server, if there is one; 0 = any."""


@dataclass(frozen=True)
class Place:
    """A recording that can be crawled."""

    url: str
    """Where it begins."""
    settings: Settings
    fetch: Fetch
    executor: Executor
    elsewhere: Elsewhere | None = None
    """Outside of this process."""
    port: int = 0
    """0 = no server."""

    def recorded(self, url: str, site: ReplaySite) -> str:
        """Return an address as it was recorded."""
        here = f"http://127.0.0.1:{self.port}"
        if not self.port or not url.startswith(here):
            return url
        return "{0.scheme}://{0.netloc}".format(urlsplit(site.base_url)) + url[len(here) :]

    def step(self, crawler: Crawler, clock: SimulatedClock) -> float:
        """Do what is due, and wait until it is done; return when to call again."""
        ready = threading.Event()
        while True:
            ready.clear()
            wake_at = crawler.step(clock.now(), ready.set)
            if not crawler.idle:
                ready.wait()
            elif self.elsewhere is not None and not self.elsewhere.report().workers:
                ready.wait(_ASKED_AGAIN_SECONDS)
            else:
                return wake_at


@contextlib.contextmanager
def place_of(
    site: ReplaySite,
    settings: Settings,
    clock: SimulatedClock,
    setup: Setup,
    asked: Callable[[str, int], None],
) -> Iterator[Place]:
    """Yield where *site* can be crawled; *asked* is told address and code of each request to a server."""
    engine = setup.engine
    if engine is None:
        # A site inside a network can be recorded; the recording alone answers.
        hosts = settings.fetch.allowed_hosts | {urlsplit(site.base_url).netloc}
        settings = msgspec.structs.replace(
            settings, fetch=msgspec.structs.replace(settings.fetch, allowed_hosts=hosts)
        )
        fetch = make_fetcher(settings, clock, adapter=ReplayAdapter(site, clock)).fetch
        yield Place(site.base_url, settings, fetch, InlineExecutor())
        return
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(serve(site, clock.now, setup.port, asked=asked))
        address = stack.enter_context(_cluster()) if engine == "dask" else ""
        here = msgspec.structs.replace(
            settings,
            fetch=msgspec.structs.replace(settings.fetch, allowed_networks=(_LOOPBACK,)),
            engine=EngineSettings(engine, address, processes=_WORKERS),
            daemon=msgspec.structs.replace(settings.daemon, workers=_WORKERS),
        )
        elsewhere = stack.enter_context(make_elsewhere(here, SystemClock()))
        threads = stack.enter_context(ThreadPoolExecutor(_WORKERS))
        fetch = make_fetcher(here, SystemClock()).fetch
        yield Place(url, here, fetch, threads, elsewhere, urlsplit(url).port or 0)


@contextlib.contextmanager
def _cluster() -> Iterator[str]:
    from lab.dask_cluster import DaskCluster  # noqa: PLC0415 - an extra

    with (
        tempfile.TemporaryDirectory(prefix="hubwatch-dask-") as folder,
        DaskCluster(Path(folder)) as cluster,
    ):
        for _ in range(_WORKERS):
            cluster.start_worker()
        cluster.wait_for(_WORKERS)
        yield cluster.address


@contextlib.contextmanager
def crawling(
    site: ReplaySite,
    settings: Settings,
    clock: SimulatedClock,
    begin: Callable[[Store], object] | None = None,
) -> Iterator[tuple[Store, Callable[[], float]]]:
    """Yield a store in which *site* is watched, and its crawler's step, which returns when to call again.

    *begin* puts into the store what is watched; None = the site's address.
    """
    with (
        tempfile.TemporaryDirectory(prefix="hubwatch-crawl-") as folder,
        store_of(STORES[0], Path(folder)) as store,
        place_of(site, settings, clock, Setup(), lambda *_: None) as place,
    ):
        if begin is None:
            add_seed(store, place.url, now=clock.now(), fetch=settings.fetch)
        else:
            begin(store)
        crawler = make_crawler(store, settings, fetch=place.fetch, executor=place.executor)
        crawler.load(clock.now())
        yield store, lambda: place.step(crawler, clock)


@contextlib.contextmanager
def store_of(kind: str, folder: Path) -> Iterator[Store]:
    """Yield an empty store, one of ``STORES``, with its cache in *folder*."""
    with contextlib.ExitStack() as stack:
        where = str(folder / "replay.sqlite")
        if kind == "postgres":
            from lab.postgres_server import PostgresServer  # noqa: PLC0415 - an extra

            where = stack.enter_context(PostgresServer()).url
        yield stack.enter_context(open_store(where, cache_folder=folder / "pages"))
