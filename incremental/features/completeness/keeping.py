"""The job that keeps an estimate for each site, so that nobody waits for it in ``hubwatch status``.

Audits: what announced pages came to link to, looked up in what hubs had shown by then.

An announced page is refreshed a day later, within its site's small share of refreshes, and those that never
were go first. When that is depends on the page's age alone, and what the site makes it link to meanwhile (the
next article, related ones) on no hub. So each new page that it came to link to was drawn independently of the
schedule: one that was known is a recapture, and one that was not is a miss, which is verified and announced
like any other. Lists, feeds and sitemaps are no audits: the schedule chooses when they are read.
"""

from collections import Counter
from collections.abc import Callable

from incremental.base.times import DAY, HOUR, MINUTE
from incremental.daemon.at_work import AtWork
from incremental.features.completeness.showing import of_site
from store import Store
from store.values import VisitRecord

_EVERY_SECONDS = 6 * HOUR
# A site takes some 10 ms.
_STEP_SECONDS, _STEP_SITES = MINUTE, 20
# A page that was announced before is no news that a hub could miss.
_NEW = 30 * DAY


class Keeper:
    """Estimates the sites in turn; for one thread."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def step(self, now: float) -> float:
        """Estimate the sites that are due, a few; return when to call again."""
        kept = self._store.completeness
        for site, name in kept.due(now - _EVERY_SECONDS, _STEP_SITES):
            found = of_site(self._store, site, name, now)
            causes = Counter(page.cause.value for page in found.late)
            kept.keep(site, now, found.pages, (found.share, found.low, found.high), causes)
        return now + _STEP_SECONDS


def keeper(work: AtWork) -> Keeper:
    """Return the job."""
    return Keeper(work.store)


def auditor(store: Store) -> Callable[[VisitRecord], None]:
    """Return what notes, after a visit, which new pages an announced page came to link to."""

    def after(record: VisitRecord) -> None:
        if record.gained:
            since = record.at - _NEW
            store.completeness.audited(record.site_id, record.gained, since, record.at)

    return after
