"""What passes between the daemon and the process that drives a browser, and what is let through.

A length, then MessagePack: both sides decode into typed values; nothing that arrives is ever run.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from incremental.fetch.options import host_name, origin


class Ruling(StrEnum):
    """What happens to a request."""

    FETCH = "fetch"
    EMPTY = "empty"
    """Answered with nothing, so that scripts that wait for it go on."""
    REFUSE = "refuse"


def ruling_of(wanted: Wanted, page_url: str) -> Ruling:
    """Return what happens to a request of the page at *page_url*.

    ::

        another scheme, an image, a font, a film, a socket, a beacon, an inner frame  refused
        a style sheet                                                                 empty
        the document; scripts; what scripts read by GET or HEAD                       fetched
        anything else that sends something                                            refused
    """
    try:
        origin(wanted.url)
    except ValueError:  # another scheme, or no address at all
        return Ruling.REFUSE
    if wanted.kind == "stylesheet":
        return Ruling.EMPTY
    if wanted.method not in ("GET", "HEAD"):
        return Ruling.REFUSE
    if wanted.kind == "document":
        # A script may lead to another page of the host, such as that of a language.
        own = wanted.main and host_name(wanted.url) == host_name(page_url)
        return Ruling.FETCH if own else Ruling.REFUSE
    return Ruling.FETCH if wanted.kind in ("script", "xhr", "fetch") else Ruling.REFUSE


def is_own(url: str, page_url: str) -> bool:
    """Return whether *url* is on the host of the page, whose terms and secrets then hold for it."""
    return host_name(url) == host_name(page_url)


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
    problem: str = ""
    """Why there is no document."""
    too_slow: bool = False


class Closed(msgspec.Struct, tag=True, frozen=True):
    """The page that was drawn is closed, and all that it had is gone."""


class Ready(msgspec.Struct, tag=True, frozen=True):
    """The browser runs, or could not be started."""

    problem: str = ""


ToWorker = Order | Answer
FromWorker = Wanted | Drawn | Closed | Ready

_to_worker: msgspec.msgpack.Decoder[ToWorker] = msgspec.msgpack.Decoder(ToWorker)
to_worker = _to_worker.decode
"""Decodes a message of the daemon."""
_from_worker: msgspec.msgpack.Decoder[FromWorker] = msgspec.msgpack.Decoder(FromWorker)
from_worker = _from_worker.decode
"""Decodes a message of the driving process; raises msgspec.DecodeError for anything else."""
