"""A few readers for many threads.

::

    taken -> asked -> given back ──────────────┐ worn: a successor is started beside it, and
      ^        │ dead: the next is started     │ takes over when it has loaded its libraries
      └────────┴───────────────────────────────┘
"""

from __future__ import annotations

import logging
from contextlib import suppress
from queue import LifoQueue
from threading import Lock
from typing import Self

from incremental.base.children import frame
from incremental.fetch.status import FetchStatus
from incremental.sandbox.body import Body, Reading, Unread
from incremental.sandbox.process import PROGRAM, Answer, ReaderLimits, ReaderProcess

logger = logging.getLogger("hubwatch.reading")

# Caches of libraries grow with every page.
PAGES_EACH = 2_000
_STOPPING = Unread(FetchStatus.PARSE_FAILED, "Hubwatch is stopping")


class ReaderBugError(Exception):
    """Reading raised an error, which is a bug of ours; the message is its trace."""


class ReaderPool:
    """Reads bodies in processes of their own. Thread-safe."""

    def __init__(
        self,
        workers: int,
        limits: ReaderLimits,
        *,
        pages_each: int = PAGES_EACH,
        program: str = PROGRAM,
    ) -> None:
        """Start *workers* processes of the module *program*; they are ready about a second later."""
        self._limits = limits
        self._pages_each = pages_each
        self._program = program
        self._lock = Lock()
        self._closed = False
        self._idle: LifoQueue[_Place] = LifoQueue()
        self._places = [_Place() for _ in range(workers)]
        for place in self._places:
            with suppress(OSError):  # tried again, and reported, by the first page
                self._start(place)
            self._idle.put(place)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pids(self) -> list[int]:
        """Process ids of the readers."""
        with self._lock:
            return [place.process.pid for place in self._places if place.process is not None]

    def read(self, body: Body) -> Reading | Unread:
        """Read *body*; waits for a free process, and then for at most the deadline.

        Raises:
            ReaderBugError: reading it raised an error.
        """
        request = frame(body)
        place = self._idle.get()
        try:
            answer = self._ask(place, request)
        finally:
            self._idle.put(place)
        if isinstance(answer, Unread):
            if answer is not _STOPPING:
                logger.warning("%s was not read: %s", body.url, answer.detail)
            return answer
        if answer.bug:
            raise ReaderBugError(f"reading {body.url} failed:\n{answer.bug}")
        if answer.reading is None:
            most = f"{self._limits.megabytes} MB of memory"
            return Unread(FetchStatus.PARSE_FAILED, f"reading it took more than {most}")
        return answer.reading

    def close(self) -> None:
        """Kill all processes, busy ones as well; bodies under way and waiting are not read."""
        with self._lock:
            self._closed = True
            for place in self._places:
                place.kill()
        for _ in self._places:
            self._idle.get().close()
        # Threads that still wait for a process.
        for place in self._places:
            self._idle.put(place)

    def _ask(self, place: _Place, request: bytes) -> Answer | Unread:
        process = place.process
        if process is None or not process.alive:
            try:
                process = self._start(place)
            except OSError as error:
                return Unread(FetchStatus.PARSE_FAILED, f"no reader could start: {error}")
        if process is None:
            return _STOPPING
        answer = process.ask(request)
        if self._closed:
            return _STOPPING
        if isinstance(answer, Unread):
            with suppress(OSError):
                self._start(place)
        else:
            self._renew(place, process)
        return answer

    def _start(self, place: _Place) -> ReaderProcess | None:
        """Give *place* a new process; None = the pool is closed."""
        with self._lock:
            place.close()
            if not self._closed:
                place.process = ReaderProcess(self._limits, self._program)
            return place.process

    def _renew(self, place: _Place, process: ReaderProcess) -> None:
        """Replace a worn process by one that was started meanwhile."""
        with self._lock:
            if self._closed:
                return
            if place.successor is not None:
                if place.successor.is_ready:
                    process.close()
                    place.process, place.successor = place.successor, None
            elif process.pages >= self._pages_each or self._has_grown(process):
                # Without another process this one goes on.
                with suppress(OSError):
                    place.successor = ReaderProcess(self._limits, self._program)

    def _has_grown(self, process: ReaderProcess) -> bool:
        return process.growth > self._limits.megabytes * 1_000_000 // 2


class _Place:
    """A reader, and the one that will follow it."""

    def __init__(self) -> None:
        self.process: ReaderProcess | None = None
        self.successor: ReaderProcess | None = None

    def kill(self) -> None:
        for process in (self.process, self.successor):
            if process is not None:
                process.kill()

    def close(self) -> None:
        for process in (self.process, self.successor):
            if process is not None:
                process.close()
        self.process = self.successor = None
