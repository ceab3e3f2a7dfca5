"""Vectors for pages that come back from a worker: one process has the model in memory, not each."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, replace
from threading import Timer
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
    patience_seconds: float
    """How long a visit waits for it."""

    @property
    def most(self) -> int:
        """How many may be under way."""
        return self.visits.most

    def start(self, task: VisitTask) -> Future[Outcome]:
        """Start a visit, which ends when its page has its vector, can have none, or has waited for long."""
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

            def settle(meaning: Meaning | None) -> None:
                # The vector and the end of patience may come at once.
                with contextlib.suppress(InvalidStateError):
                    answer.set_result(replace(outcome, text=replace(text, meaning=meaning)))

            meaning = self.embed(text)
            if not meaning.done():
                # A thread is cheap beside a visit, and the model's own may hang.
                patience = Timer(self.patience_seconds, settle, (None,))
                patience.daemon = True
                patience.start()
                answer.add_done_callback(lambda _: patience.cancel())
            meaning.add_done_callback(lambda found: settle(found.result()))

        self.visits.start(task).add_done_callback(embed)
        return answer

    def report(self) -> EngineReport:
        """Return what runs the visits."""
        return self.visits.report()
