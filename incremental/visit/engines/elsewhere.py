"""Visits on executors outside of this process, and that of processes beside the daemon.

::

    start(task) ──> Executor ──> process or machine: fetch, read ──> Outcome
                      │ its worker died: the visit is lost, and its page may be to blame
                      └ cancelled, late, or another version there: the visit is lost

A process of the pool ends with the daemon, however that ends.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import Future, InvalidStateError, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from incremental.base.attempts import Bug, attempt
from incremental.base.clock import SystemClock
from incremental.fetch.options import SiteAccess
from incremental.visit.engines.visits import EngineReport, LostVisitError
from incremental.visit.engines.worker import WorkerTerms, access_of, carry_out, introduce

if TYPE_CHECKING:
    from incremental.visit.visit import Outcome, VisitTask

Call = Callable[[], "Outcome"]


class VisitsElsewhere(ABC):
    """Visits as calls on an executor; :meth:`close` it. Thread-safe."""

    died: type[BaseException]
    """What the executor raises when a worker died in a call."""

    def __init__(self, terms: WorkerTerms, sites: Mapping[str, SiteAccess]) -> None:
        """Make visits on *terms*. *sites*: credentials by origin."""
        self._terms = terms
        self._sites = sites
        self._ours = introduce()

    def start(self, task: VisitTask) -> Future[Outcome]:
        """Start a visit."""
        answer: Future[Outcome] = Future()
        access, asked_at = access_of(task, self._sites), SystemClock().now()
        call = partial(carry_out, self._ours, task, self._terms, access, asked_at)
        made = attempt(lambda: self._submit(call))
        if isinstance(made, Bug):
            self._lose(answer, made.error)
        else:
            made.add_done_callback(partial(self._end, answer))
        return answer

    @abstractmethod
    def _submit(self, call: Call) -> Future[Outcome]:
        """Start a call."""

    @abstractmethod
    def report(self) -> EngineReport:
        """Return what runs the visits."""

    @abstractmethod
    def close(self) -> None:
        """End; visits under way are lost."""

    def _end(self, answer: Future[Outcome], call: Future[Outcome]) -> None:
        """Answer what came of a call, unless the visit was given up."""
        error = None if call.cancelled() else call.exception()
        if call.cancelled():
            self._lose(answer, "it was cancelled")
        elif isinstance(error, self.died):
            self._lose(answer, "its worker ended", blamed=True)
        elif isinstance(error, LostVisitError):
            self._lose(answer, str(error))
        else:
            with suppress(InvalidStateError):
                if error is not None:
                    answer.set_exception(error)
                else:
                    answer.set_result(call.result())

    def _lose(self, answer: Future[Outcome], reason: str, *, blamed: bool = False) -> None:
        # A worker that cannot be reached may go on for a while.
        rest = self._terms.fetch.visit_timeout_seconds
        with suppress(InvalidStateError):
            answer.set_exception(LostVisitError(reason, blamed=blamed, rest_seconds=rest))


class ProcessVisits(VisitsElsewhere):
    """Visits in processes of their own, which make one at a time."""

    died = BrokenProcessPool

    def __init__(self, processes: int, terms: WorkerTerms, sites: Mapping[str, SiteAccess]) -> None:
        """Make visits in so many *processes*, which start with the first ones."""
        super().__init__(terms, sites)
        self._report = EngineReport("processes", processes, processes=processes)
        self._context = multiprocessing.get_context("spawn")
        # Its other end is closed when the daemon ends: then the processes end.
        self._lives, self._mine = self._context.Pipe(duplex=False)
        self._lock = threading.Lock()
        self._pool = self._new_pool()

    def _submit(self, call: Call) -> Future[Outcome]:
        with self._lock:
            try:
                return self._pool.submit(call)
            except BrokenProcessPool:  # a process died; the pool ended the others with it
                self._pool.shutdown(wait=False)
                self._pool = self._new_pool()
                return self._pool.submit(call)

    def report(self) -> EngineReport:
        """Return the number of processes."""
        return self._report

    def close(self) -> None:
        """End the processes."""
        self._mine.close()
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._lives.close()

    def _new_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self._report.processes,
            mp_context=self._context,
            initializer=_end_with,
            initargs=(self._lives,),
        )


def _end_with(daemon: Connection) -> None:
    """Let this process end as soon as the other end of *daemon* is closed."""

    def wait() -> None:
        daemon.poll(None)
        os._exit(0)

    threading.Thread(target=wait, name="daemon", daemon=True).start()
