"""What ``run`` prints while the daemon runs, and at its end."""

from collections import Counter
from collections.abc import Sequence

import typer

from incremental.base.plain_text import clean
from incremental.base.readable_urls import readable
from incremental.base.texts import named
from incremental.fetch.status import HARMLESS, FetchStatus
from incremental.interfaces.cli.common import counted, now, print_json
from incremental.interfaces.cli.logs import say, tell
from incremental.interfaces.explain.backfill import headline
from incremental.visit.host_gate import HostGate
from store import Store
from store.answers import NewQuery
from store.crawl.backfills import BackfillEvent
from store.rules import Fate
from store.values import HubRow, VisitRecord


class Reporter:
    """Prints what is found while the daemon runs."""

    def __init__(self, store: Store, *, as_json: bool) -> None:
        self._store = store
        self._as_json = as_json
        self._visits: Counter[str] = Counter()
        self._announced = 0

    def begin(self, sites: int, address: str | None) -> None:
        """Say what is watched, and where the web page is."""
        if self._as_json:
            return
        if sites:
            where = f"; web page at {address}" if address else ""
            say(f"watching {counted(sites, 'site')}{where}; Ctrl-C to stop")
        else:
            where = (
                f"sites at {address}add" if address else "one: hubwatch add https://example.org/"
            )
            say(f"no site yet; add {where}; Ctrl-C to stop")

    def announced(self, record: VisitRecord, page_ids: Sequence[int]) -> None:
        """Print the pages that a visit announced, and hubs visited for the first time."""
        self._visits[record.status] += 1
        self._announced += len(page_ids)
        if self._as_json:
            return
        for page in filter(None, map(self._store.read.page, page_ids)):
            tell(f"new   {readable(page.url)}  {clean(page.title or page.anchor)}")
        for event in self._events(record):
            title = f": {clean(event.title)}" if event.pages == 1 else ""
            tell(f"older {clean(event.site)}: {headline(event)}{title}")
        if record.hub_fields.get("baseline_at") == record.at and record.links is not None:
            hub = self._store.read.urls([record.page_id])
            tell(f"hub   {readable(hub[0])}  ({len(record.links)} links recorded as baseline)")

    def _events(self, record: VisitRecord) -> list[BackfillEvent]:
        """Return the backfill events that the visit started or added to."""
        backfills = self._store.backfills
        events: dict[int, BackfillEvent] = {}
        if any(link.fate is Fate.BACKFILL for link in record.links or ()):
            asked = NewQuery(since=record.at, sites=(record.site_id,))
            found = backfills.events(asked)
            events |= {event.id: event for event in found if event.hub_id == record.page_id}
        own = backfills.event_of(record.page_id) if record.fate is Fate.BACKFILL else None
        if own is not None:
            events[own.id] = own
        return list(events.values())

    def finish(self, gate: HostGate, *, once: bool) -> None:
        """Print a summary; exit with 1 after a single run with failed visits or unread seeds.

        *gate* knows of the seeds that were not asked for because of their robots.txt.
        """
        failed = sum(count for status, count in self._visits.items() if status not in HARMLESS)
        for seed in self._unread_seeds():
            asked = gate.ask(seed.url, now())
            status = seed.last_status or ("waiting" if asked.refusal is None else "")
            why = named("fetch", status) if status else asked.says
            say(f"hubwatch: {readable(seed.url)}: {why}")
            failed += 1
        if self._as_json:
            print_json({"visits": self._visits, "new": self._announced, "failed": failed})
        else:
            counts = ", ".join(
                f"{named('fetch', status)} {count}" for status, count in self._visits.items()
            )
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
