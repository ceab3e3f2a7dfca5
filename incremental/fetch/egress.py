"""Nothing connects round the guard: what a library opens by itself is refused by the interpreter.

:mod:`incremental.fetch.libraries` replaces the two ways by which message services usually connect. A
service that makes a socket of its own, through a library of its own, would pass those by. So while such
a library is at work, each connection that its thread, or a thread that it started, asks of the system
must be one of ours, or it does not come to be::

    ours()      our transport looks a name up, or connects to a checked address, in this thread
    watched()   a library is at work in this thread; others than ours are refused and counted

Source: PEP 578; the events are those of https://docs.python.org/3/library/audit_events.html. A socket
that a C library opens raises no event: only services that were seen to connect through us are allowed
at all (:mod:`incremental.notify.services`).
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from incremental.fetch.guard import ForbiddenAddressError

# Who asks for an address is about to connect to it; the guard asks for itself.
_LEAVING = frozenset(
    ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo"),
)


class _Marks(threading.local):
    """What the current thread is doing."""

    ours = False


_marks = _Marks()
_watches: list[Watch] = []


@dataclass(eq=False)
class Watch:
    """A library at work: who was there before it, and what it tried."""

    thread: int
    """The identifier of the thread that it works in."""
    earlier: frozenset[int]
    """Threads that were there when it began."""
    refused: int = 0
    """How many connections of its own it tried to open."""

    def covers(self, thread: int) -> bool:
        """Return whether what *thread* does may be the library's."""
        return thread == self.thread or thread not in self.earlier


@contextlib.contextmanager
def ours() -> Iterator[None]:
    """Let this thread connect while the block runs: the address was checked."""
    before, _marks.ours = _marks.ours, True
    try:
        yield
    finally:
        _marks.ours = before


@contextlib.contextmanager
def watched() -> Iterator[Watch]:
    """Refuse the connections that the block, or a thread it starts, opens by itself.

    They end in :class:`ForbiddenAddressError`; give the watch, which counts them, because a library may
    keep its errors to itself.
    """
    _install()
    mine = threading.get_ident()
    watch = Watch(mine, frozenset(thread.ident or 0 for thread in threading.enumerate()))
    _watches.append(watch)
    try:
        yield watch
    finally:
        _watches.remove(watch)


@functools.cache
def _install() -> None:
    """Install the hook, which cannot be taken away again; it does nothing while nobody is watched."""
    sys.addaudithook(_on_event)


def _on_event(event: str, _arguments: object) -> None:
    if not _watches or event not in _LEAVING or _marks.ours:
        return
    thread = threading.get_ident()
    for watch in tuple(_watches):
        if watch.covers(thread):
            watch.refused += 1
            raise ForbiddenAddressError("a connection that does not pass the guard")
