"""What the crawler needs of visits, wherever they run, and what goes before or after them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import Executor, Future, InvalidStateError
from dataclasses import dataclass, replace
from threading import Timer
from typing import TYPE_CHECKING

from hubwatch.errors import HubwatchError
from incremental.base.texts import Text
from incremental.parse.hub_way import WayKind
from store.errors import StoreError

if TYPE_CHECKING:  # the health names what is below, and loads no fetcher
    from classifier.embedding.meaning import Meaning
    from classifier.words.values import PageText
    from incremental.sandbox import Read
    from incremental.visit.visit import Fetch, Outcome, VisitTask

    Start = Callable[[VisitTask], Future[Outcome]]

# The first finds out on a worker that it needs one.
_NEEDS_BROWSER = (WayKind.RENDERED, WayKind.BROWSER_MISSING)


@dataclass(frozen=True, slots=True)
class EngineReport:
    """What runs the visits, at one moment."""

    kind: str
    """``threads``, ``processes`` or ``dask``."""
    workers: int
    """Visits that it can run at a time."""
    processes: int = 1
    """That they run in."""
    address: str = ""
    """Of the cluster."""
    waits: str = ""
    """Why nothing can be fetched; empty = something can."""
    since: float = 0.0
    """When that began, unix seconds; 0 = it does not wait."""
    unknown: int = 0
    """Workers of a cluster that have not said their version yet."""
    refused: tuple[str, ...] = ()
    """Workers that get no visits, each with the reason."""

    def text(self) -> Text:
        """Return what runs the visits, and how many at a time."""
        said = {"n": self.processes, "workers": self.workers, "address": self.address}
        return Text(f"engine.{self.kind}", **said)


class LostVisitError(HubwatchError):
    """A visit ended with its worker, or nobody can ask for its outcome: it is due again.

    *blamed*: the page may have ended the worker. *rest_seconds*: how long the visit may still be running
    somewhere.
    """

    def __init__(self, reason: str, *, blamed: bool = False, rest_seconds: float = 0.0) -> None:
        self.blamed = blamed
        self.rest_seconds = rest_seconds
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Visits:
    """Runs visits."""

    start: Start
    """Start a visit. Its future may raise :class:`LostVisitError`."""
    report: Callable[[], EngineReport]
    """Return what runs the visits; does not wait, from any thread."""

    @property
    def most(self) -> int:
        """How many may be under way; 0 = none for now."""
        return self.report().workers


def visits_here(
    executor: Executor,
    visit: Callable[[VisitTask, Fetch, Read], Outcome],
    fetch: Fetch,
    read: Read,
    most: int,
) -> Visits:
    """Return visits on an executor of this process, which share one fetcher."""
    report = EngineReport("threads", most)
    return Visits(lambda task: executor.submit(visit, task, fetch, read), lambda: report)


def fenced(start: Start, check: Callable[[], object]) -> Start:
    """Start visits only while *check* raises no StoreError, which their future raises otherwise.

    So a daemon that shares its store starts none once its lease is over.
    """

    def start_fenced(task: VisitTask) -> Future[Outcome]:
        try:
            check()
        except StoreError as error:
            refused: Future[Outcome] = Future()
            refused.set_exception(error)
            return refused
        return start(task)

    return start_fenced


def drawn(start: Start, here: Start) -> Start:
    """Start visits of pages that need a browser *here*: the daemon has one, workers have none."""

    def start_drawn(task: VisitTask) -> Future[Outcome]:
        needs = task.way is not None and task.way.kind in _NEEDS_BROWSER
        return (here if needs else start)(task)

    return start_drawn


def embedded(
    start: Start, embed: Callable[[PageText], Future[Meaning | None]], patience_seconds: float
) -> Start:
    """Give the texts of visits their vectors here: one process has the model in memory, not each.

    *embed* begins to make one; None = the page can have none. A visit waits *patience_seconds* for it.
    """

    def start_embedded(task: VisitTask) -> Future[Outcome]:
        answer: Future[Outcome] = Future()

        def with_vector(ended: Future[Outcome]) -> None:
            if pass_on(ended, answer, only_errors=True):
                return
            outcome = ended.result()
            if outcome.text is None:
                answer.set_result(outcome)
                return
            text = outcome.text

            def settle(meaning: Meaning | None) -> None:
                # The vector and the end of patience may come at once.
                with contextlib.suppress(InvalidStateError):
                    answer.set_result(replace(outcome, text=replace(text, meaning=meaning)))

            meaning = embed(text)
            if not meaning.done():
                # A thread is cheap beside a visit, and the model's own may hang.
                patience = Timer(patience_seconds, settle, (None,))
                patience.daemon = True
                patience.start()
                answer.add_done_callback(lambda _: patience.cancel())
            meaning.add_done_callback(lambda found: settle(found.result()))

        start(task).add_done_callback(with_vector)
        return answer

    return start_embedded


def pass_on(ended: Future[Outcome], answer: Future[Outcome], *, only_errors: bool = False) -> bool:
    """Give *answer* what *ended* has, or *only_errors*; return whether it did."""
    error = ended.exception()
    if error is not None:
        answer.set_exception(error)
    elif not only_errors:
        answer.set_result(ended.result())
    return answer.done()


def _counted(number: int, one: str, more: str) -> str:
    return f"{number} {one if number == 1 else more}"
