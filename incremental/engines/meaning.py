"""Vectors for pages that come back from a worker: one process has the model in memory, not each."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from incremental.engines.visits import EngineReport, Visits

if TYPE_CHECKING:
    from classifier.embedding.meaning import Meaning
    from classifier.topic.values import PageText
    from incremental.visit import Outcome, VisitTask


@dataclass(frozen=True, slots=True)
class EmbeddedVisits:
    """Visits whose texts for topics have their vectors."""

    visits: Visits
    embed: Callable[[PageText], Future[Meaning | None]]
    """Begins to give a page its vector; None = it can have none."""

    @property
    def most(self) -> int:
        """How many may be under way."""
        return self.visits.most

    def start(self, task: VisitTask) -> Future[Outcome]:
        """Start a visit, which ends when its page has its vector or can have none."""
        answer: Future[Outcome] = Future()

        def embed(ended: Future[Outcome]) -> None:
            error = ended.exception()
            if error is not None:
                answer.set_exception(error)
                return
            outcome = ended.result()
            if outcome.text is None:
                answer.set_result(outcome)
                return
            text = outcome.text

            def add(meaning: Future[Meaning | None]) -> None:
                answer.set_result(replace(outcome, text=replace(text, meaning=meaning.result())))

            self.embed(text).add_done_callback(add)

        self.visits.start(task).add_done_callback(embed)
        return answer

    def report(self) -> EngineReport:
        """Return what runs the visits."""
        return self.visits.report()
