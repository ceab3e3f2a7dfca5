"""Visits under way, wherever they run (:mod:`incremental.visit.engines`).

::

    start(task) ──> under way ──> finished(): each outcome once
                      │ its worker ended: due again; at the second time a bug of ours
                      └ its engine cannot be reached: due again

A page that ended a worker is tried again only while no other such page is: so it is known which one did it.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial
from typing import Any

from incremental.base.attempts import Bug, attempt
from incremental.fetch.status import FetchStatus, Response
from incremental.visit.engines.visits import EngineReport, LostVisitError
from incremental.visit.visit import Outcome, VisitTask

logger = logging.getLogger("hubwatch.engine")

# A page that ended so many workers is not tried again soon.
MOST_TRIES = 2
_MOST_SUSPECTS = 10_000
# How often an engine without workers is asked whether it has some.
STARVED_SECONDS = 1.0


class Engine:
    """Visits under way. Used by the crawler's thread only."""

    def __init__(
        self,
        start: Callable[[VisitTask], Future[Outcome]],
        report: Callable[[], EngineReport],
        *,
        workers: int,
    ) -> None:
        """Run at most *workers* visits at a time.

        *start* begins one; its future may raise :class:`LostVisitError`. *report*: what runs them, and how
        many it can run now; does not wait, from any thread.
        """
        self._start = start
        self.report = report
        self._workers = workers
        self._running: dict[Future[Outcome], VisitTask] = {}
        # Workers that a page ended, by page.
        self._suspects: dict[tuple[str, str], int] = {}
        # Suspects that wait for another one.
        self._held: deque[tuple[VisitTask, Future[Outcome]]] = deque()
        self.ended = 0
        """Visits ended."""

    @property
    def _most(self) -> int:
        return min(self._workers, self.report().workers)

    @property
    def free(self) -> int:
        """How many more visits may be started."""
        return max(self._most - len(self._running), 0)

    @property
    def only_quick(self) -> bool:
        """Whether the free workers are those kept for hosts that answer quickly: a fourth of all."""
        # Hosts that hang, or send what takes long to read, would otherwise keep every worker busy.
        return self.free <= (self._most + 1) // 4

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

    def again_at(self, wanted_at: float, now: float) -> float:
        """Return *wanted_at*, or later while there is no worker."""
        starved = not self._running and not self._most
        return max(wanted_at, now + STARVED_SECONDS) if starved else wanted_at

    def start(self, task: VisitTask, when_done: Callable[[], Any] | None = None) -> None:
        """Start a visit; *when_done* is called from the thread that finished it."""
        if _page(task) in self._suspects and self._has_suspect():
            future: Future[Outcome] = Future()
            self._held.append((task, future))
        else:
            future = self._start(task)
        self._running[future] = task
        if when_done is not None:
            future.add_done_callback(lambda _: when_done())

    def finished(self) -> Iterator[Outcome]:
        """Yield the outcomes since the last call, in order of start; those not taken come again."""
        for future in [one for one in self._running if one.done()]:
            task = self._running.pop(future)
            error = future.exception()
            if isinstance(error, LostVisitError):
                outcome = self._lost(task, error)
            else:
                found = attempt(future.result)
                outcome = _as_bug(task, found) if isinstance(found, Bug) else found
            if not outcome.lost:
                self._suspects.pop(_page(task), None)
            self.ended += 1
            if self._held:
                self._let_go()
            yield outcome

    def wait(self, timeout_seconds: float | None = None) -> None:
        """Wait until a visit ends, or the timeout."""
        if self._running:
            wait(self._running, timeout=timeout_seconds, return_when=FIRST_COMPLETED)

    def _has_suspect(self) -> bool:
        return any(_page(task) in self._suspects for task in self._running.values())

    def _let_go(self) -> None:
        """Start the next suspect that waits, if no other one is under way."""
        waiting = {id(future) for _, future in self._held}
        under_way = (task for future, task in self._running.items() if id(future) not in waiting)
        if any(_page(task) in self._suspects for task in under_way):
            return
        task, future = self._held.popleft()
        self._start(task).add_done_callback(partial(_pass_on, answer=future))

    def _lost(self, task: VisitTask, lost: LostVisitError) -> Outcome:
        """Return the outcome of a visit that nobody can ask for."""
        if lost.blamed:
            tries = self._suspects.get(_page(task), 0) + 1
            if tries >= MOST_TRIES:
                error = (
                    f"{tries} visits of this page were lost with their workers; the last: {lost}"
                )
                return _as_bug(task, Bug(error, error))
            if len(self._suspects) < _MOST_SUSPECTS:
                self._suspects[_page(task)] = tries
        logger.warning("the visit %s is due again: %s", task.url, lost)
        response = Response(
            task.url,
            FetchStatus.INTERNAL_ERROR,
            # The host may still be asked there.
            retry_after_seconds=lost.rest_seconds or None,
            detail=str(lost),
        )
        return Outcome(task, response, lost=True)


def _pass_on(ended: Future[Outcome], answer: Future[Outcome]) -> None:
    """Give *answer* what *ended* has."""
    error = ended.exception()
    if error is not None:
        answer.set_exception(error)
    else:
        answer.set_result(ended.result())


def _as_bug(task: VisitTask, bug: Bug) -> Outcome:
    detail = "internal error, see hubwatch status"
    return Outcome(task, Response(task.url, FetchStatus.INTERNAL_ERROR, detail=detail), bug=bug)


def _page(task: VisitTask) -> tuple[str, str]:
    return task.purpose.value, task.url
