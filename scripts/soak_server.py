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
from typing import TYPE_CHECKING
from urllib.request import urlopen

from lab.local_server import Answered, Asked, LocalServer
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

    def answer(asked: Asked) -> Answered | None:
        host = asked.headers.get("Host", "").partition(":")[0]
        if asked.method == "POST":
            told.update(set(_URL.findall(json.loads(asked.body)["message"])))
            return Answered()
        if host == "127.0.0.1":
            return Answered(200, json.dumps(told).encode(), {"Content-Type": "application/json"})
        found = world.answer(host, asked.path, moment.value)
        if found.code <= 0:
            time.sleep(0.0 if found.code else HANG_SECONDS)
            return None
        headers = {"Content-Type": found.kind, **found.headers}
        if asked.headers.get("If-None-Match", "") == found.headers.get("ETag"):
            return Answered(304, b"", headers)
        return Answered(found.code, found.body.encode(), headers)

    server = LocalServer(answer, keep_alive=True)
    ready.send(server.server_port)
    server.serve_forever()
