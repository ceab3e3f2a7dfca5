"""A small server on loopback that says exactly what a test tells it to, right or wrong."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from incremental.base.clock import SystemClock
from incremental.fetch.guard import Endpoint, Resolver
from incremental.fetch.options import FetchSettings, SiteAccess
from incremental.fetch.session import Fetcher

if TYPE_CHECKING:
    import ssl
    from types import TracebackType

Script = Callable[[socket.socket, threading.Event], None]
"""Talks on one connection by hand; the event is set when the test is over."""

LOCAL = FetchSettings(
    allowed_networks=("127.0.0.0/8",),
    connect_timeout_seconds=5.0,
    read_timeout_seconds=5.0,
    total_timeout_seconds=20.0,
)


class LocalServer:
    """Answers each path with bytes, or lets a script talk; keeps what it was asked.

    Every connection is closed after one answer.
    """

    def __init__(
        self, answers: Mapping[str, bytes | Script], tls: ssl.SSLContext | None = None
    ) -> None:
        self.requests: list[str] = []
        self._answers = answers
        self._tls = tls
        self._over = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept)]

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        scheme = "https" if self._tls else "http"
        return f"{scheme}://{host}:{self.port}{path}"

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        # The other side hangs up as it likes: that is what most tests are about.
        with suppress(OSError), connection:
            plain: socket.socket = connection
            if self._tls:
                plain = self._tls.wrap_socket(connection, server_side=True)
            with plain:
                request = read_request(plain)
                self.requests.append(request)
                answer = self._answers[request.split(" ")[1]]
                if isinstance(answer, bytes):
                    plain.sendall(answer)
                else:
                    answer(plain, self._over)


def read_request(connection: socket.socket) -> str:
    """Read the head of one request."""
    received = b""
    while b"\r\n\r\n" not in received:
        chunk = connection.recv(65_536)
        if not chunk:
            raise ConnectionError("no request came")
        received += chunk
    return received.decode("latin-1")


def answer(body: bytes = b"", status: str = "200 OK", /, **headers: str) -> bytes:
    """Write an answer; header names have ``_`` for ``-``; the length is right unless given."""
    fields = {"content_length": str(len(body)), **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode("latin-1") + body


def redirect(location: str, status: str = "302 Found", /, **headers: str) -> bytes:
    return answer(b"", status, location=location, **headers)


def hang(_connection: socket.socket, over: threading.Event) -> None:
    """Say nothing until the test is over."""
    over.wait()


def drip(head: bytes) -> Script:
    """Say *head*, then one byte after the other, each well within the read time-out."""

    def script(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(head)
        while not over.wait(0.01):
            connection.sendall(b"x")

    return script


def fetcher(
    settings: FetchSettings = LOCAL,
    *,
    sites: Mapping[str, SiteAccess] | None = None,
    resolver: Resolver | None = None,
) -> Fetcher:
    """Return a fetcher that may go to loopback."""
    return Fetcher(settings, clock=SystemClock(), sites=sites, resolver=resolver)


def names(**addresses: str) -> Resolver:
    """Return a resolver that knows hosts by their first label: ``names(news="127.0.0.1")``."""

    def resolve(host: str, port: int) -> list[Endpoint]:
        found = addresses.get(host.split(".", maxsplit=1)[0])
        if found is None:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        if ":" in found:
            return [Endpoint(socket.AF_INET6, (found, port, 0, 0))]
        return [Endpoint(socket.AF_INET, (each, port)) for each in found.split(",")]

    return resolve
