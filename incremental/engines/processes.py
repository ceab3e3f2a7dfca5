"""Visits in processes beside the daemon: each process makes one visit at a time.

::

    start(task) ──> ProcessPoolExecutor ──> process: fetch, read ──> Outcome
                      │ a process died: the others are ended with it,
                      └ all their visits are lost, and new ones start

A process ends with the daemon, however that ends.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from incremental.clock import SystemClock
from incremental.engines.visits import EngineReport, LostVisitError
from incremental.engines.worker import WorkerTerms, access_of, visit_on_worker
from incremental.fetch.options import SiteAccess

if TYPE_CHECKING:
    from incremental.visit import Outcome, VisitTask


class ProcessVisits:
    """Visits in processes of their own; :meth:`close` it. Thread-safe."""

    def __init__(self, processes: int, terms: WorkerTerms, sites: Mapping[str, SiteAccess]) -> None:
        """Make visits in so many *processes*, which start with the first ones.

        *sites*: credentials by origin.
        """
        self.most = processes
        self._terms = terms
        self._sites = sites
        self._context = multiprocessing.get_context("spawn")
        # Its other end is closed when the daemon ends: then the processes end.
        self._lives, self._mine = self._context.Pipe(duplex=False)
        self._lock = threading.Lock()
        self._closed = False
        self._pool = self._new_pool()

    def start(self, task: VisitTask) -> Future[Outcome]:
        """Start a visit."""
        answer: Future[Outcome] = Future()
        # A daemon that is cut off from its store, or stands still, may lose the host meanwhile.
        last_at = SystemClock().monotonic() + self._terms.fetch.visit_timeout_seconds
        call = partial(visit_on_worker, task, self._terms, access_of(task, self._sites), last_at)
        with self._lock:
            try:
                visit = self._pool.submit(call)
            except BrokenProcessPool:
                self._pool.shutdown(wait=False)
                self._pool = self._new_pool()
                visit = self._pool.submit(call)
        visit.add_done_callback(lambda ended: _pass_on(ended, answer))
        return answer

    def report(self) -> EngineReport:
        """Return the number of processes."""
        return EngineReport("processes", self.most, processes=self.most)

    def close(self) -> None:
        """End the processes; visits under way are lost."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._mine.close()
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._lives.close()

    def _new_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self.most,
            mp_context=self._context,
            initializer=_end_with,
            initargs=(self._lives,),
        )


def _pass_on(ended: Future[Outcome], answer: Future[Outcome]) -> None:
    """Give *answer* what *ended* has."""
    if ended.cancelled():
        answer.set_exception(LostVisitError("the daemon ends", blamed=False))
        return
    error = ended.exception()
    if isinstance(error, BrokenProcessPool):
        answer.set_exception(LostVisitError("its process ended", blamed=True))
    elif error is not None:
        answer.set_exception(error)
    else:
        answer.set_result(ended.result())


def _end_with(daemon: Connection) -> None:
    """Let this process end as soon as the other end of *daemon* is closed."""

    def wait() -> None:
        daemon.poll(None)
        os._exit(0)

    threading.Thread(target=wait, name="daemon", daemon=True).start()
