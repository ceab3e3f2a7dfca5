"""The daemon: ``run``."""

import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from incremental.base.clock import SystemClock
from incremental.base.errors import InputError
from incremental.base.threads import leave_at_once, pause
from incremental.crawl.sharing import Membership, membership, refuse_beside
from incremental.daemon.health import Health
from incremental.daemon.pulse import Pulse, ServiceManager
from incremental.interfaces.cli.at_work import Run, watch
from incremental.interfaces.cli.common import now, settings_file, settings_of, wants_json
from incremental.interfaces.cli.logs import begin_log
from incremental.interfaces.cli.reporting import Reporter
from incremental.interfaces.results.sites import AddingSites
from incremental.settings import Settings
from incremental.settings.seeds import SeedTerms, add_seed
from incremental.settings.storage import (
    AlreadyRunningError,
    is_read_only,
    keep_private,
    note_settings,
    only_writer,
    open_configured_store,
    same_settings,
)
from incremental.visit.host_gate import HostGate
from store import Store
from store.errors import StoreReadOnlyError, StoreUnavailableError

logger = logging.getLogger("hubwatch.run")
T = TypeVar("T")
Begin = Callable[[Callable[[], Any]], Any]

# How long the daemon waits for another process that writes: short, so that it can be stopped meanwhile.
BUSY_SECONDS = 3.0
_LONGEST_PAUSE_SECONDS = 15.0


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
            reporter.finish(once=once)
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
