"""Hubs in the order in which they are due: a heap with lazy deletion, O(log n) for each change."""

from __future__ import annotations

import heapq
import math
from itertools import count


class DueQueue:
    """Keys by due time. A key is in the queue once: a new time replaces the old one."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, str]] = []
        self._valid: dict[str, int] = {}
        self._serial = count()

    def __len__(self) -> int:
        """Return the number of keys that are waiting."""
        return len(self._valid)

    def put(self, key: str, due_at: float) -> None:
        """Queue *key* for *due_at*, unix seconds; infinite takes it out."""
        if math.isinf(due_at):
            self._valid.pop(key, None)
            return
        serial = next(self._serial)
        self._valid[key] = serial
        heapq.heappush(self._heap, (due_at, serial, key))

    def pop(self) -> tuple[float, str] | None:
        """Take out what is due first, with its time; None when nothing waits."""
        while self._heap:
            due_at, serial, key = heapq.heappop(self._heap)
            if self._valid.get(key) == serial:
                del self._valid[key]
                return due_at, key
        return None
