"""An audit hook that refuses connections that bypass the guard.

:mod:`incremental.fetch.libraries` replaces the two usual ways in which message services connect. A
service that opens its own socket, through another library, would bypass those. So while such a library
runs, its thread and the threads it starts can connect only through us::

    ours()      our transport resolves a name or connects to a checked address, in this thread
    watched()   a library runs in this thread; connections other than ours are refused and counted

Source: PEP 578; events as in https://docs.python.org/3/library/audit_events.html. Sockets opened in C
raise no event.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from incremental.fetch.guard import ForbiddenAddressError

# Resolving an address precedes connecting to it; the guard resolves for itself.
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
    """A library at work: threads that ran before it, and connections it attempted."""

    thread: int
    """Identifier of its thread."""
    earlier: frozenset[int]
    """Threads that ran before it started."""
    refused: int = 0
    """Connections of its own that it tried to open."""

    def covers(self, thread: int) -> bool:
        """Return whether *thread* may belong to the library."""
        return thread == self.thread or thread not in self.earlier


@contextlib.contextmanager
def ours() -> Iterator[None]:
    """Let this thread connect during the block: the address was checked."""
    before, _marks.ours = _marks.ours, True
    try:
        yield
    finally:
        _marks.ours = before


@contextlib.contextmanager
def watched() -> Iterator[Watch]:
    """Refuse connections that the block, or a thread it starts, opens by itself.

    They fail with :class:`ForbiddenAddressError`; the yielded watch counts them.
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
    """Install the hook, which is permanent; it does nothing while no library is watched."""
    sys.addaudithook(_on_event)


def _on_event(event: str, _arguments: object) -> None:
    if not _watches or event not in _LEAVING or _marks.ours:
        return
    thread = threading.get_ident()
    for watch in tuple(_watches):
        if watch.covers(thread):
            # Counted as well: a library may swallow its errors.
            watch.refused += 1
            raise ForbiddenAddressError("a connection that bypasses the guard")
