"""What the crawler needs of visits, wherever they run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hubwatch.errors import HubwatchError
from incremental.base.texts import Text
from incremental.parse.hub_way import WayKind

if TYPE_CHECKING:  # the health names what is below, and loads no fetcher
    from classifier.words.values import PageText
    from incremental.visit.visit import Outcome, VisitTask

    Visit = Callable[[VisitTask], Outcome]

# The first finds out elsewhere that it needs one.
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


def visit_elsewhere(
    task: VisitTask,
    elsewhere: Visit,
    browser: Visit | None,
    embed: Callable[[PageText], PageText] | None,
) -> Outcome:
    """Carry out *task* elsewhere, but for what this process alone has: a *browser*, the model to *embed*."""
    if browser is not None and task.way is not None and task.way.kind in _NEEDS_BROWSER:
        return browser(task)
    outcome = elsewhere(task)
    if embed is None or outcome.text is None:
        return outcome
    return replace(outcome, text=embed(outcome.text))
