"""A browser and the process that drives it, as the daemon sees them: watched, and killed beyond a bound."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

import msgspec

from incremental.base.children import plain_environment
from incremental.base.clock import SystemClock
from incremental.visit.rendering.frames import (
    LENGTH,
    MAX_BYTES_OF_MESSAGE,
    Answer,
    Closed,
    Drawn,
    FromWorker,
    Order,
    Ready,
    ToWorker,
    Wanted,
    frame,
    from_worker,
)
from incremental.visit.rendering.processes import family, kill_family, private_bytes

PROGRAM = "incremental.visit.rendering.worker"
_ROOT = Path(__file__).parents[3]
_TICK_SECONDS = 0.1
_START_SECONDS = 60.0
# Of the time for a page: to draw it, to hand it over; the rest is for closing it.
_DRAWING_SHARE, _HANDING_SHARE = 0.8, 0.1
_MEGABYTE = 1_000_000
_monotonic = SystemClock().monotonic


@dataclass(frozen=True, slots=True)
class BrowserLimits:
    """Bounds of drawing one page."""

    seconds: float = 30.0
    megabytes: int = 1_000
    """Memory of all processes of the browser together."""


class BrowserProcess:
    """A running browser. Not thread-safe, but for :meth:`kill`."""

    def __init__(self, executable: str, limits: BrowserLimits, *, sandbox: bool) -> None:
        """Start it; it is ready a second or two later.

        Raises:
            OSError: the system does not allow another process.
        """
        self._limits = limits
        self.pages = 0
        """Pages drawn so far."""
        self._ready = False
        self._excess = ""
        self._ends_at = 0.0
        self._working, self._ended = Event(), Event()
        path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
        # Root's Chromium has no sandbox of its own.
        safe = "sandbox" if sandbox and os.geteuid() else "bare"
        # A browser that is killed removes nothing of its own.
        self._folder = tempfile.TemporaryDirectory(prefix="hubwatch-", ignore_cleanup_errors=True)
        here = {"PYTHONPATH": path, "TMPDIR": self._folder.name}
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-P", "-m", PROGRAM, executable, safe, self._folder.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env={**plain_environment("PLAYWRIGHT_BROWSERS_PATH"), **here},
            start_new_session=True,
        )
        Thread(target=self._watch, name="browser watch", daemon=True).start()

    @property
    def pid(self) -> int:
        """Process id of what drives the browser."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def draw(self, url: str, agent: str, answer: Callable[[Wanted], Answer]) -> Drawn:
        """Draw the page at *url*, whose requests *answer* answers.

        After a problem of the process, or a page that did not close, it is dead.
        """
        if not self._ready:
            started = self._exchange(None, _START_SECONDS, answer)
            if not isinstance(started, Ready) or started.problem:
                self.close()
                detail = getattr(started, "problem", "") or "it ended"
                return Drawn(problem=f"the browser did not start: {detail}")
            self._ready = True
        self.pages += 1
        seconds = self._limits.seconds
        order = Order(url, seconds * _DRAWING_SHARE, seconds * _HANDING_SHARE, agent)
        most = order.seconds + order.handing_seconds
        drawn = self._exchange(order, most, answer)
        if isinstance(drawn, Drawn):
            end = self._exchange(None, seconds - most, lambda one: Answer(one.number))
            if not isinstance(end, Closed):
                self.close()
            return drawn
        self.close()
        too_slow = "s" in self._excess.split()
        return Drawn(problem=self._excess or "the browser crashed", too_slow=too_slow)

    def kill(self) -> None:
        """End it and all that it has started, at once; from any thread, any number of times."""
        if self._process.poll() is None:
            kill_family(self._process.pid)

    def close(self) -> None:
        """Kill it, reap it and close its pipes."""
        self._ended.set()
        self._working.set()
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._folder.cleanup()

    def _exchange(
        self, order: Order | None, seconds: float, answer: Callable[[Wanted], Answer]
    ) -> FromWorker | None:
        """Send *order* and answer requests until it ends; None = the process ended."""
        self._ends_at = _monotonic() + seconds
        self._working.set()
        try:
            if order is not None:
                self._send(order)
            while (content := self._next()) is not None:
                got = from_worker(content)
                if not isinstance(got, Wanted):
                    return got
                self._send(answer(got))
        except (OSError, ValueError, msgspec.DecodeError):
            return None
        else:
            return None
        finally:
            self._working.clear()

    def _send(self, value: ToWorker) -> None:
        assert self._process.stdin is not None
        left = memoryview(frame(value))
        while left:
            left = left[self._process.stdin.write(left) or 0 :]

    def _next(self) -> bytes | None:
        head = self._read(LENGTH.size)
        if head is None:
            return None
        (length,) = LENGTH.unpack(head)
        return self._read(length) if length <= MAX_BYTES_OF_MESSAGE else None

    def _read(self, length: int) -> bytes | None:
        assert self._process.stdout is not None
        got = bytearray()
        while len(got) < length:
            piece = self._process.stdout.read(length - len(got))
            if not piece:
                return None
            got += piece
        return bytes(got)

    def _watch(self) -> None:
        """Kill the browser when it takes too long or grows too large."""
        while not self._ended.is_set():
            self._working.wait()
            if self._ended.wait(_TICK_SECONDS):
                return
            if not self._working.is_set():
                continue
            if _monotonic() > self._ends_at:
                self._excess = f"drawing it took more than {self._limits.seconds:g} s"
            elif private_bytes(family(self.pid)) > self._limits.megabytes * _MEGABYTE:
                self._excess = f"drawing it took more than {self._limits.megabytes} MB of memory"
            if self._excess:
                self.kill()
                return
