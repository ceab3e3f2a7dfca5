"""The example pages that topics want fetched, as tasks that belong to no site.

::

    store: examples to fetch ── due(now) ── frontier ── visit ── settle ── its text, from which the topic
                                └ put off while the host is busy or owed a pause      learns next
"""

import logging
import math
from collections.abc import Sequence

from incremental.fetch.status import FetchStatus
from incremental.topics.judging import retry_at, to_text
from incremental.visit.visit import Outcome, Purpose, VisitTask
from store import Store
from store.topics.values import ExampleRow

logger = logging.getLogger("hubwatch.topics")

# Examples read from the store together.
AT_ONCE = 50
MAX_REDIRECTS = 5


class TopicFetches:
    """Used by the crawler's thread only."""

    def __init__(self, store: Store) -> None:
        self._store = store
        # By example id; only who waits for which host is in memory.
        self._pending: dict[int, tuple[float, VisitTask]] = {}
        # Due time of each example at the last load; another time means that it was given again.
        self._planned: dict[int, float | None] = {}

    def load(self, now: float) -> None:
        """Read again what to fetch; what waits for a host keeps waiting."""
        before, self._pending = self._pending, {}
        known, self._planned = self._planned, {}
        for row in self._store.topics.due_examples(math.inf, limit=AT_ONCE):
            task = VisitTask(Purpose.EXAMPLE, row.url, 0, row.id, for_topics=True)
            self._planned[row.id] = row.due_at
            waits = before if known.get(row.id) == row.due_at else {}
            at = max(row.due_at or now, waits.get(row.id, (now, task))[0])
            self._pending[row.id] = at, task

    def due(self, now: float) -> Sequence[VisitTask]:
        """Return what may be fetched at *now*, longest waiting first."""
        ready = [(at, task.page_id, task) for at, task in self._pending.values() if at <= now]
        return [task for _, _, task in sorted(ready, key=lambda one: one[:2])]

    def put_off(self, task: VisitTask, until: float) -> None:
        """Put *task* off until *until*."""
        if task.page_id in self._pending:
            self._pending[task.page_id] = until, task

    def next_at(self) -> float:
        """Return when there is something to fetch; infinite = nothing."""
        return min((at for at, _ in self._pending.values()), default=math.inf)

    def settle(self, outcome: Outcome, now: float) -> None:
        """Keep the text of an example, or say when it is tried again; see what is next."""
        example = self._store.topics.example(outcome.task.page_id)
        if example is not None:
            self._settle(example, outcome, now)
        self._pending.pop(outcome.task.page_id, None)
        self.load(now)

    def _settle(self, row: ExampleRow, outcome: Outcome, now: float) -> None:
        response, text = outcome.response, outcome.text
        fields: dict[str, object] = {"status": response.status.value, "tried_at": now}
        if response.status is FetchStatus.REDIRECTED and response.location:
            if row.failures < MAX_REDIRECTS:
                fields |= {"url": response.location, "due_at": now, "failures": row.failures + 1}
        elif text is not None:
            fields |= {"text": to_text(text), "title": text.title, "due_at": None, "failures": 0}
        if "due_at" not in fields:
            failures = row.failures + 1
            fields |= {"failures": failures, "due_at": retry_at(failures, now)}
            logger.warning("example %s: %s", row.url, response.status.value)
        self._store.topics.update_example(row.id, **fields)
        self._store.topics.update(row.topic_id, changed_at=now)
