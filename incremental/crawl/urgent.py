"""The urgent queue of a site: what is fetched before all that is due. In memory.

Nothing that it holds or turns away is lost with it. A hub that is owed a visit carries that in the store
and is due there (:mod:`incremental.crawl.overflows`); a page to verify has its due time. The queue
only makes them sooner::

    hubs    next pages of a list, hubs behind a list that overflowed: first, within their share
    pages   verification fetches: a few, the rest is fetched when it is due
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

MAX_PAGES = 8


@dataclass
class UrgentQueue:
    """Page ids of hubs and of pages, each once."""

    hubs: deque[int] = field(default_factory=deque)
    """Bounded by the number of hubs that a site may have."""
    pages: deque[int] = field(default_factory=deque)

    def push(self, *page_ids: int) -> None:
        """Queue hubs behind those that wait."""
        self.hubs.extend(one for one in dict.fromkeys(page_ids) if one not in self.hubs)

    def push_first(self, page_id: int) -> None:
        """Queue a hub before those that wait."""
        if page_id in self.hubs:
            self.hubs.remove(page_id)
        self.hubs.appendleft(page_id)

    def verify(self, *page_ids: int) -> None:
        """Queue verification fetches as far as there is room; the others are fetched when due."""
        self.pages.extend(page_ids[: self.room])

    @property
    def room(self) -> int:
        """How many more verification fetches it takes."""
        return max(MAX_PAGES - len(self.pages), 0)

    def take(self, page_id: int) -> bool:
        """Take out what is fetched now, or makes no sense any more; return whether it was queued."""
        if page_id in self.hubs:
            self.hubs.remove(page_id)
            return True
        if page_id in self.pages:
            self.pages.remove(page_id)
            return True
        return False
