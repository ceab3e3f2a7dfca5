"""Pages that need a browser are drawn by the daemon, which has one; all others are read by the workers."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING

from incremental.engines.visits import EngineReport, Visits
from incremental.hub_way import WayKind

if TYPE_CHECKING:
    from incremental.visit import Outcome, VisitTask

# The first finds out on a worker that it needs one.
_DRAWN = (WayKind.RENDERED, WayKind.BROWSER_MISSING)


@dataclass(frozen=True, slots=True)
class DrawnHere:
    """Makes visits elsewhere, except those that need a browser."""

    elsewhere: Visits
    here: Visits

    @property
    def most(self) -> int:
        """How many may be under way."""
        return self.elsewhere.most

    def start(self, task: VisitTask) -> Future[Outcome]:
        """Start a visit where it can be made."""
        drawn = task.way is not None and task.way.kind in _DRAWN
        return (self.here if drawn else self.elsewhere).start(task)

    def report(self) -> EngineReport:
        """Return what runs most of the visits."""
        return self.elsewhere.report()
