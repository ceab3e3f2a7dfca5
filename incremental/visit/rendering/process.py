"""A browser and the process that drives it, as the daemon sees them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from incremental.base.children import ChildProcess, Excess, family_bytes, frame
from incremental.visit.rendering.frames import (
    Answer,
    Closed,
    Drawn,
    FromWorker,
    Order,
    Ready,
    Wanted,
    from_worker,
)

PROGRAM = "incremental.visit.rendering.worker"
_START_SECONDS = 60.0
# Of the time for a page: to draw it, to hand it over; the rest is for closing it.
_DRAWING_SHARE, _HANDING_SHARE = 0.8, 0.1
_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class BrowserLimits:
    """Bounds of drawing one page."""

    seconds: float = 30.0
    megabytes: int = 1_000
    """Memory of all processes of the browser together."""


class BrowserProcess(ChildProcess):
    """A running browser."""

    def __init__(self, executable: str, limits: BrowserLimits, *, sandbox: bool) -> None:
        """Start it; it is ready a second or two later.

        Raises:
            OSError: the system does not allow another process.
        """
        self._limits = limits
        self.pages = 0
        """Pages drawn so far."""
        self._ready = False
        # Root's Chromium has no sandbox of its own.
        safe = "sandbox" if sandbox and os.geteuid() else "bare"
        # A browser that is killed removes nothing of its own.
        self._folder = tempfile.TemporaryDirectory(prefix="hubwatch-", ignore_cleanup_errors=True)
        super().__init__(
            PROGRAM,
            (executable, safe, self._folder.name),
            memory=family_bytes,
            environment={"TMPDIR": self._folder.name},
            kept=("PLAYWRIGHT_BROWSERS_PATH",),
        )

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
        problem, too_slow = "the browser crashed", self.excess is Excess.TIME
        if too_slow:
            problem = f"drawing it took more than {seconds:g} s"
        elif self.excess is Excess.MEMORY:
            problem = f"drawing it took more than {self._limits.megabytes} MB of memory"
        return Drawn(problem=problem, too_slow=too_slow)

    def close(self) -> None:
        """End it, and remove its folder."""
        super().close()
        self._folder.cleanup()

    def _exchange(
        self, order: Order | None, seconds: float, answer: Callable[[Wanted], Answer]
    ) -> FromWorker | None:
        """Send *order* and answer requests until it ends; None = the process ended."""
        with self.bounded(seconds, self._limits.megabytes * _MEGABYTE):
            if order is not None:
                self.send(frame(order))
            while (content := self.receive()) is not None:
                try:
                    got = from_worker(content)
                except msgspec.DecodeError:
                    return None
                if not isinstance(got, Wanted):
                    return got
                self.send(frame(answer(got)))
        return None
