"""The daemon at work: what a run is made of, put together and run.

::

    fetcher -> workers, reader, renderer, embedder -> crawlers
    crawlers, jobs                                 -> Daemon
    web page, features                             -> further jobs, and people's edits
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from incremental.base.clock import SystemClock
from incremental.base.errors import InputError
from incremental.base.threads import leave_within
from incremental.crawl.crawler import Crawler
from incremental.crawl.sharing import Membership
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
from incremental.interfaces.cli.common import printed_json, settings_file, settings_of
from incremental.interfaces.cli.logs import begin_log, say, say_error
from incremental.interfaces.cli.reporting import Reporter
from incremental.sandbox import Read
from incremental.settings import Settings
from incremental.settings.storage import (
    keep_private,
    models_folder,
    note_settings,
    open_configured_store,
    same_settings,
)
from incremental.topics.training.nightly_training import Learner
from incremental.visit.engines.elsewhere import make_elsewhere
from incremental.visit.host_gate import HostGate
from incremental.visit.visit import Fetch
from store import Store
from store.errors import StoreUnavailableError

if TYPE_CHECKING:
    from incremental.topics.embedding.keeping import VectorKeeper
    from incremental.topics.embedding.page_embedder import PageEmbedder

# Of [daemon] stop_seconds, for what jobs of features have under way.
_SETTLE_SHARE = 0.2
_EXTRA = "its packages are not installed yet: pip install 'hubwatch[web]'"


@dataclass(frozen=True, slots=True)
class Run:
    """What a run of the daemon is made of."""

    store: Store
    settings: Settings
    folder: Path
    clock: SystemClock
    health: Health
    reporter: Reporter
    begin: Callable[[Callable[[], Any]], Any]
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
            from incremental.topics.embedding.keeping import VectorKeeper  # noqa: PLC0415 - numpy

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
