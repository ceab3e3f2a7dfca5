"""Visits of a daemon that shares its store: none starts once its lease is over."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING

from incremental.engines.visits import EngineReport, Visits
from store.errors import StoreError

if TYPE_CHECKING:
    from incremental.visit import Outcome, VisitTask


@dataclass(frozen=True, slots=True)
class FencedVisits:
    """Visits that start only while *check* does not raise a StoreError."""

    visits: Visits
    check: Callable[[], object]

    @property
    def most(self) -> int:
        """How many may be under way."""
        return self.visits.most

    def start(self, task: VisitTask) -> Future[Outcome]:
        """Start a visit; the future raises the error of the check."""
        try:
            self.check()
        except StoreError as error:
            refused: Future[Outcome] = Future()
            refused.set_exception(error)
            return refused
        return self.visits.start(task)

    def report(self) -> EngineReport:
        """Return what runs the visits."""
        return self.visits.report()
