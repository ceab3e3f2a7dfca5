"""HTTP servers on loopback, each of which answers by one function."""

import socket
import threading
from collections.abc import Callable, Mapping
from email.message import Message
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self


class Asked(NamedTuple):
    """A request."""

    method: str
    path: str
    """With its query."""
    headers: Message
    body: bytes
    connection: socket.socket


class Answered(NamedTuple):
    """An answer, whose length is sent with it."""

    code: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = {}


class LocalServer(ThreadingHTTPServer):
    """Serves what *answer* returns, None = nothing, on a port (0 = a free one); a context manager.

    It says nothing when a client is gone: clients are killed, and hang up. *keep_alive*: connections are.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        answer: Callable[[Asked], Answered | None],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        keep_alive: bool = False,
    ) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1" if keep_alive else "HTTP/1.0"
            # Header and body leave together: apart, each answer waits for the delayed acknowledgement, 40 ms.
            wbufsize = -1

            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                asked = Asked(self.command, self.path, self.headers, body, self.connection)
                found = answer(asked)
                if found is None:
                    self.close_connection = True
                    return
                self.send_response(found.code)
                for name, value in found.headers.items():
                    self.send_header(name, value)
                if found.code != HTTPStatus.NOT_MODIFIED:
                    self.send_header("Content-Length", str(len(found.body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(found.body)

            do_HEAD = do_POST = do_GET  # noqa: N815 - http.server's own names

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        super().__init__((host, port), Handler)
        self.url = f"http://{host}:{self.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - socketserver's own
        """Say nothing."""
