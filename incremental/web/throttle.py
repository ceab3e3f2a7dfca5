"""Slowing down who guesses passwords: each wrong guess makes the next wait longer.

Kept in memory and bounded: a flood of addresses pushes out the oldest entries, but the guesses of all
addresses together are counted as well, so that it does not help to have many.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

FREE_GUESSES = 5
LONGEST_WAIT_SECONDS = 900.0
FORGET_SECONDS = 3_600.0
EVERYBODY = "*"
"""The entry of all clients together; it has twenty times the free guesses of one."""
_MOST_CLIENTS = 2_000


@dataclass
class _Record:
    failures: int = 0
    last_at: float = 0.0


class Throttle:
    """Wrong guesses by client address. Times are seconds of any clock that does not go back."""

    def __init__(self) -> None:
        self._records: OrderedDict[str, _Record] = OrderedDict()
        self._lock = threading.Lock()

    def wait_seconds(self, client: str, now: float) -> float:
        """Return how long *client* has to wait before it may guess; 0 = not at all."""
        with self._lock:
            one = self._wait(client, FREE_GUESSES, now)
            return max(one, self._wait(EVERYBODY, FREE_GUESSES * 20, now))

    def failed(self, client: str, now: float) -> None:
        """Note a wrong guess."""
        with self._lock:
            for name in (client, EVERYBODY):
                record = self._records.setdefault(name, _Record())
                if now - record.last_at > FORGET_SECONDS:
                    record.failures = 0
                record.failures, record.last_at = record.failures + 1, now
                self._records.move_to_end(name)
            while len(self._records) > _MOST_CLIENTS:
                self._records.popitem(last=False)

    def succeeded(self, client: str) -> None:
        """Forget the wrong guesses of *client*."""
        with self._lock:
            self._records.pop(client, None)

    def _wait(self, name: str, free: int, now: float) -> float:
        record = self._records.get(name)
        if record is None or record.failures < free or now - record.last_at > FORGET_SECONDS:
            return 0.0
        # The exponent is bounded, because a float is.
        wait = min(2.0 ** min(record.failures - free, 20), LONGEST_WAIT_SECONDS)
        return max(record.last_at + wait - now, 0.0)
