"""Visits that users asked for: fetched first, over budget if need be, as soon as politeness allows.

The store remembers them until they are taken, so a restart forgets none.
"""

from collections.abc import Collection

from incremental.visit.visit import VisitTask, hub_task, refresh_task, verification_task
from store import Store


class RequestedVisits:
    """Used by the crawler's thread only."""

    def __init__(self, store: Store) -> None:
        self._store = store
        # Page ids by site, the earliest request first.
        self._pages: dict[int, list[int]] = {}

    def load(self) -> Collection[int]:
        """Read the requests; return the ids of the sites that have any."""
        self._pages = self._store.editing.visit_requests()
        return self._pages.keys()

    def waits(self, site_id: int) -> bool:
        """Whether a page of the site is to be visited now."""
        return site_id in self._pages

    def task(self, site_id: int) -> VisitTask | None:
        """Return the first requested visit of a site; it stays requested until it is taken."""
        while site_id in self._pages:
            page_id = self._pages[site_id][0]
            task = self._task_of(page_id)
            if task is not None:
                return task
            self.drop(site_id, page_id)
        return None

    def _task_of(self, page_id: int) -> VisitTask | None:
        hub = self._store.read.hub(page_id)
        if hub is not None:
            return hub_task(hub)
        verification = self._store.read.page(page_id)
        if verification is not None and verification.verify_due_at is not None:
            return verification_task(verification)
        refresh = self._store.refreshes.row(page_id)
        return refresh_task(refresh) if refresh is not None else None

    def drop(self, site_id: int, page_id: int) -> None:
        """Withdraw a request: its visit was begun, or may not be made."""
        waiting = [one for one in self._pages.get(site_id, ()) if one != page_id]
        if waiting:
            self._pages[site_id] = waiting
        else:
            self._pages.pop(site_id, None)
        self._store.editing.drop_request(page_id)
