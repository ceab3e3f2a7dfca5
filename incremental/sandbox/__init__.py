"""Reading a body: whatever a site sends, for at most so long and in so much memory.

::

    Body -> read_body -> Reading                    pure; in the caller's thread
    Body -> ReaderPool.read -> Reading | Unread     the same in a process of its own
              │ deadline, memory      ▲
              ▼                       │ typed values, never code
            process.py ── frames ── worker.py: read_body

A process that takes too long, grows too large or crashes is killed and replaced; its page is
:class:`Unread`, like one that could not be fetched.
"""

from __future__ import annotations

from incremental.sandbox.body import (
    Body,
    BodyRole,
    Read,
    Reading,
    Unread,
    read_body,
    topic_text,
    with_features,
)

__all__ = [
    "Body",
    "BodyRole",
    "Read",
    "Reading",
    "Unread",
    "read_body",
    "topic_text",
    "with_features",
]
