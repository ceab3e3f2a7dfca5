"""From settings to a crawler: the one place that wires the parts together."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from incremental.base.clock import Clock, SystemClock
from incremental.base.threads import cores, one_thread_for_arithmetic
from incremental.settings import Settings

if TYPE_CHECKING:
    from requests.adapters import BaseAdapter

    from incremental.crawl.crawler import Announced, Crawler
    from incremental.crawl.first_look import FirstLook
    from incremental.crawl.part import Part
    from incremental.decide.hubs import HubScorer
    from incremental.fetch.session import Fetcher
    from incremental.sandbox import Read
    from incremental.topics.embedding.page_embedder import PageEmbedder
    from incremental.topics.model_store import TopicModelStore
    from incremental.visit.engines.elsewhere import Elsewhere
    from incremental.visit.host_gate import HostGate
    from incremental.visit.visit import Fetch
    from incremental.visit.ways.visiting import Renderer
    from store import Store

# Each takes 72 MB when it has started, and more than there are processors read nothing sooner.
MAX_AUTO_WORKERS = 4


def make_fetcher(
    settings: Settings, clock: Clock, *, adapter: BaseAdapter | None = None
) -> Fetcher:
    """Make the one egress. *adapter* replaces the network below requests (replays, tests)."""
    from incremental.fetch.session import Fetcher  # noqa: PLC0415 - the network, for what fetches

    return Fetcher(settings.fetch, clock=clock, adapter=adapter, sites=settings.accesses)


def make_crawler(  # noqa: PLR0913 - the parts that a caller may want to replace
    store: Store,
    settings: Settings,
    *,
    fetch: Fetch,
    executor: Executor,
    elsewhere: Elsewhere | None = None,
    scorer: HubScorer | None = None,
    models: Path | None = None,
    announced: Announced | None = None,
    gate: HostGate | None = None,
    read: Read | None = None,
    embedder: PageEmbedder | None = None,
    renderer: Renderer | None = None,
    part: Part | None = None,
) -> Crawler:
    """Make a crawler on *store*.

    It uses *scorer*, else the version active in the folder *models*, else the shipped one. *gate* knows
    what hosts are owed after another crawler. Bodies are read in the visit's thread, or by *read*;
    *embedder* gives the pages that topics judge their vectors; *renderer* draws pages that need a browser.
    *part*: which sites are visited; None = all.
    Visits run by *fetch* in the threads of *executor*, or *elsewhere*, for which the threads wait
    (:mod:`incremental.visit.engines`).
    """
    # Most commands fetch a page or judge one, and do without the crawler.
    from incremental.crawl.crawler import Crawler  # noqa: PLC0415
    from incremental.crawl.engine import Engine  # noqa: PLC0415
    from incremental.sandbox import read_body  # noqa: PLC0415
    from incremental.visit.engines.visits import EngineReport, visit_elsewhere  # noqa: PLC0415
    from incremental.visit.ways.parts import PartFetcher  # noqa: PLC0415
    from incremental.visit.ways.visiting import HubVisitor  # noqa: PLC0415

    read = read or read_body
    if scorer is None:
        scorer = hub_scorer(models)
    one_thread_for_arithmetic()
    if embedder is not None:
        read = embedder.reading(read)
    workers = settings.daemon.workers
    parts = PartFetcher(fetch, settings, SystemClock())
    visit = here = partial(HubVisitor(parts, renderer), fetch=fetch, read=read)
    report: Callable[[], EngineReport] = partial(EngineReport, "threads", workers)
    if elsewhere is not None:
        report = elsewhere.report
        visit = partial(
            visit_elsewhere,
            elsewhere=elsewhere.visit,
            browser=None if renderer is None else here,
            embed=None if embedder is None else embedder.with_meaning,
        )
    engine = Engine(partial(executor.submit, visit), report, workers=workers)
    return Crawler(
        store,
        settings,
        engine=engine,
        scorer=scorer,
        announced=announced,
        gate=gate,
        read=read,
        embedder=embedder,
        part=part,
    )


@contextlib.contextmanager
def make_embedder(settings: Settings, clock: Clock) -> Iterator[PageEmbedder | None]:
    """Yield what gives pages their vectors; None = no embedder is wanted or installed."""
    from incremental.topics.embedding.choice import embedder_of  # noqa: PLC0415 - numpy, for topics alone

    embedder = embedder_of(settings.embeddings)
    if embedder is None:
        yield None
        return
    from incremental.topics.embedding.page_embedder import PageEmbedder  # noqa: PLC0415 - likewise

    with contextlib.closing(PageEmbedder(embedder, clock.now)) as pages:
        yield pages


@contextlib.contextmanager
def make_topic_models(store: Store, settings: Settings, clock: Clock) -> Iterator[TopicModelStore]:
    """Yield the topics' models, with the configured embedder."""
    from incremental.topics.model_store import TopicModelStore  # noqa: PLC0415 - as for the embedder

    with make_embedder(settings, clock) as embedder:
        yield TopicModelStore(store, settings.topics.tree, embedder=embedder)


@contextlib.contextmanager
def make_renderer(
    settings: Settings, clock: Clock, fetch: Fetch, *, adapter: BaseAdapter | None = None
) -> Iterator[Renderer | None]:
    """Yield what draws pages that need a browser; None = there is none, or none is wanted."""
    from incremental.visit.rendering.browser import find_browser  # noqa: PLC0415 - as for the reader

    browser = find_browser(settings.browser)
    if not browser.executable:
        yield None
        return
    from incremental.visit.rendering.pool import BrowserPool  # noqa: PLC0415 - likewise
    from incremental.visit.ways.parts import PartFetcher  # noqa: PLC0415 - likewise

    # What a page wants of other hosts must be public, and gets no secrets.
    public = msgspec.structs.replace(
        settings,
        fetch=msgspec.structs.replace(
            settings.fetch, allowed_hosts=frozenset(), allowed_networks=()
        ),
        site=(),
    )
    with (
        contextlib.closing(make_fetcher(public, clock, adapter=adapter)) as others,
        BrowserPool(
            browser.executable,
            settings.browser,
            own=PartFetcher(fetch, settings, clock),
            others=PartFetcher(others.fetch, public, clock),
            agent=settings.fetch.user_agent_header,
            clock=clock,
        ) as pool,
    ):
        yield pool


@contextlib.contextmanager
def make_reader(settings: Settings, *, workers: int | None = None) -> Iterator[Read]:
    """Yield what reads bodies: *workers* processes, else as many as the settings say; 0 = this one."""
    from incremental.sandbox import read_body, with_features  # noqa: PLC0415 - the parsers

    daemon = settings.daemon
    wanted = daemon.parse_workers
    count = min(cores(), MAX_AUTO_WORKERS) if isinstance(wanted, str) else wanted
    features = settings.enabled
    with_ours = partial(with_features, features.readers, features.signature)
    if not count:
        yield with_ours(read_body)
        return
    # Only commands that fetch start processes.
    from incremental.sandbox.process import ReaderLimits, ReaderPool  # noqa: PLC0415

    limits = ReaderLimits(daemon.parse_seconds, daemon.parse_memory_mb)
    with ReaderPool(workers or count, limits) as pool:
        yield with_ours(pool.read)


def first_looks(
    store: Store, settings: Settings, models: Path | None, typed: Mapping[int, str], clock: Clock
) -> Iterator[tuple[int, FirstLook]]:
    """Look at the seeds of sites, by id as typed, one after the other; yield ids and what they show."""
    # The parser takes a while to load, which other commands need not wait for.
    from incremental.crawl.first_look import first_look  # noqa: PLC0415

    fetcher, scorer = make_fetcher(settings, clock), hub_scorer(models)
    with contextlib.closing(fetcher), make_reader(settings, workers=1) as read:
        for site_id, text in typed.items():
            row = store.read.site(site_id)
            if row is not None:
                seen = first_look(
                    store,
                    settings,
                    row,
                    fetch=fetcher.fetch,
                    read=read,
                    scorer=scorer,
                    now=clock.now(),
                    any_scheme="://" not in text,
                )
                yield site_id, seen


def hub_scorer(models: Path | None) -> HubScorer:
    """Return the hub classifier that is active in the folder *models*, else the shipped one."""
    # The model's libraries take half a second to load.
    if models is None:
        from classifier.hub.classifier import load_default  # noqa: PLC0415

        return load_default()
    from classifier.hub.registry import ActiveClassifier  # noqa: PLC0415

    return ActiveClassifier(models)
