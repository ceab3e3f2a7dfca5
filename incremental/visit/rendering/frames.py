"""What passes between the daemon and the process that drives a browser: a length, then MessagePack.

Both sides decode into typed values; nothing that arrives is ever run.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Order(msgspec.Struct, tag=True, frozen=True):
    """Draw this page."""

    url: str
    seconds: float
    """For drawing; then what is there is taken."""
    handing_seconds: float
    """To hand over the document, whatever its scripts do."""
    agent: str
    """The User-Agent that scripts see."""


class Wanted(msgspec.Struct, tag=True, frozen=True):
    """A request of the page."""

    number: int
    url: str
    kind: str
    """Playwright's resource type: document, script, xhr, fetch, image, ..."""
    method: str = "GET"
    main: bool = True
    """Of the page's own frame."""
    accept: str = ""
    content_type: str = ""
    post: bytes | None = None


class Answer(msgspec.Struct, tag=True, frozen=True):
    """The answer to a request."""

    number: int
    code: int = 0
    """0 = refused."""
    headers: Mapping[str, str] = {}
    body: bytes = b""


class Drawn(msgspec.Struct, tag=True, frozen=True):
    """What came of an order."""

    html: bytes = b""
    url: str = ""
    problem: str = ""
    """Why there is no document."""
    too_slow: bool = False


class Closed(msgspec.Struct, tag=True, frozen=True):
    """The page that was drawn is closed, and all that it had is gone."""


class Ready(msgspec.Struct, tag=True, frozen=True):
    """The browser runs, or could not be started."""

    problem: str = ""
    version: str = ""


ToWorker = Order | Answer
FromWorker = Wanted | Drawn | Closed | Ready

_to_worker: msgspec.msgpack.Decoder[ToWorker] = msgspec.msgpack.Decoder(ToWorker)
to_worker = _to_worker.decode
"""Decodes a message of the daemon."""
_from_worker: msgspec.msgpack.Decoder[FromWorker] = msgspec.msgpack.Decoder(FromWorker)
from_worker = _from_worker.decode
"""Decodes a message of the driving process; raises msgspec.DecodeError for anything else."""
