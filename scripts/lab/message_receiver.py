"""A web hook on loopback that keeps every message it accepts, with its idempotency key."""

from __future__ import annotations

import json
import random
import re
import threading
import time
from collections import Counter, defaultdict
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple, Self

from lab.publishing_site import QuietServer

_UNLISTED = re.compile(r"^and (\d+) more$", re.MULTILINE)
_ADDRESS = re.compile(r"https?://\S+")


class Accepted(NamedTuple):
    """A message that was answered with 200, or would have been: its sender may be dead by then."""

    key: str
    urls: tuple[str, ...]
    unlisted: int
    """Further pages, of which a long message gives the number alone."""


class MessageReceiver:
    """Answers each message after up to *delay_seconds*, so that kills fall between sending and noting."""

    def __init__(self, *, delay_seconds: float = 0.0, seed: int = 0) -> None:
        self.messages: list[Accepted] = []
        self.status = 200
        receiver, dice = self, random.Random(seed)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                key = self.headers.get("Idempotency-Key", "")
                if receiver.status == 200:  # noqa: PLR2004 - OK
                    urls = tuple(_ADDRESS.findall(sent["message"]))
                    more = sum(map(int, _UNLISTED.findall(sent["message"])))
                    receiver.messages.append(Accepted(key, urls, more))
                time.sleep(dice.uniform(0, delay_seconds))
                with suppress(ConnectionError):
                    self.send_response(receiver.status)
                    self.send_header("Content-Length", "0")
                    self.end_headers()

            def log_message(self, *_: Any) -> None:  # noqa: ANN401 - http.server's own signature
                """Say nothing."""

        self._server = QuietServer(("127.0.0.1", 0), Handler)
        self.url = f"json://127.0.0.1:{self._server.server_port}/hook"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def urls(self) -> set[str]:
        """Return every address that was in a message."""
        return {url for one in self.messages for url in one.urls}

    def unlisted(self) -> int:
        """Return how many pages messages have counted without listing them."""
        return sum({one.key: one.unlisted for one in self.messages}.values())

    def twice(self) -> list[str]:
        """Return the addresses in messages of different keys: the receiver cannot know them as repeats."""
        keys = defaultdict[str, set[str]](set)
        for one in self.messages:
            for url in one.urls:
                keys[url].add(one.key)
        return sorted(url for url, of in keys.items() if len(of) > 1)

    def retried(self) -> int:
        """Return how many messages came again under the key they had."""
        return sum(count - 1 for count in Counter(one.key for one in self.messages).values())
