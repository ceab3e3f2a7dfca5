"""A web hook on loopback that keeps every message it accepts, with its idempotency key."""

import json
import random
import re
import time
from collections import Counter, defaultdict
from typing import NamedTuple

from lab.local_server import Answered, Asked, LocalServer

_UNLISTED = re.compile(r"^and (\d+) more$", re.MULTILINE)
_ADDRESS = re.compile(r"https?://\S+")


class Accepted(NamedTuple):
    """A message that was answered with 200, or would have been: its sender may be dead by then."""

    key: str
    urls: tuple[str, ...]
    unlisted: int
    """Further pages, of which a long message gives the number alone."""


class MessageReceiver(LocalServer):
    """Answers each message after up to *delay_seconds*, so that kills fall between sending and noting."""

    def __init__(self, *, delay_seconds: float = 0.0, seed: int = 0) -> None:
        dice = random.Random(seed)

        def answer(asked: Asked) -> Answered:
            text = json.loads(asked.body)["message"]
            key = asked.headers.get("Idempotency-Key", "")
            if self.status == 200:  # noqa: PLR2004 - OK
                more = sum(map(int, _UNLISTED.findall(text)))
                self.messages.append(Accepted(key, tuple(_ADDRESS.findall(text)), more))
            time.sleep(dice.uniform(0, delay_seconds))
            return Answered(self.status)

        super().__init__(answer)
        self.url = f"json://127.0.0.1:{self.server_port}/hook"
        self.messages: list[Accepted] = []
        self.status = 200

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
