"""The HTTP server: in a thread beside the daemon, or alone. The one web module with sockets.

Connection deadlines for uvicorn, against slow-loris clients.

uvicorn times out idle connections only *after* a request; it waits forever for the first complete
header, so a few hundred slow clients can block the server. Here a connection without a request in
progress has a fixed deadline, and when there are too many, the longest waiting one is closed::

    opened ──> waiting ──(header complete)──> in progress ──(answered)──> waiting ...
                 │ deadline, or no room            │ client stops reading
                 └──────────── aborted <───────────┘

Source: the states of uvicorn's ``H11Protocol``; RFC 9112, section 9.5.
"""

import asyncio
import contextlib
import errno
import socket
import threading
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from incremental.base.errors import SettingsError
from incremental.interfaces.web.app import make_app
from incremental.interfaces.web.context import Web
from incremental.interfaces.web.guard import names_for_others

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
_IDLE_SECONDS = 10


class PatientProtocol(H11Protocol):
    """One uvicorn connection with deadlines."""

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
        _cancel(self._stalled)
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
        """Abort the longest waiting connection: of this client if it has too many, else of all."""
        everybody = [one for one in self.connections if isinstance(one, PatientProtocol)]
        address = self.client[0] if self.client else ""
        own = [one for one in everybody if one.client and one.client[0] == address]
        if address not in self.config.forwarded_allow_ips and len(own) > CONNECTIONS_OF_ONE:
            crowd = own
        elif len(everybody) >= CONNECTIONS:
            crowd = everybody
        else:
            return
        waiting = [one for one in crowd if one.is_waiting and one is not self]
        if waiting:
            longest = min(waiting, key=lambda one: one.waits_until)
            # Out of uvicorn's count at once.
            self.connections.discard(longest)
            longest.transport.abort()

    @property
    def waits_until(self) -> float:
        """The deadline, in the loop's time."""
        return self._deadline.when() if self._deadline is not None else 0.0


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


class ListenError(SettingsError):
    """The address cannot be bound: in use, not local, or not allowed."""

    def __str__(self) -> str:
        """Name the address; which part of it is to blame is not known."""
        return f"{self.value} {self.way_out}"


class Listener:
    """A bound socket with the application, not yet serving.

    Raises:
        SettingsError: others could reach the address, and neither a password nor a token is set.
        ListenError: the address cannot be listened on.
    """

    def __init__(self, web: Web) -> None:
        refuse_unguarded(web)
        self._socket = _bind(web.settings.web.host, web.settings.web.port)
        config = uvicorn.Config(
            make_app(web, warm=True),
            http=PatientProtocol,
            ws="none",
            loop="asyncio",
            lifespan="off",
            access_log=False,
            log_level="warning",
            log_config=None,
            server_header=False,
            # Client and scheme are what a trusted proxy says; nobody else is believed.
            forwarded_allow_ips=list(web.settings.web.trusted_proxies),
            limit_concurrency=CONNECTIONS,
            h11_max_incomplete_event_size=HEADER_BYTES,
            timeout_keep_alive=_IDLE_SECONDS,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)

    @property
    def url(self) -> str:
        """The URL of the web page, with the actual port if the settings say 0."""
        host, port = self._socket.getsockname()[:2]
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - shown, not bound
        return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"

    def serve(self) -> None:
        """Serve until :meth:`stop`; in the main thread also until SIGINT or SIGTERM."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()

    def stop(self) -> None:
        """Ask the server to stop; thread-safe."""
        self._server.should_exit = True


@contextlib.contextmanager
def served(web: Web) -> Iterator[str]:
    """Serve in a thread while the block runs; yields the URL.

    Raises:
        SettingsError: see :class:`Listener`.
    """
    listener = Listener(web)
    thread = threading.Thread(target=listener.serve, name="web", daemon=True)
    thread.start()
    try:
        yield listener.url
    finally:
        listener.stop()
        thread.join(timeout=5)


def refuse_unguarded(web: Web) -> None:
    """Raise SettingsError if others could reach a server without password or token."""
    settings = web.settings.web
    with web.store() as store:
        if settings.password or store.access.has_tokens():
            return
    way_out = (
        "others could reach it; set a password in [web] or HUBWATCH_WEB_PASSWORD, or make a "
        "token: hubwatch token add NAME --scope write"
    )
    reached_by = {
        "web.host": names_for_others([settings.host]),
        "web.allowed_hosts": names_for_others(settings.allowed_hosts),
        "web.public_url": names_for_others(filter(None, [urlsplit(settings.public_url).netloc])),
        "web.trusted_proxies": settings.trusted_proxies,
    }
    for field, names in reached_by.items():
        if names:
            raise SettingsError(field, ", ".join(names), way_out)


def _bind(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server(address[:2], family=family, backlog=128)
    except (OSError, UnicodeError) as error:
        taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
        why = "is in use" if taken else f"cannot be listened on ({error})"
        way_out = f"{why}; set another [web] port or host"
        raise ListenError("web.port", f"{host}:{port}", way_out) from error
