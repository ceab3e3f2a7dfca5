"""Throttle password guesses: each wrong guess makes the next wait longer.

Kept in memory and bounded: many addresses push out the oldest entries, but a counter of all addresses
together makes that no advantage. A client that has logged in with the password before is exempt from
that counter, so strangers cannot lock the owner out. Tokens and sessions are not throttled: 256 bits
cannot be guessed.
"""

from __future__ import annotations

import ipaddress
import threading
from dataclasses import dataclass

from classifier.words.latest import Latest

FREE_GUESSES = 5
LONGEST_WAIT_SECONDS = 900.0
FORGET_SECONDS = 3_600.0
# All clients together; with twenty times the free guesses of one.
EVERYBODY = "*"
_MOST_CLIENTS = 2_000
_SUBSCRIBER_BITS = 64


@dataclass
class _Record:
    failures: int = 0
    last_at: float = 0.0


class Throttle:
    """Wrong guesses by client address. Times are seconds of a monotonic clock."""

    def __init__(self) -> None:
        self._records: Latest[str, _Record] = Latest(_MOST_CLIENTS)
        self._welcome: Latest[str, None] = Latest(_MOST_CLIENTS)
        self._lock = threading.Lock()

    def wait_seconds(self, client: str, now: float) -> float:
        """Return the seconds until *client* may guess again."""
        with self._lock:
            client = network_of(client)
            one = self._wait(client, FREE_GUESSES, now)
            if client in self._welcome:
                return one
            return max(one, self._wait(EVERYBODY, FREE_GUESSES * 20, now))

    def failed(self, client: str, now: float) -> None:
        """Count a wrong guess."""
        with self._lock:
            for name in (network_of(client), EVERYBODY):
                record = self._records.get(name, _Record())
                if now - record.last_at > FORGET_SECONDS:
                    record.failures = 0
                record.failures, record.last_at = record.failures + 1, now
                self._records[name] = record

    def succeeded(self, client: str) -> None:
        """Reset *client*, which gave the right password."""
        with self._lock:
            client = network_of(client)
            self._records.pop(client, None)
            self._welcome[client] = None

    def _wait(self, name: str, free: int, now: float) -> float:
        record = self._records.get(name)
        if record is None or record.failures < free or now - record.last_at > FORGET_SECONDS:
            return 0.0
        # Bound the exponent: 2.0 ** n overflows.
        wait = min(2.0 ** min(record.failures - free, 20), LONGEST_WAIT_SECONDS)
        return max(record.last_at + wait - now, 0.0)


def network_of(client: str) -> str:
    """Return one client's key: the IPv4 address, or the /64 that one IPv6 subscriber controls."""
    try:
        address = ipaddress.IPv6Address(client)
    except ValueError:
        return client
    mapped = address.ipv4_mapped
    return str(mapped or ipaddress.IPv6Network((address, _SUBSCRIBER_BITS), strict=False))
