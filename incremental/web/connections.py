"""How long a connection may be of no use: what stands between uvicorn and clients that never finish.

uvicorn closes connections that are idle *after* a request, and waits for ever for the end of a first
one's header, or of a drip of them. Some hundred such connections fill its limit, and the server is gone
for everybody (slow loris). Here a connection without a request in progress has a deadline that no byte
puts off, and when there are too many, the one that waits longest makes room::

    made ──> waiting ──(header complete)──> in progress ──(answered)──> waiting ...
               │ deadline, or no room            │ takes nothing for too long
               └──────────── aborted <───────────┘

Source: uvicorn's ``H11Protocol``, whose states these are; RFC 9112, section 9.5.
"""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterable
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

# At the same time, of all clients; more requests than that in progress are answered 503.
CONNECTIONS: Final = 200
# Of one address, unless it is a proxy of the settings. Browsers open six.
CONNECTIONS_OF_ONE: Final = 50
# From the beginning, or from the last answer, until the header of a request is there as a whole.
WAITING_SECONDS: Final = 20.0
# How long a client may leave the buffers of its answer full.
STALLED_SECONDS: Final = 60.0
# Of a request: line and header together.
HEADER_BYTES: Final = 16_384


class PatientProtocol(H11Protocol):
    """One connection of uvicorn's, with an end to the patience."""

    proxies: Container[str] = ()
    """Addresses that speak for many; set on the class that :func:`protocol_for` returns."""
    is_aborted = False
    _deadline: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether no request is in progress: the connection is of no use to anybody just now."""
        return self.cycle is None or self.cycle.response_complete or self.transport.is_closing()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn does
        """Begin to wait; make room first."""
        super().connection_made(transport)
        self._watch()
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """End all timers."""
        _cancel(self._deadline)
        self._deadline = None
        _cancel(self._stalled)
        self._stalled = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in bytes; only a whole header ends the waiting."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        """Note that the client does not take what it asked for."""
        super().pause_writing()
        if self._stalled is None:
            self._stalled = self.loop.call_later(STALLED_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Note that it has taken most of it."""
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
        """Abort what waits longest, of this client or of all, until there is room for one more."""
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
        """Give the connection up; uvicorn no longer counts it."""
        self.is_aborted = True
        self.connections.discard(self)
        self.transport.abort()

    @property
    def waits_until(self) -> float:
        """When the waiting ends, in the loop's time: the earliest waits longest."""
        return self._deadline.when() if self._deadline is not None else 0.0


def protocol_for(proxies: Iterable[str]) -> type[PatientProtocol]:
    """Return the protocol for a server behind *proxies*, whose connections are of many clients."""
    return type("Protocol", (PatientProtocol,), {"proxies": frozenset(proxies)})


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
