"""Looking again at told pages: behind all that is new, within a share of each site's requests.

::

    told and read  ->  first check planned     (with the record of the look)
    frontier idle  ->  task   ->  visit  ->  decide.refresh  ->  record, next check planned

Nothing here goes before a new page or a new hub. Known hubs go first as well, as long as they leave
anything: where they take the whole budget, which the policy that fills it lets them, a look takes
their place when its share has been saved up. When there is more to look at again than the share
allows, the pages that became due last go first: those are the young ones, which still change.
"""

from __future__ import annotations

from dataclasses import dataclass

from incremental.crawl.sites import WatchedSite
from incremental.history.plan import CheckTerms
from incremental.settings import HistorySettings
from incremental.times import DAY, NEVER
from incremental.visit import Purpose, VisitTask
from store import Store
from store.answers.values import CheckRow

MAX_SAVED = 2.0
"""Looks that may be saved up for later."""
SETTLED_SECONDS = 7 * DAY
"""Before a site was watched so long, its hubs are still being learned and leave nothing: on ten recorded
days of a busy news site one request in twenty doubled the mean delay of news."""


@dataclass
class _Allowance:
    """Looks that may be made now. A start has none, so that a restart is no reason to look again."""

    looks: float = 0.0
    at: float | None = None


class Rechecks:
    """Plans, makes and judges looks at told pages. The crawler's thread owns it."""

    def __init__(self, store: Store, settings: HistorySettings) -> None:
        self._store = store
        self._share = settings.share
        self._terms = CheckTerms(settings.first_days * DAY, settings.max_days * DAY)
        self._allowances: dict[int, _Allowance] = {}

    def next_at(self, site: WatchedSite, now: float) -> float:
        """Return when a page of the site may be looked at again; it may have passed."""
        due_at = self._store.answers.next_check_at(site.row.id)
        return NEVER if due_at is None else max(due_at, self._open_at(site, now))

    def task(self, site: WatchedSite, now: float) -> VisitTask | None:
        """Return the page of the site to look at again now, if one is due and the share allows it."""
        if self._open_at(site, now) > now:
            return None
        for row in self._store.answers.due_checks(site.row.id, now):
            self._allowances[site.row.id].looks -= 1
            return _task(row)
        return None

    def starves(self, site: WatchedSite, now: float) -> bool:
        """Tell whether the share has been saved up for so long that hubs must leave some of it."""
        self._open_at(site, now)
        if now - site.row.added_at < SETTLED_SECONDS:
            return False
        allowance = self._allowances.get(site.row.id)
        return allowance is not None and allowance.looks >= MAX_SAVED

    def _open_at(self, site: WatchedSite, now: float) -> float:
        per_day = self._share * site.terms.requests_per_day
        if per_day <= 0:
            return NEVER
        allowance = self._allowances.setdefault(site.row.id, _Allowance())
        if allowance.at is not None:
            earned = max(now - allowance.at, 0.0) / DAY * per_day
            allowance.looks = min(allowance.looks + earned, MAX_SAVED)
        allowance.at = now
        return now + max(1.0 - allowance.looks, 0.0) / per_day * DAY

    def put_off(self, page_id: int, until: float) -> None:
        """Look again at *until*: the host may not be asked now."""
        self._store.answers.postpone_check(page_id, until)


def _task(row: CheckRow) -> VisitTask:
    return VisitTask(
        purpose=Purpose.RECHECK,
        url=row.url,
        site_id=row.site_id,
        page_id=row.page_id,
        etag=row.etag,
        last_modified=row.last_modified,
        body_md5=row.body_md5,
    )
