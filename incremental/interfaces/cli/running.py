"""The daemon: ``run`` puts together what it is made of, and runs it; ``serve`` is the web page alone.

::

    fetcher -> workers, reader, renderer, embedder -> crawlers
    crawlers, jobs                                 -> Daemon
    web page, features                             -> further jobs, and people's edits
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from incremental.base.clock import SystemClock
from incremental.base.errors import InputError
from incremental.base.threads import leave_at_once, leave_within, pause
from incremental.crawl.crawler import Crawler
from incremental.crawl.sharing import Membership, membership, refuse_beside
from incremental.daemon.assembly import (
    make_crawler,
    make_embedder,
    make_fetcher,
    make_reader,
    make_renderer,
)
from incremental.daemon.at_work import AtWork, Job, LastingJob, jobs_of
from incremental.daemon.daemon import Daemon, Step
from incremental.daemon.health import Health
from incremental.daemon.pulse import Pulse, ServiceManager
from incremental.interfaces.cli.common import (
    now,
    printed_json,
    settings_file,
    settings_of,
    wants_json,
)
from incremental.interfaces.cli.logs import begin_log, say, say_error
from incremental.interfaces.cli.reporting import Reporter
from incremental.interfaces.results.sites import AddingSites
from incremental.sandbox import Read
from incremental.settings import Settings
from incremental.settings.seeds import SeedTerms, add_seed
from incremental.settings.storage import (
    AlreadyRunningError,
    is_read_only,
    keep_private,
    models_folder,
    note_settings,
    only_writer,
    open_configured_store,
    same_settings,
)
from incremental.topics.embedding.keeping import VectorKeeper
from incremental.topics.embedding.page_embedder import PageEmbedder
from incremental.topics.training.nightly_training import Learner
from incremental.visit.engines.elsewhere import make_elsewhere
from incremental.visit.host_gate import HostGate
from incremental.visit.visit import Fetch
from store import Store
from store.errors import StoreReadOnlyError, StoreUnavailableError

logger = logging.getLogger("hubwatch.run")
T = TypeVar("T")
Begin = Callable[[Callable[[], Any]], Any]

# How long the daemon waits for another process that writes: short, so that it can be stopped meanwhile.
BUSY_SECONDS = 3.0
_LONGEST_PAUSE_SECONDS = 15.0
# Of [daemon] stop_seconds, for what jobs of features have under way.
_SETTLE_SHARE = 0.2
_EXTRA = "its packages are not installed yet: pip install 'hubwatch[web]'"


def run(
    context: typer.Context,
    urls: Annotated[
        list[str] | None, typer.Argument(metavar="[URL]...", help="Sites to add first.")
    ] = None,
    *,
    once: Annotated[bool, typer.Option(help="Do what is due, then exit (for cron).")] = False,
) -> None:
    """Run the daemon: visit hubs when worthwhile and print new pages as they are found.

    The first Ctrl-C (or TERM) finishes running fetches; the second stops at once.
    """
    settings, folder = settings_of(context)
    begin_log(settings)
    clock = SystemClock()
    health = Health(clock)
    with contextlib.ExitStack() as stack:
        store, begin = _opened(stack, context, health, once=once)
        reporter = Reporter(store, as_json=wants_json(context))
        run = Run(store, settings, folder, clock, health, reporter, begin, once=once)
        member = _member(stack, run)
        run = replace(run, member=member)
        begin(lambda: _add_sites(store, settings, urls or []))
        serves = settings.web.enabled and not once
        # On a shared store others add sites: by a page, or by a command on another machine.
        if once or not (serves or member):
            begin(lambda: _need_work(store))
        if member is not None:
            begin(partial(_join, member, store, HostGate(store, settings), once=once))
        unfinished = watch(run, serves=serves)
        if member is not None and not unfinished:
            member.leave()
        # A daemon that was stopped while the store could not be used has nothing to sum up.
        with contextlib.suppress(*([] if once else [StoreUnavailableError])):
            reporter.finish(HostGate(store, settings), once=once)
    if unfinished:
        leave_at_once()


def _opened(
    stack: contextlib.ExitStack, context: typer.Context, health: Health, *, once: bool
) -> tuple[Store, Begin]:
    """Open the store as its only writer; return it, and what begins work on it and waits meanwhile."""
    settings, folder = settings_of(context)
    file = settings_file(context)
    manager = ServiceManager()
    manager.tell(ready=1)
    wait = partial(_patiently, health, settings, folder, once=once)
    pulse = None if once else stack.enter_context(Pulse(health, manager))
    shared = bool(settings.store.database)
    wait(lambda: stack.enter_context(only_writer(settings, folder, shared=shared)))
    same_settings(settings, folder, file)
    keep_private(settings, folder, file)
    if pulse is not None:
        pulse.show_in(folder / settings.store.folder)
    busy_seconds = None if once else BUSY_SECONDS
    opened = partial(open_configured_store, settings, folder, busy_seconds=busy_seconds)
    store = stack.enter_context(wait(opened))
    note_settings(settings, folder, file)
    return store, partial(wait, recover=store.recover)


def _member(stack: contextlib.ExitStack, run: Run) -> Membership | None:
    """Return the place of this daemon among those of a PostgreSQL store; None for SQLite."""
    if not run.settings.store.database:
        return None
    place = partial(membership, run.settings, run.folder, run.store, run.clock)
    busy_seconds = None if run.once else BUSY_SECONDS
    place = partial(place, busy_seconds=busy_seconds, lives=run.health.lives)
    member: Membership = run.begin(lambda: stack.enter_context(place()))
    return member


def _need_work(store: Store) -> None:
    """Raise :class:`InputError` if there is neither a site nor a topic."""
    if not store.read.seeds() and not store.topics.topics():
        raise InputError("sites", "", "no site yet; add one: hubwatch add URL")


def _patiently(  # noqa: PLR0913 - what it waits with
    health: Health,
    settings: Settings,
    folder: Path,
    work: Callable[[], T],
    *,
    once: bool,
    recover: Callable[[], object] = bool,
) -> T:
    """Return what *work* returns; the daemon waits while the store cannot be used.

    *recover* makes the connection of an open store again, before another try.

    A server may start later than we, and a file system may be read-only for a while.

    Raises:
        StoreError: waiting would not help, or this is a single run.
    """
    seconds, said = 1.0, ""
    while True:
        try:
            if said:
                recover()
            done = work()
        except AlreadyRunningError:
            raise
        except StoreUnavailableError as error:
            # Where only the permission is missing, the place is wrong rather than out of order.
            denied = isinstance(error, StoreReadOnlyError) and not is_read_only(settings, folder)
            if once or denied:
                raise
            health.store_lost(str(error))
            if str(error) != said:
                logger.warning("waiting for the store, nothing is fetched: %s", error)
            said = str(error)
        else:
            if said:
                logger.warning("the store can be used now")
                health.store_back()
            return done
        pause(seconds)
        seconds = min(2 * seconds, _LONGEST_PAUSE_SECONDS)


def _join(member: Membership, store: Store, gate: HostGate, *, once: bool) -> None:
    """Join the other daemons; a single run wants the store for itself.

    Raises:
        AlreadyRunningError: see :meth:`Membership.join`.
    """
    if once:
        refuse_beside(store.daemons.live())
    member.join()
    if once:
        # Alone it has every site at once; one that comes meanwhile waits.
        member.step(gate, (), now())


def _add_sites(store: Store, settings: Settings, urls: Sequence[str]) -> None:
    """Add the sites of the settings, with their terms, and *urls*."""
    for site in settings.site:
        add_seed(store, site.url, now=now(), terms=SeedTerms.of(site), fetch=settings.fetch)
    adding = AddingSites(store, settings, now=now())
    for url in urls:
        adding.add(url)


@dataclass(frozen=True, slots=True)
class Run:
    """What a run of the daemon is made of."""

    store: Store
    settings: Settings
    folder: Path
    clock: SystemClock
    health: Health
    reporter: Reporter
    begin: Begin
    """Runs start-up tasks; blocks until the store is available."""
    once: bool
    member: Membership | None = None
    """Its place among the daemons of a PostgreSQL store."""


def watch(run: Run, *, serves: bool) -> bool:
    """Run the daemon with the configured jobs, and the web page beside it.

    Returns whether visits are still under way, whose threads nobody waits for.
    """
    store, settings, clock = run.store, run.settings, run.clock
    with contextlib.ExitStack() as stack:
        fetcher = make_fetcher(settings, clock)
        stack.callback(fetcher.close)
        make, read, embedder = _crawlers(run, stack, fetcher.fetch)
        jobs, keeper = dict[str, Step](), None
        if embedder is not None:
            keeper = VectorKeeper(store, embedder)
            jobs["vectors"] = keeper.step
        models = models_folder(settings, run.folder)
        jobs["learning"] = Learner(store, models, settings.hubs.retrain_labels).step
        # Jobs that need the daemon, or come after it, are added before it runs.
        daemon: Daemon = run.begin(
            lambda: Daemon(
                make,
                store,
                settings,
                clock,
                once=run.once,
                jobs=jobs,
                health=run.health,
                on_stop=partial(leave_within, settings.daemon.stop_seconds),
                member=run.member,
            )
        )
        run.health.engine = daemon.crawler.engine.report
        running = _features(run, fetcher.fetch, read, daemon.crawler.frontier.gate)
        jobs.update({name: job.step for name, job in running.items()})
        address = run.begin(lambda: stack.enter_context(_served(run))) if serves else None
        run.reporter.begin(run.begin(lambda: len(store.read.seeds())), address)
        lasting = [job for job in running.values() if isinstance(job, LastingJob)]
        for job in lasting:
            run.begin(partial(job.begin, clock.now()))
        daemon.run()
        ended = _finish(run, daemon, lasting, keeper)
        return daemon.unfinished or not ended


def _crawlers(
    run: Run, stack: contextlib.ExitStack, fetch: Fetch
) -> tuple[Callable[[HostGate | None], Crawler], Read, PageEmbedder | None]:
    """Return what makes a crawler, and the reader and the embedder that all of them share."""
    store, settings, clock, member = run.store, run.settings, run.clock, run.member
    check = bool if member is None else member.check
    elsewhere = stack.enter_context(make_elsewhere(settings, clock, check))
    # They make the visits, or wait for those elsewhere.
    threads = ThreadPoolExecutor(settings.daemon.workers, thread_name_prefix="visit")
    stack.callback(threads.shutdown, wait=False, cancel_futures=True)
    # Closed first, which frees the threads that wait for a reader.
    read = stack.enter_context(make_reader(settings))
    renderer = stack.enter_context(make_renderer(settings, clock, fetch))
    embedder = stack.enter_context(make_embedder(settings, clock))
    if embedder is not None:
        run.health.embeddings = embedder.trouble
    models = models_folder(settings, run.folder)
    guarded = fetch if member is None else member.guarding(fetch)

    def make(gate: HostGate | None) -> Crawler:
        if member is not None and gate is None:
            gate = HostGate(store, settings, member.turns)
        return make_crawler(
            store,
            settings,
            part=member,
            fetch=guarded,
            executor=threads,
            elsewhere=elsewhere,
            read=read,
            embedder=embedder,
            renderer=renderer,
            models=models,
            announced=run.reporter.announced,
            gate=gate,
        )

    return make, read, embedder


def _features(run: Run, fetch: Fetch, read: Read, gate: HostGate) -> dict[str, Job]:
    """Return the jobs of features by name; say which features are broken."""
    work = AtWork(
        store=run.store,
        settings=run.settings,
        folder=run.folder,
        fetch=fetch,
        read=read,
        trouble=run.health.trouble,
        gate=gate,
    )
    features = run.settings.enabled
    run.health.vital = frozenset(one.name for one in features.on if one.vital)
    jobs, problems = jobs_of(features, work)
    for one in problems:
        say_error(f"hubwatch: {one}")
    return jobs


def _finish(
    run: Run, daemon: Daemon, lasting: Sequence[LastingJob], keeper: VectorKeeper | None
) -> bool:
    """Finish pending work at shutdown; return whether nothing is left."""
    now_at = run.clock.now
    if run.once:
        for job in lasting:
            job.end(now_at, None)
        if keeper is not None:
            keeper.finish(now_at)
    elif not daemon.waits_for_store:
        seconds = _SETTLE_SHARE * run.settings.daemon.stop_seconds
        with contextlib.suppress(StoreUnavailableError):
            ended = [job.end(now_at, seconds) for job in lasting]
            return all(ended)
    return True


def serve(context: typer.Context) -> None:
    """Serve the web page, the API and the feeds without fetching anything.

    `hubwatch run` serves them as well. Use this while no daemon runs, or in a separate process beside a
    daemon whose settings of the section `web` have `enabled = false`.
    """
    settings, folder = settings_of(context)
    begin_log(settings)
    same_settings(settings, folder, settings_file(context))
    keep_private(settings, folder, settings_file(context))
    try:
        from incremental.interfaces.web.context import Web  # noqa: PLC0415 - an extra, and half a second
        from incremental.interfaces.web.server import Listener  # noqa: PLC0415
    except ImportError:
        raise InputError("the web page", "", _EXTRA) from None
    with open_configured_store(settings, folder) as store:
        note_settings(settings, folder, settings_file(context))
        web = Web(settings, folder, SystemClock(), store, crawling=False)
        listener = Listener(web)
        if not printed_json(context, {"url": listener.url}):
            say(f"web page at {listener.url}; nothing is fetched; Ctrl-C to stop")
        listener.serve()


@contextlib.contextmanager
def _served(run: Run) -> Iterator[str | None]:
    """Serve the web page while the block runs; yield the address, or None after printing why not.

    A busy port or a missing extra does not stop the crawler.

    Raises:
        SettingsError: the page would be reachable by others without any credential.
    """
    try:
        from incremental.interfaces.web.context import Web  # noqa: PLC0415 - an extra, and half a second
        from incremental.interfaces.web.server import ListenError, served  # noqa: PLC0415
    except ImportError:
        say(f"hubwatch: the web page: {_EXTRA}")
        yield None
        return
    # What people edit there is no daemon's, whoever has taken over its sites.
    shown = run.store if run.member is None else run.member.register
    web = Web(run.settings, run.folder, run.clock, shown, health=run.health)
    with contextlib.ExitStack() as stack:
        try:
            address = stack.enter_context(served(web))
        except ListenError as error:
            say(f"hubwatch: running without the web page: {error}")
            address = None
        yield address
