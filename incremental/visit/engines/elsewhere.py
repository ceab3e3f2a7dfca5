"""Visits on an executor outside of this process, and that of processes beside the daemon.

::

    visit(task) ──> Executor ──> process or machine: fetch, read ──> Outcome
                      │ its worker died: the visit is lost, and its page may be to blame
                      └ cancelled, late, never answered, or another version there: the visit is lost

A process of the pool ends with the daemon, however that ends.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import ParamSpec, TypeVar

from incremental.base.attempts import Bug, attempt
from incremental.base.clock import Clock, SystemClock
from incremental.base.threads import cores
from incremental.fetch.options import SiteAccess, origin
from incremental.sandbox.process import ReaderLimits
from incremental.settings import Settings
from incremental.visit.engines.visits import EngineReport, LostVisitError
from incremental.visit.engines.worker import WorkerTerms, access_of, carry_out, introduce
from incremental.visit.visit import Outcome, VisitTask

# What sending a visit and its outcome may take, besides the visit itself.
_ON_THE_WAY_SECONDS = 10.0

P = ParamSpec("P")
T = TypeVar("T")


@contextlib.contextmanager
def make_elsewhere(
    settings: Settings, clock: Clock, check: Callable[[], object] = bool
) -> Iterator[Elsewhere | None]:
    """Yield visits on the configured engine; None = they run in threads of this process.

    *check* raises when none may start: the lease of a daemon that shares its store is over.

    Raises:
        SettingsError: the extra is not installed, or there is no scheduler at the address.
    """
    engine = settings.engine
    if engine.kind == "threads":
        yield None
        return
    nothing = SiteAccess()
    secrets = {origin(url): one for url, one in settings.accesses.items() if one != nothing}
    if engine.kind == "processes":
        report = EngineReport("processes", engine.processes or cores(), engine.processes or cores())
        with ProcessExecutor(report.processes) as processes:
            terms = terms_of(settings, readers=1)
            yield Elsewhere(processes, BrokenProcessPool, lambda: report, terms, secrets, check)
        return
    from incremental.visit.engines.cluster import ClusterExecutor  # noqa: PLC0415 - Dask loads for a second

    with ClusterExecutor(engine.address, clock) as cluster:
        terms = terms_of(settings, readers=None)
        yield Elsewhere(cluster, cluster.died, cluster.report, terms, secrets, check)


def terms_of(settings: Settings, *, readers: int | None) -> WorkerTerms:
    """Return what visits are made with; *readers* of each worker at most."""
    daemon = settings.daemon
    limits = ReaderLimits(daemon.parse_seconds, daemon.parse_memory_mb)
    wanted = daemon.parse_workers
    if isinstance(wanted, int):
        readers = wanted if readers is None else min(wanted, readers)
    features = settings.enabled
    by_type = tuple(features.readers.items())
    return WorkerTerms(settings.fetch, limits, readers, by_type, features.signature)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Visits on an executor. Thread-safe."""

    executor: Executor
    died: type[BaseException]
    """Raised by a call whose worker died."""
    report: Callable[[], EngineReport]
    """Return what runs the visits; does not wait, from any thread."""
    terms: WorkerTerms
    sites: Mapping[str, SiteAccess]
    """Credentials by origin."""
    check: Callable[[], object] = bool
    """Called before each visit; raises when none may start."""

    def visit(self, task: VisitTask) -> Outcome:
        """Carry out *task* there, and wait for it.

        Raises:
            LostVisitError: nobody can ask what came of it.
        """
        self.check()
        blamed, access = False, access_of(task, self.sites)
        call = (introduce(), task, self.terms, access, SystemClock().now())
        made = attempt(lambda: self.executor.submit(carry_out, *call))
        # A worker that cannot be reached may go on for a while.
        rest = self.terms.fetch.visit_timeout_seconds
        if isinstance(made, Bug):
            raise LostVisitError(made.error, rest_seconds=rest)
        try:
            return made.result(rest + self.terms.limits.seconds + _ON_THE_WAY_SECONDS)
        except self.died:
            reason, blamed = "its worker ended", True
        except CancelledError:
            reason = "it was cancelled"
        except TimeoutError:
            reason = "its worker does not answer"
        except LostVisitError as lost:
            reason = str(lost)
        raise LostVisitError(reason, blamed=blamed, rest_seconds=rest)


class ProcessExecutor(Executor):
    """Processes that make one call at a time, and are replaced when they die."""

    def __init__(self, processes: int) -> None:
        """Make calls in so many *processes*, which start with the first ones."""
        self._processes = processes
        self._context = multiprocessing.get_context("spawn")
        # Its other end is closed when the daemon ends: then the processes end.
        self._lives, self._mine = self._context.Pipe(duplex=False)
        self._lock = threading.Lock()
        self._pool = self._new_pool()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Start a call."""
        with self._lock:
            try:
                return self._pool.submit(fn, *args, **kwargs)
            except BrokenProcessPool:  # a process died; the pool ended the others with it
                self._pool.shutdown(wait=False)
                self._pool = self._new_pool()
                return self._pool.submit(fn, *args, **kwargs)

    def shutdown(self, *_: object, **_further: object) -> None:
        """End the processes; calls under way are lost, whatever is said."""
        self._mine.close()
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._lives.close()

    def _new_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self._processes,
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
