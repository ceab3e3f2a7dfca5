"""What the crawler needs of visits, wherever they run."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from hubwatch_errors import HubwatchError
from incremental.texts import Text

if TYPE_CHECKING:  # the health names what is below, and loads no fetcher
    from incremental.reading import Read
    from incremental.visit import Fetch, Outcome, VisitTask


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
    known: int = 0
    """Workers of a cluster that have introduced themselves, refused ones included."""
    unknown: int = 0
    """Those that have not yet."""
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

    def __init__(self, reason: str, *, blamed: bool, rest_seconds: float = 0.0) -> None:
        self.blamed = blamed
        self.rest_seconds = rest_seconds
        super().__init__(reason)


class Visits(Protocol):
    """Runs visits."""

    @property
    def most(self) -> int:
        """How many may be under way; 0 = none for now. Does not wait."""

    def start(self, task: VisitTask) -> Future[Outcome]:
        """Start a visit. Its future may raise :class:`LostVisitError`."""

    def report(self) -> EngineReport:
        """Return what runs the visits; from any thread."""


@dataclass(frozen=True, slots=True)
class LocalVisits:
    """Visits on an executor of this process, which share one fetcher."""

    executor: Executor
    visit: Callable[[VisitTask, Fetch, Read], Outcome]
    fetch: Fetch
    read: Read
    most: int

    def start(self, task: VisitTask) -> Future[Outcome]:
        """Start a visit in a thread."""
        return self.executor.submit(self.visit, task, self.fetch, self.read)

    def report(self) -> EngineReport:
        """Return the number of threads."""
        return EngineReport("threads", self.most)
