"""The only place that opens sockets: connections to checked addresses, with an allowance.

requests' adapter and urllib3's pools do the HTTP; ours is how connections are made, how long they take
and how much they receive::

    GuardedAdapter -> urllib3 pool -> connection -> guard.endpoints(host) -> metered socket
                                                 -> TLS, which still checks the *name*

The check is part of connecting, so no request can bypass it: redirects, robots.txt, proxies and retries
all connect here.
"""

import queue
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import certifi
from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter
from urllib3 import (
    BaseHTTPResponse,
    HTTPConnectionPool,
    HTTPResponse,
    HTTPSConnectionPool,
    PoolManager,
)
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    NameResolutionError,
    NewConnectionError,
)
from urllib3.util.ssl_ import create_urllib3_context

from incremental.base.clock import Clock
from incremental.base.errors import SettingsError
from incremental.fetch.egress import ours
from incremental.fetch.failures import TooLargeError
from incremental.fetch.guard import AddressGuard, Endpoint, literal_address

# Hosts to which connections stay open: while some rest between two requests, others are asked.
_POOLED_HOSTS = 256


class Allowance(threading.local):
    """Time and wire bytes left to the fetch of the current thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ends_at = float("inf")
        self._bytes = 0
        # Of all fetches of a visit.
        self._last_at = float("inf")

    @contextmanager
    def until(self, last_at: float) -> Iterator[None]:
        """Let fetches end by *last_at*, in monotonic time, whatever they are allowed."""
        before, self._last_at = self._last_at, last_at
        try:
            yield
        finally:
            self._last_at = before

    def start(self, seconds: float, wire_bytes: int) -> None:
        """Begin a fetch of at most *seconds* that receives at most *wire_bytes*."""
        self._ends_at = min(self._clock.monotonic() + seconds, self._last_at)
        self._bytes = wire_bytes

    def remaining_seconds(self) -> float:
        """Return the seconds left; raises TimeoutError at 0."""
        seconds = self._ends_at - self._clock.monotonic()
        if seconds <= 0:
            raise TimeoutError("the fetch took too long as a whole")
        return seconds

    def bound(self, sock: socket.socket) -> None:
        """Cap the timeout of *sock* to the time left."""
        remaining = self.remaining_seconds()
        timeout = sock.gettimeout()
        if timeout is None or timeout > remaining:
            sock.settimeout(remaining)

    def spend(self, received: int) -> int:
        """Count received bytes and return their number; raises TooLargeError above the allowance."""
        # Not all bytes become body: endless empty gzip members, or a chunk that claims length -1, would
        # pass a limit on the body.
        self._bytes -= received
        if self._bytes < 0:
            raise TooLargeError
        return received


class _Metered(socket.socket):
    """A socket bound by the allowance: a slow drip resets a timeout, but not this."""

    allowance: Allowance | None = None

    def recv_into(self, *given: Any, **named: Any) -> int:  # noqa: ANN401 - TLS has other defaults
        if self.allowance is None:
            return super().recv_into(*given, **named)
        self.allowance.bound(self)
        return self.allowance.spend(super().recv_into(*given, **named))


class _MeteredTLS(_Metered, ssl.SSLSocket):
    """The same over TLS."""


class _Connector:
    """Opens the sockets of one adapter."""

    def __init__(self, guard: AddressGuard, allowance: Allowance) -> None:
        self.guard = guard
        self.allowance = allowance

    def connect(self, connection: HTTPConnection, host: str) -> socket.socket:
        """Connect to the first address of *host* that answers; raises urllib3's errors."""
        try:
            return self._first_answer(host, connection.port, connection.timeout or 0.0)
        except socket.gaierror as error:
            raise NameResolutionError(host, connection, error) from error
        except TimeoutError as error:
            raise ConnectTimeoutError(connection, "connecting took too long") from error
        except OSError as error:
            raise NewConnectionError(connection, "the connection failed") from error

    def _first_answer(self, host: str, port: int, timeout: float) -> socket.socket:
        def lookup() -> list[Endpoint]:
            with ours():
                return self.guard.endpoints(host, port)

        failure = OSError("no address")
        remaining = self.allowance.remaining_seconds()
        found = lookup() if literal_address(host) else _within(min(timeout, remaining), lookup)
        for endpoint in found:
            try:
                return self._open(endpoint, timeout)
            except OSError as error:
                failure = error
        raise failure

    def _open(self, endpoint: Endpoint, timeout: float) -> socket.socket:
        sock = _Metered(endpoint.family, socket.SOCK_STREAM)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.settimeout(timeout)
            self.allowance.bound(sock)
            with ours():
                sock.connect(endpoint.address)
            # The remaining timeout also bounds the TLS handshake.
            self.allowance.bound(sock)
        except OSError:
            sock.close()
            raise
        sock.allowance = self.allowance
        return sock


def _within(seconds: float, work: Callable[[], list[Endpoint]]) -> list[Endpoint]:
    """Return ``work()`` or raise TimeoutError."""
    outcome: queue.SimpleQueue[list[Endpoint] | Exception] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcome.put(work())
        except (OSError, ValueError, HTTPError) as error:
            outcome.put(error)

    # The system's resolver has no timeout; an abandoned thread ends when it gives up.
    threading.Thread(target=run, name="resolver", daemon=True).start()
    try:
        found = outcome.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError("resolving the name took too long") from None
    if isinstance(found, Exception):
        raise found
    return found


def _guarded_pools(connector: _Connector) -> dict[str, type[HTTPConnectionPool]]:
    """Return urllib3's pool classes by scheme, whose connections *connector* opens."""

    class Connection(HTTPConnection):
        """Connects to checked addresses."""

        def _new_conn(self) -> socket.socket:
            return connector.connect(self, self._dns_host)

    class TLSConnection(HTTPSConnection):
        """The same over TLS; the certificate must match the name, not the address."""

        def _new_conn(self) -> socket.socket:
            return connector.connect(self, self._dns_host)

        def connect(self) -> None:
            super().connect()
            if isinstance(self.sock, _MeteredTLS):
                self.sock.allowance = connector.allowance

    class Pool(HTTPConnectionPool):
        """Of plain connections."""

        ConnectionCls = Connection

    class TLSPool(HTTPSConnectionPool):
        """Of encrypted connections."""

        ConnectionCls = TLSConnection

    return {"http": Pool, "https": TLSPool}


class GuardedAdapter(HTTPAdapter):
    """requests' transport behind the address guard.

    Shared by all threads: urllib3's pools are thread-safe, and the allowance is per thread.
    *ca_file* replaces the default certificate authorities.
    """

    def __init__(
        self, guard: AddressGuard, allowance: Allowance, ca_file: str | None = None
    ) -> None:
        self._pools = _guarded_pools(_Connector(guard, allowance))
        self._tls = create_urllib3_context()
        self._tls.sslsocket_class = _MeteredTLS
        try:
            self._tls.load_verify_locations(ca_file or certifi.where())
        except OSError as error:
            raise SettingsError("ca_file", ca_file, "name a PEM file with certificates") from error
        super().__init__(pool_connections=_POOLED_HOSTS)

    def init_poolmanager(
        self, connections: int, maxsize: int, block: bool = False, **options: object
    ) -> None:
        """Build the pools for direct connections."""
        super().init_poolmanager(connections, maxsize, block, ssl_context=self._tls, **options)
        self.poolmanager.pool_classes_by_scheme = self._pools

    def proxy_manager_for(self, proxy: str, **options: object) -> PoolManager:
        """Build the pools for one proxy, whose address is checked like any other."""
        tls = {"ssl_context": self._tls, "proxy_ssl_context": self._tls}
        manager: PoolManager = super().proxy_manager_for(proxy, **tls, **options)
        manager.pool_classes_by_scheme = self._pools
        return manager

    def build_response(self, req: PreparedRequest, resp: BaseHTTPResponse) -> Response:
        """Wrap the response, but keep its cookies from ``http.cookiejar``: see ``cookies_set``."""
        if not isinstance(resp, HTTPResponse):
            return super().build_response(req, resp)
        # requests reads cookies through this attribute; there is no other way to stop it.
        original, resp._original_response = resp._original_response, None  # noqa: SLF001
        response = super().build_response(req, resp)
        resp._original_response = original  # noqa: SLF001
        return response

    def cert_verify(self, conn: HTTPConnectionPool, *_settings: object) -> None:
        """Require verification; the authorities are loaded once, in the TLS context."""
        if isinstance(conn, HTTPSConnectionPool):
            conn.cert_reqs = "CERT_REQUIRED"
