"""Lets patterns that are watched for changes take in the pages that are known, and those found later.

Each pattern remembers in the store up to which page id it was compared, so that none is missed if the
process dies, and no page is compared twice.
"""

from __future__ import annotations

from incremental.base.scope import compile_pattern
from incremental.crawl.part import Part
from store import Store
from store.page_watches import WatchRow
from store.values import VisitRecord

_BATCH = 2_000


def take_in(store: Store, watch: WatchRow, *, now: float) -> int:
    """Let a pattern take in what it was not compared with yet; return how many pages are new to it."""
    pattern, taken, after = compile_pattern(watch.pattern), 0, watch.taken_to
    while pages := store.page_watches.pages_after(watch.site_id, after, limit=_BATCH):
        after = pages[-1][0]
        matching = [page for page, url in pages if pattern.search(url)]
        taken += store.page_watches.take_in(watch, matching, after, now=now)
    return taken


class PatternWatches:
    """The patterns of all sites. Used by the crawler's thread only."""

    def __init__(self, store: Store, part: Part) -> None:
        self._store = store
        self._part = part
        self._by_site: dict[int, list[int]] = {}

    def load(self, now: float) -> None:
        """Read the patterns: at start, and after another process changed them."""
        self._by_site = {}
        for watch in self._store.page_watches.watches():
            if watch.is_pattern and self._part.has(watch.site_id):
                self._by_site.setdefault(watch.site_id, []).append(watch.id)
                take_in(self._store, watch, now=now)

    def after(self, record: VisitRecord, now: float) -> None:
        """Let the patterns of a site take in what its visit found."""
        if not (record.links or record.more_pages or record.moved_to):
            return
        for watch_id in self._by_site.get(record.site_id, ()):
            watch = self._store.page_watches.watch(watch_id)
            if watch is not None:
                take_in(self._store, watch, now=now)
