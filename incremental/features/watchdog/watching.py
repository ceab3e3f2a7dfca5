"""The job that looks for problems, a few sites at a time."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from incremental.base.times import DAY, HOUR
from incremental.daemon.at_work import AtWork
from incremental.features.watchdog.finding import FEW_LINKS, LOOK_AGAIN, SiteFacts, problems_of
from incremental.settings import Settings
from store import Store

logger = logging.getLogger("hubwatch.watchdog")

# A site is checked so often; the facts of one take milliseconds.
_EVERY_SECONDS = 2 * HOUR
_STEP_SECONDS = 60.0
_SITES_A_STEP = 50
_MOST_VISITS = 10


def watchdog(work: AtWork) -> Watchdog:
    """Return the job."""
    return Watchdog(work.store)


def forget(store: Store, settings: Settings, now: float) -> Iterator[int]:
    """Forget problems that ended long ago."""
    yield store.problems.forget(now - settings.store.change_days * DAY)


class Watchdog:
    """Checks every site in turn; for one thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._checked: dict[int, float] = {}

    def step(self, now: float) -> float:
        """Check the sites that are due; return when to call again."""
        sites = self._store.problems.sites()
        self._checked = {site: self._checked.get(site, 0.0) for site in sites}
        due = [site for site, at in self._checked.items() if at <= now - _EVERY_SECONDS]
        due.sort(key=self._checked.__getitem__)
        for site in due[:_SITES_A_STEP]:
            self.check(site, now)
            self._checked[site] = now
        return now + _STEP_SECONDS

    def check(self, site: int, now: float) -> None:
        """Check one site, and note what is found and what has ended."""
        row = self._store.read.site(site)
        if row is None:
            return
        pages = self._store.problems.pages(site)
        hubs = self._store.problems.hubs(site, [page.id for page in pages], FEW_LINKS)
        found = problems_of(SiteFacts(pages, hubs, row.added_at), now)
        new = self._store.problems.update(site, found, now=now)
        for key in new:
            logger.warning("%s: %s %s", row.name, key.kind, dict(found[key]))
        if LOOK_AGAIN.intersection(key.kind for key in new):
            hubs_of = self._store.problems.list_hubs(site, _MOST_VISITS)
            self._store.editing.request_visits(hubs_of, now=now)
