"""Stands before an S3-compatible server, and refuses, or answers with what it answered before."""

from __future__ import annotations

import threading
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit

_ERRORS = {403: "AccessDenied", 503: "ServiceUnavailable"}
_Answer = tuple[int, list[tuple[str, str]], bytes]


class ObjectGate:
    """Passes requests on to *target*, until it is told otherwise.

    *refuses*: a status that answers everything. *is_stale*: lists are answered as they were when asked for
    the last time before, as by a mirror that lags behind.
    """

    def __init__(self, target: str) -> None:
        self.refuses: int | None = None
        self.is_stale = False
        self.refused = threading.Event()
        self._lists: dict[str, _Answer] = {}
        address = urlsplit(target).netloc
        gate = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, headers, content = gate.answer(
                    address, self.command, self.path, dict(self.headers), body
                )
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = answer  # noqa: N815 - names of http.server

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def answer(
        self, address: str, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> _Answer:
        """Return status, headers and body for one request."""
        if self.refuses is not None:
            self.refused.set()
            code = _ERRORS[self.refuses]
            content = f"<Error><Code>{code}</Code><Message>not now</Message></Error>".encode()
            return self.refuses, [("Content-Type", "application/xml")], content
        is_list = method == "GET" and "list-type=2" in path
        if is_list and self.is_stale and path in self._lists:
            return self._lists[path]
        connection = HTTPConnection(address)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            content = response.read()
        finally:
            connection.close()
        own = ("content-length", "transfer-encoding", "connection", "date", "server")
        kept = [(n, v) for n, v in response.getheaders() if n.lower() not in own]
        if method == "HEAD":
            content = b""
        found = response.status, kept, content
        if is_list:
            self._lists[path] = found
        return found

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
