"""The watched sites: which there are, and those that are in memory.

A site is read when it is its turn, and forgotten again when many others were since; what only memory knows
of it (whose turn it is, what covers what) is kept. So a start costs a few queries for any number of sites.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from incremental.base.attempts import Bug, attempt
from incremental.crawl.part import Part
from incremental.crawl.quarantine import CrawlQuarantine
from incremental.crawl.sites import PAUSE_SECONDS, Memory, WatchedSite, watch
from incremental.schedule.state import not_ahead
from incremental.settings import Settings
from store import Store
from store.crawl.quarantine import QuarantineKind
from store.enums import SiteStatus
from store.values import SiteRow

# Each takes about ten kilobytes, and what it has learned of its hubs and addresses on top.
MOST_IN_MEMORY = 5_000


class WatchedSites:
    """Used by the crawler's thread only."""

    def __init__(
        self, store: Store, settings: Settings, quarantine: CrawlQuarantine, part: Part
    ) -> None:
        self._store = store
        self._settings = settings
        self._quarantine = quarantine
        self._part = part
        # Since when each is watched by this process.
        self._since: dict[int, float] = {}
        self._sites: OrderedDict[int, WatchedSite] = OrderedDict()
        self._memories: dict[int, Memory] = {}
        self._resumed_at = 0.0

    def load(self, now: float) -> set[int]:
        """Read which sites there are; return those in memory that changed.

        Sites in quarantine are left out.
        """
        read, waits = self._store.read, QuarantineKind.SITE
        there = [
            one
            for one in read.active_sites()
            if self._part.has(one) and not self._quarantine.holds(waits, one, now)
        ]
        self._since = {one: self._since.get(one, now) for one in there}
        for gone in self._sites.keys() - self._since.keys():
            # What is under way is recorded before another daemon visits the site.
            if not (self._sites[gone].busy and self._part.gives_up(gone)):
                del self._sites[gone]
        for gone in self._memories.keys() - self._since.keys():
            del self._memories[gone]
        changed = set()
        for row in read.sites_by_id(list(self._sites)):
            site = self._sites[row.id]
            if _terms_of(row) != _terms_of(site.row):
                self._watch(row, now)
                changed.add(row.id)
            else:
                site.hub_states.clear()  # another process may have changed them
                site.named.clear()
                site.other_hubs = None
        return changed

    def __contains__(self, site_id: object) -> bool:
        return site_id in self._since

    def __iter__(self) -> Iterator[WatchedSite]:
        """Iterate over the sites in memory."""
        return iter(list(self._sites.values()))

    def in_memory(self, site_id: int) -> WatchedSite | None:
        """Return a site if it is in memory."""
        return self._sites.get(site_id)

    def get(self, site_id: int, now: float) -> WatchedSite | None:
        """Return a site, read from the store if need be; None = not watched, or it meets a bug."""
        if site_id not in self._since or not self._part.has(site_id):
            return None
        site = self._sites.get(site_id)
        if site is None:
            row = self._store.read.site(site_id)
            if row is None or row.state != SiteStatus.ACTIVE:
                return None
            site = self._watch(row, now)
        if site is not None:
            self._sites.move_to_end(site_id)
        return site

    def reread(self, site_id: int, now: float) -> WatchedSite | None:
        """Drop what is in memory of a site, and read its row again."""
        before = self._sites.pop(site_id, None)
        if before is None:
            return None
        self._memories.pop(site_id, None)
        site = self.get(site_id, now)
        if site is not None:
            site.resumed_at = before.resumed_at
        return site

    def hold(self, site_id: int, bug: Bug, now: float) -> None:
        """Leave out a site that met a bug until it is tried again."""
        self._sites.pop(site_id, None)
        self._memories.pop(site_id, None)
        self._since.pop(site_id, None)
        self._quarantine.hold(QuarantineKind.SITE, site_id, bug, now)

    def evict(self) -> None:
        """Drop the least recently used sites beyond the most, but for what only memory knows."""
        excess = max(len(self._sites) - MOST_IN_MEMORY, 0)
        for site_id in list(islice(self._sites, excess)):
            site = self._sites[site_id]
            if site.may_go:
                self._memories[site_id] = site.memory
                del self._sites[site_id]

    def resume(self, now: float) -> None:
        """Note that the process was suspended until now."""
        self._resumed_at = now
        for site in self._sites.values():
            site.resumed_at = now

    def _watch(self, row: SiteRow, now: float) -> WatchedSite | None:
        """Read a site's row; one that meets a bug is quarantined."""
        site = attempt(lambda: watch(row, self._settings))
        if isinstance(site, Bug):
            self.hold(row.id, site, now)
            return None
        before, memory = self._sites.get(row.id), self._memories.pop(row.id, None)
        if before is not None:
            site.take_over(before)
        elif memory is not None:
            site.remember(memory)
            site.resumed_at = max(site.resumed_at, self._resumed_at)
        else:
            asked_at, since = site.budget.updated_at, self._since[row.id]
            paused = asked_at and since - asked_at > PAUSE_SECONDS
            site.resumed_at = max(since if paused else 0.0, self._resumed_at)
        site.budget = not_ahead(site.budget, now)
        self._sites[row.id] = site
        return site


def _terms_of(row: SiteRow) -> SiteRow:
    """Return a row without what visits change all the time."""
    return replace(row, budget="", revisit="")
