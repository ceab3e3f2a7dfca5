"""Connection deadlines for uvicorn, against slow-loris clients.

uvicorn times out idle connections only *after* a request; it waits forever for the first complete
header, so a few hundred slow clients can block the server. Here a connection without a request in
progress has a fixed deadline, and when there are too many, the longest waiting one is closed::

    opened ──> waiting ──(header complete)──> in progress ──(answered)──> waiting ...
                 │ deadline, or no room            │ client stops reading
                 └──────────── aborted <───────────┘

Source: the states of uvicorn's ``H11Protocol``; RFC 9112, section 9.5.
"""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterable
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

# Of all clients together; beyond it requests get a 503.
CONNECTIONS: Final = 200
# Per address, trusted proxies excepted. Browsers open six.
CONNECTIONS_OF_ONE: Final = 50
# From connecting, or from the last response, to a complete request header.
WAITING_SECONDS: Final = 20.0
# How long the send buffer may stay full.
STALLED_SECONDS: Final = 60.0
# Request line and headers together.
HEADER_BYTES: Final = 16_384


class PatientProtocol(H11Protocol):
    """One uvicorn connection with deadlines."""

    proxies: Container[str] = ()
    """Trusted proxies, without a limit per address; set by :func:`protocol_for`."""
    is_aborted = False
    _deadline: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether no request is in progress."""
        return self.cycle is None or self.cycle.response_complete or self.transport.is_closing()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn does
        """Start the deadline and make room."""
        super().connection_made(transport)
        self._watch()
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers."""
        _cancel(self._deadline)
        self._deadline = None
        _cancel(self._stalled)
        self._stalled = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Receive bytes; only a complete header stops the deadline."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        """Start the stall timer: the client has stopped reading."""
        super().pause_writing()
        if self._stalled is None:
            self._stalled = self.loop.call_later(STALLED_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the stall timer: the send buffer has drained."""
        _cancel(self._stalled)
        self._stalled = None
        super().resume_writing()

    def _watch(self) -> None:
        if not self.is_waiting:
            _cancel(self._deadline)
            self._deadline = None
        elif self._deadline is None:
            self._deadline = self.loop.call_later(WAITING_SECONDS, self.transport.abort)

    def _make_room(self) -> None:
        """Abort the longest waiting connections, of this client and then of all, down to the limits."""
        everybody = [one for one in self.connections if isinstance(one, PatientProtocol)]
        address = self.client[0] if self.client else ""
        if address not in self.proxies:
            own = [one for one in everybody if one.client and one.client[0] == address]
            self._shorten(own, CONNECTIONS_OF_ONE)
            everybody = [one for one in everybody if not one.is_aborted]
        self._shorten(everybody, CONNECTIONS - 1)

    def _shorten(self, connections: list[PatientProtocol], most: int) -> None:
        waiting = [one for one in connections if one.is_waiting and one is not self]
        waiting.sort(key=lambda one: one.waits_until)
        for one in waiting[: max(len(connections) - most, 0)]:
            one.abort()

    def abort(self) -> None:
        """Abort the connection and take it out of uvicorn's count."""
        self.is_aborted = True
        self.connections.discard(self)
        self.transport.abort()

    @property
    def waits_until(self) -> float:
        """The deadline, in the loop's time."""
        return self._deadline.when() if self._deadline is not None else 0.0


def protocol_for(proxies: Iterable[str]) -> type[PatientProtocol]:
    """Return the protocol class for a server behind *proxies*."""
    return type("Protocol", (PatientProtocol,), {"proxies": frozenset(proxies)})


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
