"""The daemon: ``run``."""

from __future__ import annotations

import contextlib
import logging
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from incremental.assembly import (
    make_crawler,
    make_discoverer,
    make_embedder,
    make_fetcher,
    make_reader,
    make_renderer,
)
from incremental.cli.common import Json, counted, now, print_json, settings_file, settings_of
from incremental.cli.logs import begin_log, say, tell
from incremental.cli.serving import web_beside
from incremental.clock import SystemClock
from incremental.crawl.crawler import Crawler
from incremental.crawl.host_gate import HostGate
from incremental.daemon import Daemon, Step
from incremental.discovery.nightly_discovery import NightlyDiscovery
from incremental.engines.choice import make_visits
from incremental.engines.fenced import FencedVisits
from incremental.engines.visits import Visits
from incremental.errors import InputError
from incremental.explain.backfill import headline
from incremental.fetch.libraries import LibraryGate
from incremental.fetch.status import HARMLESS, FetchStatus
from incremental.health import Health
from incremental.notify.delivery import check_service
from incremental.notify.message import check_template
from incremental.notify.notifier import Notifier
from incremental.plain_text import clean
from incremental.pulse import Pulse, read_report
from incremental.readable_urls import readable
from incremental.revisit.state import HubState
from incremental.saved_channels import added_channels
from incremental.saved_searches import from_json
from incremental.seeds import SeedTerms, add_seed
from incremental.service_manager import ServiceManager
from incremental.settings import Settings
from incremental.sharing.joining import membership, refuse_beside
from incremental.sharing.membership import Membership
from incremental.sharing.rendezvous import read_shard
from incremental.storage import (
    AlreadyRunningError,
    is_read_only,
    keep_private,
    models_folder,
    note_settings,
    only_writer,
    open_configured_store,
    same_settings,
)
from incremental.store_check import StoreCheck
from incremental.threads import leave_at_once, leave_within, pause
from incremental.training.nightly_training import Learner
from incremental.visit import Fetch
from incremental.websub.pushes import Pushes
from store import Store
from store.answers import NewQuery
from store.backfills import BackfillEvent, BackfillQuery
from store.errors import StoreReadOnlyError, StoreUnavailableError
from store.values import HubRow, VisitRecord

if TYPE_CHECKING:
    from incremental.embedding.keeping import VectorKeeper
    from incremental.embedding.page_embedder import PageEmbedder

logger = logging.getLogger("hubwatch.run")
T = TypeVar("T")

# How long the daemon waits for another process that writes: short, so that it can be stopped meanwhile.
BUSY_SECONDS = 3.0
_LONGEST_PAUSE_SECONDS = 15.0
# Hooks and plug-ins that run at once; each is called for one page at a time.
_HOOKS = 4
# Of [daemon] stop_seconds, for messages that are being sent.
_SETTLE_SHARE = 0.2
# Pages, and backfill events, that the summary of --json names: a daemon may end after a year.
MOST_REPORTED = 10_000


def run(  # noqa: PLR0913 - options of the command line
    context: typer.Context,
    urls: Annotated[
        list[str] | None, typer.Argument(metavar="[URL]...", help="Sites to add first.")
    ] = None,
    *,
    once: Annotated[bool, typer.Option(help="Do what is due, then exit (for cron).")] = False,
    explore: Annotated[
        int, typer.Option(min=0, metavar="N", help="Add at most N new sites found by topics.")
    ] = 0,
    shard: Annotated[
        str,
        typer.Option(
            metavar="K/N", help="On PostgreSQL: be the K-th of N daemons; else it is automatic."
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Run the daemon: visit hubs when worthwhile and print new pages as they are found.

    The first Ctrl-C (or TERM) finishes running fetches; the second stops at once.
    """
    settings, folder = settings_of(context)
    begin_log(settings)
    chosen = read_shard(shard) if shard else None
    if chosen is not None and not settings.store.database:
        raise InputError("--shard", shard, "a SQLite store has one daemon; set [store] database")
    clock = SystemClock()
    health = Health(clock)
    manager = ServiceManager()
    manager.tell(ready=1)
    with contextlib.ExitStack() as stack:
        wait = partial(_patiently, health, settings, folder, once=once)
        pulse = Pulse(health, manager)
        if not once:
            stack.enter_context(pulse)
        is_shared = bool(settings.store.database)
        wait(lambda: stack.enter_context(only_writer(settings, folder, shared=is_shared)))
        same_settings(settings, folder, settings_file(context))
        keep_private(settings, folder, settings_file(context))
        was_killed = read_report(folder / settings.store.folder) is not None
        if not once:
            pulse.show_in(folder / settings.store.folder, shared=is_shared)
        busy_seconds = None if once else BUSY_SECONDS
        opened = partial(open_configured_store, settings, folder, busy_seconds=busy_seconds)
        store = stack.enter_context(wait(opened))
        begin = partial(_with_store, wait, store)
        note_settings(settings, folder, settings_file(context))
        member = None
        if is_shared:
            place = partial(membership, settings, folder, store, clock, busy_seconds=busy_seconds)
            entered = place(shard=chosen, lives=health.lives)
            member = wait(lambda: stack.enter_context(entered))
        begin(lambda: _add_sites(store, settings, urls or []))
        serves = settings.web.enabled and not once
        idle = begin(lambda: not store.read.seeds() and not store.topics.topics())
        if not serves and idle:
            raise InputError("sites", "", "no site yet; add one: hubwatch add URL")
        reporter = Reporter(store, as_json=as_json)
        run = Run(store, settings, folder, clock, health, reporter, begin, once=once, member=member)
        if member is not None:
            begin(partial(_join, member, store, HostGate(store, settings), once=once))
        jobs = {"check": StoreCheck(store).step} if was_killed and not once else {}
        unfinished = _watch(run, jobs, explore=explore, serves=serves)
        if member is not None and not unfinished:
            member.leave()
        # A daemon that was stopped while the store could not be used has nothing to sum up.
        with contextlib.suppress(*([] if once else [StoreUnavailableError])):
            reporter.finish(once=once)
    if unfinished:
        leave_at_once()


def _with_store(wait: Callable[..., T], store: Store, work: Callable[[], T]) -> T:
    """Return what *work* on the open store returns; between two tries its connection is made again."""
    tried = False

    def again() -> T:
        nonlocal tried
        if tried:
            store.recover()
        tried = True
        return work()

    return wait(again)


def _patiently(
    health: Health, settings: Settings, folder: Path, work: Callable[[], T], *, once: bool
) -> T:
    """Return what *work* returns; the daemon waits while the store cannot be used.

    A server may start later than we, and a file system may be read-only for a while.

    Raises:
        StoreError: waiting would not help, or this is a single run.
    """
    seconds, said = 1.0, ""
    while True:
        try:
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
    """Does what is done once at the start, and waits while the store cannot be used."""
    once: bool
    member: Membership | None = None
    """Its place among the daemons of a PostgreSQL store."""


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


def _watch(run: Run, further: Mapping[str, Step], *, explore: int, serves: bool) -> bool:
    """Run the daemon with the configured jobs and *further* ones, and the web page beside it.

    Returns whether visits are still under way, whose threads nobody waits for.
    """
    store, settings, clock = run.store, run.settings, run.clock
    models = models_folder(settings, run.folder)
    fetcher = make_fetcher(settings, clock)
    with contextlib.ExitStack() as stack:
        stack.callback(fetcher.close)
        threads, elsewhere = _workers(run, stack)
        # Closed first, which frees the threads that wait for a reader.
        read = stack.enter_context(make_reader(settings))
        renderer = stack.enter_context(make_renderer(settings, clock, fetcher.fetch))
        embedder = stack.enter_context(make_embedder(settings, clock, fetcher.fetch))

        member = run.member
        fetch = fetcher.fetch if member is None else member.guarding(fetcher.fetch)

        def make(gate: HostGate | None) -> Crawler:
            if member is not None and gate is None:
                gate = HostGate(store, settings, member.turns)
            return make_crawler(
                store,
                settings,
                part=member,
                fetch=fetch,
                executor=threads,
                elsewhere=elsewhere,
                read=read,
                embedder=embedder,
                renderer=renderer,
                models=models,
                announced=run.reporter.announced,
                explore=explore,
                gate=gate,
            )

        jobs = dict(further)
        keeper = _keeper(store, embedder)
        if keeper is not None:
            jobs["vectors"] = keeper.step
        jobs["learning"] = Learner(store, models, settings.hubs.retrain_labels).step
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
                member=member,
            )
        )
        run.health.runs_on(daemon.crawler.engine.report)
        address = None
        if serves:
            posts = ThreadPoolExecutor(1, thread_name_prefix="websub")
            stack.callback(posts.shutdown, wait=False, cancel_futures=True)
            pushes = _pushes(store, settings, run.folder, fetcher.fetch, daemon, posts)
            receive = pushes.receive if pushes is not None else None
            # What people edit there is no daemon's, whoever has taken over its sites.
            shown = store if member is None else member.register
            web = partial(web_beside, shown, settings, run.folder, clock)
            address = run.begin(
                lambda: stack.enter_context(web(receive=receive, health=run.health))
            )
            if pushes is not None and address is not None:
                jobs["websub"] = pushes.step
        run.reporter.begin(run.begin(lambda: len(store.read.seeds())), address)
        notifier = _notifier(store, settings, clock, run.health)
        run.begin(partial(notifier.listen, clock.now()))
        jobs["messages"] = notifier.step
        if settings.discovery.pages_per_night:
            discoverer = partial(make_discoverer, store, settings, run.folder)
            nightly = NightlyDiscovery(store, settings.discovery.pages_per_night, discoverer)
            jobs["discovery"] = nightly.step
        daemon.run()
        sent = True
        if run.once:
            notifier.finish(clock.now)
            if keeper is not None:
                keeper.finish(clock.now)
        elif not daemon.waits_for_store:
            # What cannot be noted now goes again under the same key.
            with contextlib.suppress(StoreUnavailableError):
                sent = notifier.settle(clock.now, _SETTLE_SHARE * settings.daemon.stop_seconds)
        return daemon.unfinished or not sent


def _workers(run: Run, stack: contextlib.ExitStack) -> tuple[Executor, Visits | None]:
    """Return what runs visits here, and elsewhere if the settings say so."""
    elsewhere = stack.enter_context(make_visits(run.settings, run.clock))
    if elsewhere is not None and run.member is not None:
        elsewhere = FencedVisits(elsewhere, run.member.check)
    threads = ThreadPoolExecutor(run.settings.daemon.workers, thread_name_prefix="visit")
    stack.callback(threads.shutdown, wait=False, cancel_futures=True)
    return threads, elsewhere


def _pushes(  # noqa: PLR0913, PLR0917 - what the subscriber needs of others
    store: Store,
    settings: Settings,
    folder: Path,
    fetch: Fetch,
    daemon: Daemon,
    executor: Executor,
) -> Pushes | None:
    """Return the WebSub subscriber; None without a public callback URL."""
    if not settings.websub.callback_url:
        return None
    from incremental.websub.pushes import Pushes, load_keys  # noqa: PLC0415 - rarely used

    keys = load_keys(folder / settings.store.folder)

    def note(page_id: int, change: Callable[[HubState], HubState], now: float) -> None:
        daemon.crawler.frontier.note(page_id, change, now)  # the crawler may have been replaced

    return Pushes(store, settings.websub, keys, fetch=fetch, note=note, executor=executor)


def _keeper(store: Store, embedder: PageEmbedder | None) -> VectorKeeper | None:
    """Return what keeps the vectors of announced pages; None without a model."""
    if embedder is None:
        return None
    from incremental.embedding.keeping import VectorKeeper  # noqa: PLC0415 - numpy

    return VectorKeeper(store, embedder)


def _notifier(store: Store, settings: Settings, clock: SystemClock, health: Health) -> Notifier:
    """Return the notifier, for the channels of the settings and those added meanwhile."""
    for number, channel in enumerate(settings.notify):
        check_service(channel.url, f"notify[{number}].url")
        check_template(f"notify[{number}].title", channel.title)
        check_template(f"notify[{number}].body", channel.body)
    return Notifier(
        store,
        settings.channels,
        gate=LibraryGate(settings.fetch, clock),
        executor=ThreadPoolExecutor(1, thread_name_prefix="messages"),
        saved_query=partial(_saved_query, store),
        stuck=health.messages,
        # A hook may take a minute, and holds up no message.
        hook_executor=ThreadPoolExecutor(_HOOKS, thread_name_prefix="hooks"),
        added=partial(added_channels, store, settings),
    )


def _saved_query(store: Store, name: str) -> NewQuery | None:
    """Return the query of a saved search; None if it is missing or damaged."""
    row = store.answers.search(name)
    try:
        return None if row is None else from_json(row.query).query(now())
    except InputError:
        return None  # the channel reports it; crawling goes on


def _add_sites(store: Store, settings: Settings, urls: Sequence[str]) -> None:
    """Add the sites of the settings, with their terms, and *urls*."""
    for site in settings.site:
        terms = SeedTerms(
            reach=site.reach,
            include=site.include,
            exclude=site.exclude,
            requests_per_day=site.requests_per_day,
            min_interval_seconds=site.min_interval_minutes and site.min_interval_minutes * 60,
            max_interval_seconds=site.max_interval_hours and site.max_interval_hours * 3600,
        )
        add_seed(store, site.url, now=now(), terms=terms, fetch=settings.fetch)
    for url in urls:
        add_seed(store, url, now=now(), fetch=settings.fetch)


class Reporter:
    """Prints what is found while the daemon runs."""

    def __init__(self, store: Store, *, as_json: bool) -> None:
        self._store = store
        self._as_json = as_json
        self._visits: Counter[str] = Counter()
        self._announced = 0
        self._new: deque[dict[str, Any]] = deque(maxlen=MOST_REPORTED)
        self._backfills: OrderedDict[int, dict[str, Any]] = OrderedDict()

    def begin(self, sites: int, address: str | None) -> None:
        """Say what is watched, and where the web page is."""
        if self._as_json:
            return
        if address is None:
            say(f"watching {counted(sites, 'site')}; Ctrl-C to stop")
        elif sites:
            say(f"watching {counted(sites, 'site')}; web page at {address}; Ctrl-C to stop")
        else:
            say(f"no site yet; add sites at {address}add; Ctrl-C to stop")

    def announced(self, record: VisitRecord, page_ids: Sequence[int]) -> None:
        """Print the pages that a visit announced, and hubs visited for the first time."""
        self._visits[record.status] += 1
        for page_id in page_ids:
            page = self._store.read.page(page_id)
            if page is None:
                continue
            title = clean(page.title or page.anchor)
            self._announced += 1
            if self._as_json:
                self._new.append({"url": page.url, "title": title})
            else:
                tell(f"new   {readable(page.url)}  {title}")
        self._gained(record)
        first_visit = record.hub_fields.get("baseline_at") == record.at
        if first_visit and not self._as_json and record.links is not None:
            hub = self._store.read.urls([record.page_id])
            tell(f"hub   {readable(hub[0])}  ({len(record.links)} links recorded as baseline)")

    def _gained(self, record: VisitRecord) -> None:
        """Print one line per backfill event that the visit started or added to."""
        for event in self._events(record):
            if self._as_json:
                fields = {"hub": event.hub_url, "folder": event.folder, "pages": event.pages}
                self._backfills[event.id] = fields
                while len(self._backfills) > MOST_REPORTED:
                    self._backfills.popitem(last=False)
            else:
                title = f": {clean(event.title)}" if event.pages == 1 else ""
                tell(f"older {clean(event.site)}: {headline(event)}{title}")

    def _events(self, record: VisitRecord) -> list[BackfillEvent]:
        backfills = self._store.backfills
        events: dict[int, BackfillEvent] = {}
        if any(link.backfill for link in record.links or ()):
            asked = BackfillQuery(since=record.at, sites=(record.site_id,))
            found = backfills.events(asked)
            events |= {event.id: event for event in found if event.hub_id == record.page_id}
        own = backfills.event_of(record.page_id) if record.backfill_page else None
        if own is not None:
            events[own.id] = own
        return list(events.values())

    def finish(self, *, once: bool) -> None:
        """Print a summary; exit with 1 after a single run with failed visits or unread seeds."""
        failed = sum(count for status, count in self._visits.items() if status not in HARMLESS)
        for seed in self._unread_seeds():
            say(f"hubwatch: {readable(seed.url)}: {seed.last_status or 'not fetched yet'}")
            failed += 1
        if self._as_json:
            announced = {"new": list(self._new), "backfills": list(self._backfills.values())}
            print_json({"visits": dict(self._visits), **announced, "failed": failed})
        else:
            counts = ", ".join(f"{status} {count}" for status, count in self._visits.items())
            say(f"{counted(self._announced, 'new page')}; visits: {counts or 'none'}")
        if once and failed:
            raise typer.Exit(1)

    def _unread_seeds(self) -> list[HubRow]:
        """Return the seeds never read, except of sites that are paused or have no budget."""
        sites = self._store.read.sites()
        watched = {row.id for row in sites if row.state == "active" and row.requests_per_day != 0}
        return [
            hub
            for hub in self._store.read.hubs()
            if hub.role == "seed" and hub.site_id in watched
            if hub.baseline_at is None and hub.last_status != FetchStatus.REDIRECTED
        ]
