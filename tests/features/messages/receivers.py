"""Receivers of messages on loopback: a web hook and a mail server."""

import json
import socketserver
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass
class Received:
    """A message as it came."""

    key: str
    title: str
    body: str


class _Receiver:
    """A web server on loopback, for as long as it is entered."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.address = f"127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class WebHook(_Receiver):
    """Takes JSON messages; *answer* is announced each one and returns the status code."""

    def __init__(self, answer: Callable[[Received], int] = lambda _: 200) -> None:
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                sent = json.loads(self.rfile.read(size))
                key = self.headers.get("Idempotency-Key", "")
                message = Received(key, sent["title"], sent["message"])
                hook.messages.append(message)
                self.send_response(answer(message))
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self.messages: list[Received] = []
        super().__init__(Handler)
        self.url = f"json://{self.address}/hook-secret"


@dataclass
class PostedHook:
    """A call of a hook by POST."""

    body: bytes
    headers: dict[str, str]


class PostedHooks(_Receiver):
    """Takes calls of hooks, and answers each with *status*."""

    def __init__(self, status: int) -> None:
        posted = self.posted = list[PostedHook]()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                posted.append(PostedHook(body, dict(self.headers)))
                self.send_response(status)
                self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        super().__init__(Handler)
        self.url = f"http://{self.address}"


@dataclass
class MailServer:
    """Takes mail, as much of SMTP as that needs."""

    mails: list[str] = field(default_factory=list)

    def __enter__(self) -> Self:
        mails = self.mails

        class Handler(socketserver.StreamRequestHandler):
            def say(self, line: str) -> None:
                self.wfile.write(line.encode() + b"\r\n")

            def handle(self) -> None:
                self.say("220 here")
                while line := self.rfile.readline().decode():
                    word = line[:4].strip().upper()
                    if word == "DATA":
                        self.say("354 go on")
                        lines = iter(self.rfile.readline, b".\r\n")
                        # A line that begins with a dot has another before it (RFC 5321, section 4.5.2).
                        plain = (one.removeprefix(b".") for one in lines)
                        mails.append(b"".join(plain).decode())
                    self.say("221 bye" if word == "QUIT" else "250 fine")

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
