"""Clients that never finish take the server from nobody: deadlines, room for others, stalled answers."""

import asyncio
import contextlib
import socket
import urllib.request
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState
from web_served import Served

from incremental.interfaces.web import server
from incremental.interfaces.web.server import CONNECTIONS, CONNECTIONS_OF_ONE, PatientProtocol
from incremental.interfaces.web.server import served as serving

HALF = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
WHOLE = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


class Clients:
    """Connections to one server, closed at the end."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.url, self._address = url, (parts.hostname, parts.port)
        self._open = contextlib.ExitStack()

    def new(self, sent: bytes = b"") -> socket.socket:
        sock = self._open.enter_context(socket.create_connection(self._address, timeout=20))
        sock.sendall(sent)
        return sock

    def ask(self) -> str:
        with urllib.request.urlopen(self.url + "healthz", timeout=20) as answer:
            return str(answer.read().decode())

    def close(self) -> None:
        self._open.close()


def is_cut_off(sock: socket.socket) -> bool:
    """Return whether the server ends the connection without a word; waits until it says something."""
    try:
        return sock.recv(1_000) == b""
    except ConnectionResetError:
        return True


@contextlib.contextmanager
def a_server(served: Served, **settings: object) -> Iterator[Clients]:
    with serving(served.with_settings(port=0, **settings).web) as url:
        clients = Clients(url)
        try:
            yield clients
        finally:
            clients.close()


@pytest.mark.parametrize("proxies", [(), ("127.0.0.1",)])
@pytest.mark.parametrize("sent", [b"", HALF])
def test_many_half_open_connections_take_it_from_nobody(
    empty: Served, sent: bytes, proxies: tuple[str, ...]
) -> None:
    """From one address, and from behind a proxy, where they may be of many."""
    with a_server(empty, trusted_proxies=proxies, password="x") as clients:
        for _ in range(CONNECTIONS + 50):
            clients.new(sent)
        assert clients.ask() == "ok\n"


def test_who_waits_longest_makes_room(empty: Served) -> None:
    with a_server(empty) as clients:
        first, *_, last = [clients.new(HALF) for _ in range(CONNECTIONS_OF_ONE + 1)]
        assert is_cut_off(first)
        last.sendall(b"no more\r\n\r\n")
        assert last.recv(1_000).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("before", [b"", WHOLE])
def test_no_drip_puts_the_deadline_of_a_header_off(
    empty: Served, monkeypatch: pytest.MonkeyPatch, before: bytes
) -> None:
    """Neither on a new connection nor after an answer."""
    monkeypatch.setattr(server, "WAITING_SECONDS", 0.5)
    with a_server(empty) as clients:
        sock = clients.new(before)
        if before:
            assert sock.recv(1_000).startswith(b"HTTP/1.1 200")
        sock.settimeout(0.02)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for _ in range(1_000):
                sock.sendall(b"G" if before else b"a")
                with contextlib.suppress(TimeoutError):
                    if sock.recv(1_000) == b"":
                        break
            else:
                pytest.fail("the connection was never ended")


def whole_answer(sock: socket.socket) -> bytes:
    """Read up to the end of the body: head and body may come in one piece or in two."""
    answer = b""
    while not answer.endswith(b"ok\n") and (part := sock.recv(1_000)):
        answer += part
    return answer


def test_a_request_in_time_is_answered_however_it_is_cut(empty: Served) -> None:
    with a_server(empty) as clients:
        sock = clients.new()
        for part in (WHOLE[:10], WHOLE[10:-2], WHOLE[-2:]):
            sock.sendall(part)
        assert whole_answer(sock).startswith(b"HTTP/1.1 200")
        sock.sendall(WHOLE)
        assert whole_answer(sock).startswith(b"HTTP/1.1 200")


def test_a_header_without_end_is_refused(empty: Served) -> None:
    with a_server(empty) as clients:
        sock = clients.new(HALF)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for _ in range(100):
                sock.sendall(b"a" * 1_000)
        with contextlib.suppress(ConnectionResetError):
            assert sock.recv(1_000).startswith(b"HTTP/1.1 4")


async def large_answer(scope: Scope, _receive: Receive, send: Send) -> None:
    """Answer with 50 MB, more than any buffer holds."""
    assert scope["type"] == "http"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x" * 50_000_000})


@pytest.mark.parametrize("reads", [False, True])
def test_who_takes_no_answer_is_cut_off_and_who_does_has_it_all(
    monkeypatch: pytest.MonkeyPatch, *, reads: bool
) -> None:
    monkeypatch.setattr(server, "STALLED_SECONDS", 0.5 if not reads else 60.0)

    async def ask() -> int:
        loop, lost = asyncio.get_running_loop(), asyncio.Event()

        class Watched(PatientProtocol):
            def connection_lost(self, exc: Exception | None) -> None:
                super().connection_lost(exc)
                lost.set()

        config = uvicorn.Config(large_answer, lifespan="off", log_config=None)
        state = ServerState()
        server = await loop.create_server(lambda: Watched(config, state, {}), "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname(), limit=100)
        writer.write(WHOLE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        taken = len(await reader.read()) if reads else 0
        await asyncio.wait_for(lost.wait(), 20)
        writer.transport.abort()
        server.close()
        return taken

    assert asyncio.run(ask()) >= (50_000_000 if reads else 0)
