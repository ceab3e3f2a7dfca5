"""The daemon: ``run``."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incremental.cli.common import Json, State, clean, now, print_json, say
from incremental.errors import InputError
from incremental.urls import readable

if TYPE_CHECKING:
    from incremental.settings import Settings
    from store import Store
    from store.values import HubRow, VisitRecord

_FINE = {"fetched", "not_modified", "redirected", "gone", "robots_denied"}


def run(
    context: typer.Context,
    urls: Annotated[
        list[str] | None, typer.Argument(metavar="[URL]...", help="Sites to add first.")
    ] = None,
    *,
    once: Annotated[bool, typer.Option(help="Do what is due, then end (for cron).")] = False,
    as_json: Json = False,
) -> None:
    """Watch: visit hubs when it pays, and say what is new as it is found.

    The first Ctrl-C (or TERM) ends it in good order, the second at once.
    """
    from incremental.assembly import make_crawler, make_fetcher  # noqa: PLC0415 - quick --help
    from incremental.clock import SystemClock  # noqa: PLC0415
    from incremental.daemon import Daemon  # noqa: PLC0415
    from incremental.learning import Learner  # noqa: PLC0415
    from incremental.storage import models_folder, only_writer, open_configured_store  # noqa: PLC0415

    state: State = context.obj
    settings, folder = state.settings()
    logging.basicConfig(
        level=_level(settings.daemon.log_level),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    clock = SystemClock()
    models = models_folder(settings, folder)
    with only_writer(settings, folder), open_configured_store(settings, folder) as store:
        _add_sites(store, settings, urls or [])
        if not store.read.sites():
            raise InputError("sites", [], "nothing to watch yet; add one: hubwatch add URL")
        reporter = Reporter(store, as_json=as_json)
        fetcher = make_fetcher(settings, clock)
        with ThreadPoolExecutor(settings.daemon.workers, thread_name_prefix="visit") as executor:
            crawler = make_crawler(
                store,
                settings,
                fetch=fetcher.fetch,
                executor=executor,
                models=models,
                told=reporter.told,
            )
            if not as_json:
                say(f"watching {len(store.read.sites())} site(s); Ctrl-C ends")
            learner = Learner(store, models, settings.hubs.retrain_labels)
            Daemon(crawler, store, settings, clock, once=once, learn=learner.step).run()
        fetcher.close()
        reporter.finish(once=once)


def _add_sites(store: Store, settings: Settings, urls: Sequence[str]) -> None:
    """Watch the sites of the settings, on their terms, and those of *urls*."""
    from incremental.seeds import SeedTerms, add_seed  # noqa: PLC0415 - quick --help

    for site in settings.site:
        terms = SeedTerms(
            reach=site.reach,
            include=site.include,
            exclude=site.exclude,
            requests_per_day=site.requests_per_day,
            min_interval_seconds=site.min_interval_minutes and site.min_interval_minutes * 60,
            max_interval_seconds=site.max_interval_hours and site.max_interval_hours * 3600,
        )
        add_seed(store, site.url, now=now(), terms=terms)
    for url in urls:
        add_seed(store, url, now=now())


def _level(name: str) -> int:
    level = logging.getLevelNamesMapping().get(name.upper())
    if level is None:
        raise InputError("daemon.log_level", name, "must be one of debug, info, warning, error")
    return max(level, logging.WARNING) if name == "info" else level


class Reporter:
    """Says what is found while the daemon runs."""

    def __init__(self, store: Store, *, as_json: bool) -> None:
        self._store = store
        self._as_json = as_json
        self._visits: Counter[str] = Counter()
        self._told = 0
        self._new: list[dict[str, Any]] = []

    def told(self, record: VisitRecord, page_ids: Sequence[int]) -> None:
        """Print the pages that a visit announced, and hubs read for the first time."""
        self._visits[record.status] += 1
        for page_id in page_ids:
            page = self._store.read.page(page_id) or {}
            title = clean(str(page.get("title") or page.get("anchor") or ""))
            self._told += 1
            if self._as_json:
                self._new.append({"url": page.get("url"), "title": title})
            else:
                typer.echo(f"new   {readable(str(page.get('url')))}  {title}")
        first_visit = record.hub_fields.get("baseline_at") == record.at
        if first_visit and not self._as_json and record.links is not None:
            hub = self._store.read.urls([record.page_id])
            typer.echo(f"hub   {readable(hub[0])}  ({len(record.links)} links known from now on)")

    def finish(self, *, once: bool) -> None:
        """Sum up; a run in which a visit failed, or a seed was never read, is done only in part."""
        failed = sum(count for status, count in self._visits.items() if status not in _FINE)
        for seed in self._unread_seeds():
            say(f"hubwatch: {readable(seed.url)}: {seed.last_status or 'could not be asked yet'}")
            failed += 1
        if self._as_json:
            print_json({"visits": dict(self._visits), "new": self._new, "failed": failed})
        else:
            counts = ", ".join(f"{status} {count}" for status, count in self._visits.items())
            say(f"{self._told} new pages; visits: {counts or 'none'}")
        if once and failed:
            raise typer.Exit(1)

    def _unread_seeds(self) -> list[HubRow]:
        """Return the seeds that were never read, those left alone on purpose apart."""
        sites = self._store.read.sites()
        watched = {row.id for row in sites if row.state == "active" and row.requests_per_day != 0}
        return [
            hub
            for hub in self._store.read.hubs()
            if hub.role == "seed" and hub.site_id in watched
            if hub.baseline_at is None and hub.last_status != "redirected"
        ]
