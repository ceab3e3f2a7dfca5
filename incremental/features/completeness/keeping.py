"""The job that keeps an estimate for each site, so that nobody waits for it in ``hubwatch status``."""

from __future__ import annotations

from collections import Counter

from incremental.base.times import HOUR, MINUTE
from incremental.daemon.at_work import AtWork
from incremental.features.completeness.showing import of_site
from store import Store

_EVERY_SECONDS = 6 * HOUR
# A site takes some 10 ms.
_STEP_SECONDS, _STEP_SITES = MINUTE, 20


def keeper(work: AtWork) -> Keeper:
    """Return the job."""
    return Keeper(work.store)


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
