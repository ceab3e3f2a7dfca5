"""The visitor on a worker of a Dask cluster: the daemon asks it for visits, past the scheduler.

::

    daemon ── task, credentials of its origin ──> Visitor ── threads of the worker ──> outcome

A visitor is a `Dask actor <https://distributed.dask.org/en/stable/actors.html>`_ which the scheduler starts
once for each daemon and worker. With a Dask task for each visit, tasks took nearly half of the processor
time.

A visit that would begin late is refused: its worker stood still, or other visits came first, and the daemon
may have given it up. For the same reason it sends nothing after ``visit_timeout_seconds``. Both are in the
worker's monotonic time.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import distributed

from incremental.attempts import Bug, attempt
from incremental.clock import SystemClock
from incremental.engines.worker import WorkerTerms, introduce, visit_on_worker
from incremental.fetch.options import SiteAccess

if TYPE_CHECKING:
    from incremental.visit import Outcome, VisitTask


class VisitBugError(Exception):
    """A visit raised something on its worker; a note holds the trace."""


class Visitor:
    """Makes visits for one daemon, in threads that all daemons of the cluster share."""

    def __init__(self, terms: WorkerTerms) -> None:
        self._terms = terms

    def introduce(self) -> tuple[str, int]:
        """Return the version of Hubwatch at work here, and its protocol."""
        return introduce()

    def monotonic(self) -> float:
        """Return the worker's monotonic time."""
        return SystemClock().monotonic()

    async def visit(self, task: VisitTask, access: SiteAccess | None, asked_at: float) -> Outcome:
        """Carry out *task*; *access* are the credentials of its origin, *asked_at* by the worker's time."""
        threads = _threads(distributed.get_worker().state.nthreads)
        visit = partial(_visited, task, self._terms, access, asked_at)
        return await asyncio.get_running_loop().run_in_executor(threads, visit)


@lru_cache(maxsize=1)
def _threads(number: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(number, thread_name_prefix="visit")


@dataclass(frozen=True, slots=True)
class Reached:
    """A visitor as a daemon knows it."""

    actor: Any
    ahead_seconds: float
    """Its monotonic time less ours; too small by the way of the answer, so that no visit begins too late."""


def _visited(
    task: VisitTask, terms: WorkerTerms, access: SiteAccess | None, asked_at: float
) -> Outcome:
    limits = terms.fetch
    if SystemClock().monotonic() > asked_at + limits.total_timeout_seconds:
        raise TimeoutError("the worker would begin the visit too late")
    last_at = asked_at + limits.visit_timeout_seconds
    outcome = attempt(partial(visit_on_worker, task, terms, access, last_at))
    if isinstance(outcome, Bug):
        error = VisitBugError(outcome.error)
        error.add_note(outcome.trace)
        raise error
    return outcome


def begin(client: Any, worker: str, terms: WorkerTerms) -> Any:  # noqa: ANN401 - Dask's own
    """Start a visitor on one *worker*, and on no other; return the future of it, which keeps it there."""
    return client.submit(
        Visitor, terms, workers=[worker], allow_other_workers=False, pure=False, actor=True
    )


def introduced(client: Any, beginning: Any, seconds: float) -> tuple[Reached, tuple[str, int]]:  # noqa: ANN401
    """Return a visitor that was begun, and what it says of itself."""
    with client.as_current():
        visitor = beginning.result(timeout=seconds)
        said = visitor.introduce().result(timeout=seconds)
        theirs = visitor.monotonic().result(timeout=seconds)
        return Reached(visitor, theirs - SystemClock().monotonic()), said


def ask(
    client: Any,  # noqa: ANN401 - Dask's own
    visitor: Reached,
    task: VisitTask,
    access: SiteAccess | None,
) -> Future[Outcome]:
    """Ask for a visit; its future raises :class:`VisitBugError`, or what says that nobody answered."""
    asked_at = SystemClock().monotonic() + visitor.ahead_seconds

    async def visit() -> Outcome:
        with client.as_current():
            outcome: Outcome = await visitor.actor.visit(task, access, asked_at)
            return outcome

    return asyncio.run_coroutine_threadsafe(visit(), client.loop.asyncio_loop)
