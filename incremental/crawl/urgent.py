"""The urgent queue of a site: what is fetched before all that is due. In memory.

Nothing that it holds or turns away is lost with it. A hub that is owed a visit carries that in the store
and is due there (:mod:`incremental.crawl.overflows`); a page to verify has its due time. The queue
only makes them sooner::

    hubs    next pages of a list, hubs behind a list that overflowed: first, within an allowance
    pages   verification fetches: a few, the rest is fetched when it is due
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from incremental.times import DAY, NEVER

MAX_PAGES = 8
HUBS_AT_ONCE = 0.25
"""Share of a day's requests that may go to urgent hubs at once, whatever else is due."""
HUBS_A_DAY = 0.5
"""Share of the requests that may go to them day after day: the other half keeps the watch."""
LEAST_AT_ONCE = 8.0
"""So that a site of few requests gets over an overflow, too."""


@dataclass
class UrgentQueue:
    """Page ids of hubs and of pages, each once. Times are unix seconds."""

    hubs: deque[int] = field(default_factory=deque)
    """Bounded by the number of hubs that a site may have."""
    pages: deque[int] = field(default_factory=deque)
    allowance: float = -1.0
    """Urgent hubs that may be read now; below zero = not asked yet, so all of it is there."""
    allowance_at: float = 0.0

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

    def first(self, per_day: float, now: float) -> int | None:
        """Return what to fetch now; it stays queued. None when nothing is, or hubs must wait."""
        if self.hubs and self._open_at(per_day, now) <= now:
            return self.hubs[0]
        return self.pages[0] if self.pages else None

    def open_at(self, per_day: float, now: float) -> float:
        """Return when :meth:`first` has something, :data:`NEVER` when nothing waits."""
        if self.pages:
            return now
        return self._open_at(per_day, now) if self.hubs else NEVER

    def take(self, page_id: int) -> bool:
        """Take out what is fetched now, or makes no sense any more; return whether it was queued."""
        if page_id in self.hubs:
            self.hubs.remove(page_id)
            return True
        if page_id in self.pages:
            self.pages.remove(page_id)
            return True
        return False

    def spend(self) -> None:
        """Count a visit of an urgent hub against the allowance."""
        self.allowance -= 1

    def _open_at(self, per_day: float, now: float) -> float:
        """Return when the next hub may be read. A clock that went back grants nothing."""
        most = max(HUBS_AT_ONCE * per_day, LEAST_AT_ONCE)
        earned = max(now - self.allowance_at, 0.0) / DAY * HUBS_A_DAY * per_day
        self.allowance = min(self.allowance + earned, most) if self.allowance_at else most
        self.allowance_at = now
        # A hair less than one: what adds up to one grant in floats may miss it by rounding.
        if self.allowance >= 1 - 1e-9:
            return now
        if per_day <= 0:
            return NEVER
        return now + (1 - self.allowance) / (HUBS_A_DAY * per_day) * DAY
