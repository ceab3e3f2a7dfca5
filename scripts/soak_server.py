"""The other side of the soak run, in a process of its own: the web servers, and who receives the messages.

One server on loopback answers for every host name of the world, at the time that the crawler's process
writes into shared memory. Messages posted to it are counted by the story that they tell of.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import multiprocessing
import re
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

from soak_world import World

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.sharedctypes import Synchronized

HANG_SECONDS = 1.0
"""How long a hanging server says nothing: longer than the crawler of the soak run waits."""
_URL = re.compile(r"https?://[^\s<>\"')\]\\]+")


class Served:
    """The running server, as the crawler's process sees it."""

    def __init__(self, port: int, moment: Synchronized[float]) -> None:
        self.port = port
        self._moment = moment

    def set_time(self, moment: float) -> None:
        """Let it be *moment* (unix seconds) on every site."""
        self._moment.value = moment

    def told(self) -> Counter[str]:
        """Return how many messages told of each URL."""
        with urlopen(f"http://127.0.0.1:{self.port}/told") as answer:
            return Counter(json.load(answer))


@contextlib.contextmanager
def served(world: World) -> Iterator[Served]:
    """Serve *world* from a process of its own."""
    context = multiprocessing.get_context("spawn")
    moment = context.Value(ctypes.c_double, 0.0)
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(world, moment, there), daemon=True)
    process.start()
    try:
        yield Served(here.recv(), moment)
    finally:
        process.terminate()
        process.join()
        here.close()


def _serve(world: World, moment: Synchronized[float], ready: Connection) -> None:
    told: Counter[str] = Counter()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            host = (self.headers.get("Host") or "").partition(":")[0]
            if host == "127.0.0.1":
                self._send(200, json.dumps(told).encode(), {"Content-Type": "application/json"})
                return
            answer = world.answer(host, self.path, moment.value)
            if answer.code <= 0:
                time.sleep(0.0 if answer.code else HANG_SECONDS)
                self.close_connection = True
                return
            etag = answer.headers.get("ETag")
            same = etag is not None and etag == self.headers.get("If-None-Match")
            body = b"" if same else answer.body.encode()
            self._send(
                304 if same else answer.code, body, {"Content-Type": answer.kind, **answer.headers}
            )

        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.update(set(_URL.findall(sent["message"])))
            self._send(200, b"", {})

        def _send(self, code: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:  # noqa: ANN401 - http.server's own signature
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:  # noqa: ANN401 - as above
            """Say nothing of clients that hang up: those of hanging sites do."""

    server = Server(("127.0.0.1", 0), Handler)
    ready.send(server.server_port)
    server.serve_forever()
