"""Running visits on any executor.

Threads by default. Replays and tests run each visit at once (:mod:`incremental.threads`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import Any

from incremental.attempts import Bug, attempt
from incremental.fetch.status import FetchStatus, Response
from incremental.reading import Read, read_body
from incremental.visit import Fetch, Outcome, VisitTask, visit
from incremental.ways.visiting import Visit


class Engine:
    """Visits under way."""

    def __init__(
        self,
        executor: Executor,
        fetch: Fetch,
        *,
        workers: int,
        read: Read = read_body,
        visit: Visit = visit,
    ) -> None:
        """Run visits by *visit*, a function of a task, so on any executor."""
        self._executor = executor
        self._fetch = fetch
        self._read = read
        self._visit = visit
        self._workers = workers
        self._running: dict[Future[Outcome], VisitTask] = {}
        self.ended = 0
        """Visits ended."""

    @property
    def free(self) -> int:
        """How many more visits may be started."""
        return max(self._workers - len(self._running), 0)

    @property
    def only_quick(self) -> bool:
        """Whether the free workers are those kept for hosts that answer quickly: a fourth of all."""
        # Hosts that hang, or send what takes long to read, would otherwise keep every worker busy.
        return self.free <= (self._workers + 1) // 4

    @property
    def under_way(self) -> int:
        """How many visits are under way."""
        return len(self._running)

    @property
    def idle(self) -> bool:
        """Whether no visit is under way."""
        return not self._running

    @property
    def sites(self) -> set[int]:
        """The ids of the sites that are being visited, or whose visit was not taken yet."""
        return {task.site_id for task in self._running.values()}

    @property
    def has_finished(self) -> bool:
        """Whether a visit has ended whose outcome was not taken."""
        return any(future.done() for future in self._running)

    def start(self, task: VisitTask, when_done: Callable[[], Any] | None = None) -> None:
        """Start a visit; *when_done* is called from the thread that finished it."""
        # A visit is a function of its task, so a process pool or a Dask client's executor works as well.
        future = self._executor.submit(self._visit, task, self._fetch, self._read)
        self._running[future] = task
        if when_done is not None:
            future.add_done_callback(lambda _: when_done())

    def finished(self) -> Iterator[Outcome]:
        """Yield the outcomes since the last call, in order of start; those not taken come again."""
        for future in [one for one in self._running if one.done()]:
            task = self._running.pop(future)
            outcome = attempt(future.result)
            if isinstance(outcome, Bug):
                detail = "internal error, see hubwatch status"
                failed = Response(task.url, FetchStatus.INTERNAL_ERROR, detail=detail)
                outcome = Outcome(task, failed, bug=outcome)
            self.ended += 1
            yield outcome

    def wait(self, timeout_seconds: float | None = None) -> None:
        """Wait until a visit ends, or the timeout."""
        if self._running:
            wait(self._running, timeout=timeout_seconds, return_when=FIRST_COMPLETED)
