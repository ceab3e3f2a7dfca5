"""What passes between the daemon and its readers: a length of four bytes, then MessagePack.

Both sides decode into typed values. Nothing that arrives is ever run: a reader may have been taken over by
the page that it read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

import msgspec

from incremental.base.children import LENGTH
from incremental.sandbox.body import Body, Reading


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reader sends back: a reading, or why there is none."""

    reading: Reading | None = None
    other: bytes = b""
    """What a program for other files than pages found."""
    no_memory: bool = False
    bug: str = ""
    """The trace of an error of ours."""


to_body = msgspec.msgpack.Decoder(Body).decode
"""Returns the body in a frame's content."""
to_answer = msgspec.msgpack.Decoder(Answer).decode
"""Decodes an answer; raises msgspec.DecodeError for anything else."""


def next_content(stream: BinaryIO) -> bytes | None:
    """Return the content of the next frame; None at the end of *stream*, even within a frame."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    content = stream.read(length)
    return content if len(content) == length else None
