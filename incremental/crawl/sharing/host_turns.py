"""Turns at a host: while several daemons are at work, the store knows who asks it and when it is free.

::

    take(host)  ── one statement ──>  ours, or how long to wait
    free(host)  ── with the next take, or within seconds ──>  free after what it is owed

Alone there is no statement. Whoever was alone makes known what its hosts are owed before anybody else
begins (:mod:`incremental.crawl.sharing.membership`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from store.daemons import Daemons


class HostTurns:
    """The turns of one daemon. Used by the crawler's thread only."""

    def __init__(self, daemons: Daemons) -> None:
        self._daemons = daemons
        self._daemon = 0
        # Until when each is owed a pause, by this machine's clock.
        self._freed: dict[str, float] = {}
        self.shared = False
        """Whether others ask hosts as well."""

    def begin(self, daemon: int, *, shared: bool) -> None:
        """Take turns as the daemon of this id."""
        self._daemon, self.shared = daemon, shared
        self._freed.clear()

    def take(self, host: str, delay_seconds: float, now: float) -> float:
        """Take a host for one request; return 0, or how many seconds to wait.

        Raises:
            StoreFencedError: another daemon has taken over.
        """
        if not self.shared:
            return 0.0
        freed = _from_now(self._freed, now)
        self._freed.clear()
        return self._daemons.take_host(self._daemon, host, delay_seconds=delay_seconds, freed=freed)

    def free(self, host: str, until: float) -> None:
        """Give a host back, which may be asked again from *until* on."""
        if self.shared:
            self._freed[host] = until

    def settle(
        self, busy: Collection[str], now: float, owed: Mapping[str, float] | None = None
    ) -> None:
        """Write what was given back; *busy* hosts are being asked, *owed*: until when others rest."""
        waits = _from_now({**(owed or {}), **self._freed}, now)
        self._freed.clear()
        self._daemons.settle_hosts(self._daemon, waits, list(busy))


def _from_now(owed: Mapping[str, float], now: float) -> dict[str, float]:
    """Return moments as seconds from now: only these mean the same on every machine."""
    return {host: max(until - now, 0.0) for host, until in owed.items()}
