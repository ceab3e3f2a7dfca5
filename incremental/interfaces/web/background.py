"""Work that takes minutes and was begun by a request, such as a first look: one of each name, in a thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from hubwatch.errors import HubwatchError
from incremental.base.attempts import Bug, attempt
from incremental.base.threads import Start, start_thread

if TYPE_CHECKING:
    from incremental.interfaces.web.context import Web


@dataclass(frozen=True, slots=True)
class Work:
    """Some work, under way or ended. Times are unix seconds, UTC."""

    started_at: float
    ended_at: float | None = None
    """None = it is under way."""
    result: object = None
    error: str = ""

    @property
    def running(self) -> bool:
        """Whether it is under way."""
        return self.ended_at is None


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
            self._work[name] = Work(self._now())
        self._start(lambda: self._run(name, work))
        return self._work[name]

    def last(self, name: str) -> Work | None:
        """Return the last work of this name; None = none since the process started."""
        with self._lock:
            return self._work.get(name)

    def _run(self, name: str, work: Callable[[], object]) -> None:
        done = attempt(partial(_outcome, work))
        error = done.error if isinstance(done, Bug) else ""
        if isinstance(done, HubwatchError):
            error = str(done)
        with self._lock:
            result = None if error else done
            ended = replace(self._work[name], ended_at=self._now(), result=result, error=error)
            self._work[name] = ended


def _outcome(work: Callable[[], object]) -> object:
    """Return what *work* returns, or the error that a user can mend."""
    try:
        return work()
    except HubwatchError as error:
        return error


def look_of(web: Web, site_id: int) -> Work | None:
    """Return the first look at a site that was begun in this process."""
    return web.background.last(f"look {site_id}")


def begin_looks(web: Web, typed: Mapping[int, str]) -> None:
    """Look at the seeds of sites, by id as typed, each on its own."""
    for site_id, text in typed.items():
        web.background.begin(f"look {site_id}", partial(_look, web, site_id, text))


def _look(web: Web, site_id: int, text: str) -> object:
    # It loads the classifier.
    from incremental.daemon.assembly import first_looks  # noqa: PLC0415

    with web.store() as store:
        looks = first_looks(store, web.settings, web.models, {site_id: text}, web.clock)
        return dict(looks).get(site_id)
