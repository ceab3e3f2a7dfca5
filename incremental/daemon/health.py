"""The daemon's health: what its jobs do, what stands still, and why.

::

    daemon, notifier -- began, ended, failed, store_lost, ... --> Health
                                                           report() └── /healthz, /metrics, status, systemd

Any thread may report and ask.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from incremental.base.clock import Clock
from incremental.base.texts import Text
from incremental.visit.engines.visits import EngineReport
from store.database.texts import storable

# A round takes seconds even with thousands of sites.
STALLED_SECONDS = 120.0
# No fetch takes so long: [fetch] total_timeout_seconds is a minute.
VISITS_STALLED_SECONDS = 600.0
# Failures in a row after which a job that people wait for counts as broken.
_BROKEN = 2
_MOST_ERROR_CHARS = 500


class ProblemKind(StrEnum):
    """What is wrong."""

    ROUNDS = "rounds"
    """Rounds stand still."""
    VISITS = "visits"
    """Fetches are under way, and none ends."""
    STORE = "store"
    """The store cannot be used."""
    FEATURE = "feature"
    """A feature cannot do its work."""
    ENGINE = "engine"
    """No worker can be reached, so nothing is fetched."""
    WORKER = "worker"
    """A worker is refused; the others go on."""
    JOB = "job"
    """A job fails that nobody waits for; no reason to restart."""
    EMBEDDINGS = "embeddings"
    """The model that embeds texts fails, so topics use keywords only; no reason to restart."""


# Those of which /healthz makes a 503.
SERIOUS = frozenset(ProblemKind) - {
    ProblemKind.JOB,
    ProblemKind.WORKER,
    ProblemKind.EMBEDDINGS,
}


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong."""

    kind: ProblemKind
    detail: str
    """For those who may see the status: may name addresses and paths."""
    since: float
    """Unix seconds, UTC."""
    feature: str = ""
    """The name of the feature that cannot do its work."""


@dataclass(frozen=True, slots=True)
class JobBeat:
    """The heartbeat of a job. Times are unix seconds, UTC; 0 = never."""

    name: str
    began_at: float = 0.0
    ended_at: float = 0.0
    next_at: float = 0.0
    failures: int = 0
    """In a row."""
    failing_since: float = 0.0
    error: str = ""


class DaemonState(StrEnum):
    """What the daemon does."""

    STARTING = "starting"
    RUNNING = "running"
    WAITING = "waiting"
    """For the store."""
    STOPPING = "stopping"


@dataclass(frozen=True, slots=True)
class HealthReport:
    """The health at one moment."""

    at: float
    state: DaemonState
    started_at: float
    jobs: tuple[JobBeat, ...]
    visits_under_way: int
    problems: tuple[Problem, ...]
    engine: EngineReport | None = None
    """What runs the visits; None = that is not known yet."""

    @property
    def well(self) -> bool:
        """Whether nothing serious is wrong."""
        return not any(problem.kind in SERIOUS for problem in self.problems)


class Health:
    """Gathers heartbeats. Thread-safe."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._started_at = clock.now()
        self._state = self._before = DaemonState.STARTING
        self.engine: Callable[[], EngineReport] | None = None
        """Whom to ask what runs the visits."""
        self.embeddings: Callable[[], tuple[str, float] | None] = lambda: None
        """Whom to ask why no text is embedded, and since when; None = all is well there."""
        self.vital = frozenset[str]()
        """The features without whose jobs the daemon is not well."""
        self._jobs = dict[str, JobBeat]()
        self._running = ""
        self._under_way = self._visits_ended = 0
        # Of the monotonic clock.
        self._beat_tick = self._visit_tick = clock.monotonic()
        self._store: Problem | None = None
        # By feature and what it concerns.
        self._troubles = dict[tuple[str, str], Problem]()

    def enter(self, state: DaemonState) -> None:
        """Note what the daemon does now."""
        with self._lock:
            self._state = state

    def began(self, job: str) -> None:
        """Note that a job began."""
        self._note(job, job, began_at=self._clock.now())

    def ended(self, job: str, next_at: float) -> None:
        """Note that a job succeeded, and when it runs next."""
        well = {"failures": 0, "failing_since": 0.0, "error": ""}
        self._note(job, "", ended_at=self._clock.now(), next_at=next_at, **well)

    def failed(self, job: str, error: str, next_at: float) -> None:
        """Note that a job met a bug, and when it is tried again."""
        before = self._jobs.get(job, JobBeat(job))
        since, said = before.failing_since or self._clock.now(), storable(error, _MOST_ERROR_CHARS)
        again = {"next_at": next_at, "failures": before.failures + 1}
        self._note(job, "", failing_since=since, error=said, **again)

    def _note(self, job: str, running: str, **beat: Any) -> None:  # noqa: ANN401 - fields of a JobBeat
        with self._lock:
            self._beat_tick, self._running = self._clock.monotonic(), running
            self._jobs[job] = replace(self._jobs.get(job, JobBeat(job)), **beat)

    def visits(self, under_way: int, ended: int) -> None:
        """Note how many visits are under way, and how many have ended since the start."""
        with self._lock:
            if ended != self._visits_ended or not self._under_way:
                self._visit_tick = self._clock.monotonic()
            self._under_way, self._visits_ended = under_way, ended

    def store_lost(self, reason: str) -> None:
        """Note why the store cannot be used; the daemon waits."""
        with self._lock:
            since = self._clock.now() if self._store is None else self._store.since
            self._store = Problem(ProblemKind.STORE, storable(reason), since)
            if self._state is not DaemonState.WAITING:
                self._before, self._state = self._state, DaemonState.WAITING

    def store_back(self) -> None:
        """Note that the store can be used again."""
        with self._lock:
            self._store = None
            self._beat_tick = self._clock.monotonic()
            if self._state is DaemonState.WAITING:
                self._state = self._before

    def trouble(self, feature: str, found: Mapping[str, str]) -> None:
        """Note what keeps a feature from its work, by what that concerns; the rest is over."""
        with self._lock:
            before, now = self._troubles, self._clock.now()
            self._troubles = {key: one for key, one in before.items() if key[0] != feature}
            for what, said in found.items():
                known = before.get((feature, what))
                since = now if known is None else known.since
                self._troubles[feature, what] = Problem(ProblemKind.FEATURE, said, since, feature)

    def lives(self) -> bool:
        """Whether the loop moves, or waits for the store: what systemd's watchdog wants to know."""
        with self._lock:
            return not any(True for _ in self._standing())

    def report(self) -> HealthReport:
        """Return the health now."""
        engine = self.engine() if self.engine is not None else None
        with self._lock:
            now = self._clock.now()
            problems = [*self._standing(), *self._hanging(), *filter(None, [self._store])]
            problems += [*self._troubles.values(), *self._failing()]
            problems += _of_engine(engine, now)
            problems += _of_embeddings(self.embeddings())
            return HealthReport(
                at=now,
                state=self._state,
                started_at=self._started_at,
                jobs=tuple(self._jobs.values()),
                visits_under_way=self._under_way,
                problems=tuple(problems),
                engine=engine,
            )

    def _standing(self) -> Iterable[Problem]:
        """Say what stands still; nothing beats while it starts or waits for the store at its start."""
        waits = self._state is DaemonState.WAITING and self._before is DaemonState.STARTING
        still = self._clock.monotonic() - self._beat_tick
        if still > STALLED_SECONDS and self._state is not DaemonState.STARTING and not waits:
            running = self._running
            where = (
                Text("health.in_the_job", job=running) if running else Text("health.between_jobs")
            )
            detail = Text("health.nothing_moves", seconds=f"{still:.0f}", where=where)
            yield Problem(ProblemKind.ROUNDS, detail, self._clock.now() - still)

    def _hanging(self) -> Iterable[Problem]:
        """Say whether visits hang."""
        waiting = self._clock.monotonic() - self._visit_tick
        if self._under_way and waiting > VISITS_STALLED_SECONDS:
            said = {"count": self._under_way, "seconds": f"{waiting:.0f}"}
            detail = Text("health.visits_hang", **said)
            yield Problem(ProblemKind.VISITS, detail, self._clock.now() - waiting)

    def _failing(self) -> Iterable[Problem]:
        """Say which jobs fail."""
        for job in self._jobs.values():
            if job.failures:
                kind, feature = ProblemKind.JOB, ""
                if job.failures >= _BROKEN and job.name == "round":
                    kind = ProblemKind.ROUNDS
                elif job.failures >= _BROKEN and job.name in self.vital:
                    kind, feature = ProblemKind.FEATURE, job.name
                said = {"job": job.name, "count": job.failures, "reason": job.error}
                yield Problem(kind, Text("health.job_failed", **said), job.failing_since, feature)


def _of_engine(engine: EngineReport | None, now: float) -> Iterable[Problem]:
    """Say what an engine waits for, and whom it refuses."""
    if engine is not None and engine.waits:
        detail = Text("health.nothing_fetched", reason=engine.waits)
        yield Problem(ProblemKind.ENGINE, detail, engine.since)
    for worker in engine.refused if engine is not None else ():
        yield Problem(ProblemKind.WORKER, worker, now)


def _of_embeddings(trouble: tuple[str, float] | None) -> Iterable[Problem]:
    """Say why topics use keywords only."""
    if trouble is not None:
        reason = storable(trouble[0], _MOST_ERROR_CHARS)
        detail = Text("health.model_fails", reason=reason)
        yield Problem(ProblemKind.EMBEDDINGS, detail, trouble[1])
