"""What topics want fetched: example pages and external candidates.

::

    store: examples to fetch ──────────────────────────────┐
    store: external candidates ── queue, best first, ──────┴─ due(now) ── frontier ── visit ── TopicWatch
                                  hosts in turn (paper 004)   └ put off while the host is busy or owed a pause

External candidates are fetched only while exploring, one at a time, as many a day as the settings allow.
"""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Sequence

from incremental.base.times import DAY
from incremental.base.urls import host_of, registered_domain
from incremental.crawl.best_first import QUEUE_LIMIT, BestFirstQueue
from incremental.settings.seeds import BY_DISCOVERY
from incremental.visit.visit import Purpose, VisitTask
from store import Store
from store.topics.values import ExternalCandidateRow
from store.values import NewExternalCandidate

# Examples read from the store together.
AT_ONCE = 50
# Candidates in a row from as many hosts, if so many wait: k of paper 004, which names no number.
DISTINCT_HOSTS = 5
# Most candidates fetched for each new site that may be found.
TRIES_PER_SITE = 20

_METER = "leads"

_Key = tuple[Purpose, int]


class TopicFetches:
    """Tasks that belong to no site. Used by the crawler's thread only."""

    def __init__(self, store: Store, *, explore: int = 0, requests_per_day: float = 0.0) -> None:
        self._store = store
        self._explore = explore
        self._per_day = requests_per_day
        # Only the order of candidates, and who waits for which host, is in memory.
        self._pending: dict[_Key, tuple[float, VisitTask]] = {}
        # Due time of each example at the last load; another time means that it was given again.
        self._planned: dict[_Key, float | None] = {}
        # A restart of the daemon, or a run by cron, does not start a new day.
        kept = store.discovery.meter(_METER) if explore else ""
        self._tried: deque[float] = deque(json.loads(kept or "[]"))
        self._tries_left = TRIES_PER_SITE * explore
        self._queue = BestFirstQueue(distinct_hosts=DISTINCT_HOSTS)
        # Id of the last candidate put into the queue.
        self._read_to = 0
        # Taken from the queue, not fetched yet.
        self._next: ExternalCandidateRow | None = None

    def load(self, now: float) -> None:
        """Read again what to fetch; what waits for a host keeps waiting."""
        before, self._pending = self._pending, {}
        known, self._planned = self._planned, {}
        for row in self._store.topics.due_examples(math.inf, limit=AT_ONCE):
            task = VisitTask(Purpose.EXAMPLE, row.url, 0, row.id, for_topics=True)
            self._planned[_key(task)] = row.due_at
            waits = before if known.get(_key(task)) == row.due_at else {}
            self._add(task, max(row.due_at or now, waits.get(_key(task), (now, task))[0]))
        external_candidate = self._next_external_candidate(now)
        if external_candidate is not None:
            task = VisitTask(
                Purpose.EXTERNAL_CANDIDATE,
                external_candidate.url,
                0,
                external_candidate.id,
                for_topics=True,
            )
            self._add(
                task,
                max(self._external_candidate_open_at(now), before.get(_key(task), (now, task))[0]),
            )

    def _add(self, task: VisitTask, at: float) -> None:
        self._pending[_key(task)] = at, task

    def due(self, now: float) -> Sequence[VisitTask]:
        """Return what may be fetched at *now*, longest waiting first."""
        ready = [(at, task.page_id, task) for at, task in self._pending.values() if at <= now]
        return [task for _, _, task in sorted(ready, key=lambda one: one[:2])]

    def put_off(self, task: VisitTask, until: float) -> None:
        """Put *task* off until *until*."""
        if _key(task) in self._pending:
            self._add(task, until)

    def next_at(self) -> float:
        """Return when there is something to fetch; infinite = nothing."""
        return min((at for at, _ in self._pending.values()), default=math.inf)

    def done(self, task: VisitTask, now: float) -> None:
        """Count a finished fetch, and choose the next one."""
        self._pending.pop(_key(task), None)
        if task.purpose is Purpose.EXTERNAL_CANDIDATE:
            self._next = None
            self._tried.append(now)
            self._store.discovery.put_meter(_METER, json.dumps(list(self._tried)))
            self._tries_left -= 1
        self.load(now)

    # External candidates.

    def offer(self, external_candidates: Sequence[NewExternalCandidate]) -> None:
        """Queue candidates that are just being recorded, or raise their scores."""
        for external_candidate in external_candidates if self._explore else ():
            promise = self._queue.promise(external_candidate.url)
            if promise is None or promise < external_candidate.score:
                self._queue.offer(external_candidate.url, external_candidate.score)

    def room(self) -> int:
        """Return how many more sites may be found; those found in earlier runs count."""
        sites = self._store.read.sites() if self._explore else []
        origins = [json.loads(site.origin or "{}") for site in sites]
        by_external_candidates = [
            one for one in origins if one and one.get("found_on") != BY_DISCOVERY
        ]
        return self._explore - len(by_external_candidates)

    def _next_external_candidate(self, now: float) -> ExternalCandidateRow | None:
        """Return the next external candidate whose site is not watched yet."""
        if (
            self._tries_left <= 0
            or math.isinf(self._external_candidate_open_at(now))
            or self.room() <= 0
        ):
            return None
        watched = {registered_domain(host_of(site.seed_url)) for site in self._store.read.sites()}
        for number, url, score in self._store.topics.external_candidates_after(
            self._read_to, limit=QUEUE_LIMIT
        ):
            self._queue.offer(url, score)
            self._read_to = number
        external_candidate = self._still_waiting() or self._take()
        while external_candidate is not None and external_candidate.domain in watched:
            self._store.topics.close_external_candidates_to(external_candidate.domain, "watched")
            external_candidate = self._take()
        self._next = external_candidate
        return external_candidate

    def _still_waiting(self) -> ExternalCandidateRow | None:
        """Return the taken candidate as it is now; None = it was dropped meanwhile."""
        external_candidate = (
            self._store.topics.external_candidate(self._next.id) if self._next is not None else None
        )
        return (
            external_candidate
            if external_candidate is not None and external_candidate.state == "waiting"
            else None
        )

    def _take(self) -> ExternalCandidateRow | None:
        """Return the best candidate of a host whose turn it is; None = none waits."""
        while (url := self._queue.take()) is not None:
            external_candidate = self._store.topics.waiting_external_candidate(url)
            if external_candidate is not None:
                return external_candidate
        return None

    def _external_candidate_open_at(self, now: float) -> float:
        """Return from when on the daily limit allows one more."""
        if self._per_day < 1:
            return math.inf
        # A clock that was ahead and set back leaves future times, which do not count.
        while self._tried and not now - DAY < self._tried[0] <= now:
            self._tried.popleft()
        return now if len(self._tried) < self._per_day else self._tried[0] + DAY


def _key(task: VisitTask) -> _Key:
    return task.purpose, task.page_id
