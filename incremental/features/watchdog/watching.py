"""The job that looks for problems, a few sites at a time."""

import logging
from collections.abc import Iterator
from math import ceil

from incremental.base.times import DAY, HOUR
from incremental.daemon.at_work import AtWork
from incremental.features.watchdog.finding import (
    BURST_DAYS,
    FEW_LINKS,
    LOOK_AGAIN,
    UNREAD_SECONDS,
    SiteFacts,
    findings,
    last_read,
)
from incremental.features.watchdog.showing import sentence
from incremental.fetch.politeness import host_key
from incremental.settings import Settings
from store import Store

logger = logging.getLogger("hubwatch.watchdog")

# Between two checks of a site.
_EVERY_SECONDS = 2 * HOUR
_STEP_SECONDS = 60.0
_LEAST_SITES = 20
# Between two reads of the list of sites.
_LISTED_SECONDS = 600.0
_LOST_DAYS = 30
_MOST_VISITS = 10


def forget(store: Store, settings: Settings, now: float) -> Iterator[int]:
    """Delete problems that ended long ago."""
    yield store.problems.forget(now - settings.store.change_days * DAY)


class Watchdog:
    """Checks every site in turn; for one thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._checked: dict[int, float] = {}
        self._listed_at = 0.0

    def step(self, now: float) -> float:
        """Check the sites that are due, enough of them to keep up; return when to call again."""
        if now >= self._listed_at + _LISTED_SECONDS:
            self._listed_at = now
            self._store.problems.end_inactive(now)
            self._checked = {
                site: self._checked.get(site, 0.0) for site in self._store.read.active_sites()
            }
        due = [site for site, at in self._checked.items() if at <= now - _EVERY_SECONDS]
        due.sort(key=self._checked.__getitem__)
        most = max(_LEAST_SITES, ceil(len(self._checked) * _STEP_SECONDS / _EVERY_SECONDS))
        for site in due[:most]:
            # Before it is checked: a bug at one site does not keep the others waiting.
            self._checked[site] = now
            self.check(site, now)
        return now + _STEP_SECONDS

    def check(self, site: int, now: float) -> None:
        """Check one site; open and close its problems."""
        row = self._store.read.site(site)
        if row is None:
            return
        found = findings(self._facts(site, row.added_at, now), now)
        new = self._store.problems.update(site, found.problems, now=now, lasting=found.open)
        for one in self._store.problems.all(sites=[site])[: len(new)] if new else ():
            logger.warning("%s: %s", row.name, sentence(one))
        if LOOK_AGAIN.intersection(key.kind for key in new):
            hubs = self._store.problems.list_hubs(site, _MOST_VISITS)
            self._store.editing.request_visits(hubs, now=now)

    def _facts(self, site: int, added_at: float, now: float) -> SiteFacts:
        problems = self._store.problems
        pages = problems.pages(site)
        since = now - _LOST_DAYS * DAY
        hubs = problems.hubs(site, [page.id for page in pages], FEW_LINKS, since=since)
        read_at = last_read(hubs)
        unread = [hub.id for hub in hubs] if now - read_at >= UNREAD_SECONDS else []
        visits = problems.visits(unread, read_at) if unread else []
        counts = problems.counts(site, now, BURST_DAYS)
        host = host_key(next((hub.url for hub in hubs if hub.is_seed), ""))
        until = problems.certificate_until(host)
        days = min((now - added_at) / DAY - 1, BURST_DAYS)
        return SiteFacts(pages, hubs, visits, *counts, host, until, days)


def watchdog(work: AtWork) -> Watchdog:
    """Return the job."""
    return Watchdog(work.store)
