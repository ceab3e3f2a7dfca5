"""Work that takes minutes and was begun by a request, such as a first look: one of each name, in a thread."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from hubwatch.errors import HubwatchError
from incremental.base.attempts import Bug, attempt
from incremental.base.threads import Start, start_thread


@dataclass(slots=True)
class Work:
    """Some work, under way or ended."""

    started_at: float
    """Unix seconds, UTC."""
    running: bool = True
    result: object = None
    error: str = ""


class Background:
    """Work by name; thread-safe. Only this process knows of it."""

    def __init__(self, now: Callable[[], float], start: Start = start_thread) -> None:
        self._now = now
        self._start = start
        self._lock = threading.Lock()
        self._work: dict[str, Work] = {}

    def begin(self, name: str, work: Callable[[], object]) -> Work:
        """Begin some work in a thread, unless work of this name is under way; return it."""
        with self._lock:
            before = self._work.get(name)
            if before is not None and before.running:
                return before
            begun = self._work[name] = Work(self._now())
        self._start(partial(_run, begun, work))
        return begun

    def last(self, name: str) -> Work | None:
        """Return the last work of this name; None = none since the process started."""
        return self._work.get(name)


def _run(begun: Work, work: Callable[[], object]) -> None:
    done = attempt(partial(_finish, begun, work))
    if isinstance(done, Bug):
        begun.error = done.error
    begun.running = False


def _finish(begun: Work, work: Callable[[], object]) -> None:
    """Keep what *work* returns, or the error that a user can mend."""
    try:
        begun.result = work()
    except HubwatchError as error:
        begun.error = str(error)
