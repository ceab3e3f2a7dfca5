"""The daemon's health: what its jobs do, what stands still, and why.

::

    daemon, notifier -- began, ended, failed, store_lost, ... --> Health
                                                           report() └── /healthz, /metrics, status, systemd

Any thread may report and ask.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

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
    MESSAGES = "messages"
    """Messages are stuck."""
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
    """For those who may see the status: may name channels and paths."""
    since: float
    """Unix seconds, UTC."""


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


@dataclass(slots=True)
class _Facts:
    """What was reported. Moments of the monotonic clock are called ticks."""

    jobs: dict[str, JobBeat] = field(default_factory=dict)
    running: str = ""
    beat_tick: float = 0.0
    beat_at: float = 0.0
    under_way: int = 0
    visits_ended: int = 0
    visit_tick: float = 0.0
    visit_at: float = 0.0
    store: Problem | None = None
    stuck: dict[str, Problem] = field(default_factory=dict)


class Health:
    """Gathers heartbeats. Thread-safe."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._started_at = clock.now()
        self._state = self._before = DaemonState.STARTING
        self._engine: Callable[[], EngineReport] | None = None
        self._embeddings: Callable[[], tuple[str, float] | None] = lambda: None
        self._facts = _Facts(beat_tick=clock.monotonic(), beat_at=clock.now())

    def enter(self, state: DaemonState) -> None:
        """Note what the daemon does now."""
        with self._lock:
            self._state = state

    def runs_on(self, engine: Callable[[], EngineReport]) -> None:
        """Note whom to ask what runs the visits; called from any thread."""
        self._engine = engine

    def embeds_by(self, trouble: Callable[[], tuple[str, float] | None]) -> None:
        """Note whom to ask why no text is embedded, and since when; called from any thread.

        None = all is well there.
        """
        self._embeddings = trouble

    def began(self, job: str) -> None:
        """Note that a job began."""
        with self._lock:
            self._beat(job, running=True)
            before = self._facts.jobs.get(job, JobBeat(job))
            self._facts.jobs[job] = replace(before, began_at=self._clock.now())

    def ended(self, job: str, next_at: float) -> None:
        """Note that a job succeeded, and when it runs next."""
        with self._lock:
            self._beat(job, running=False)
            before = self._facts.jobs.get(job, JobBeat(job))
            self._facts.jobs[job] = replace(
                before,
                ended_at=self._clock.now(),
                next_at=next_at,
                failures=0,
                failing_since=0.0,
                error="",
            )

    def failed(self, job: str, error: str, next_at: float) -> None:
        """Note that a job met a bug, and when it is tried again."""
        with self._lock:
            self._beat(job, running=False)
            before, now = self._facts.jobs.get(job, JobBeat(job)), self._clock.now()
            self._facts.jobs[job] = replace(
                before,
                next_at=next_at,
                failures=before.failures + 1,
                failing_since=before.failing_since or now,
                error=storable(error, _MOST_ERROR_CHARS),
            )

    def _beat(self, job: str, *, running: bool) -> None:
        facts = self._facts
        facts.beat_tick, facts.beat_at = self._clock.monotonic(), self._clock.now()
        facts.running = job if running else ""

    def visits(self, under_way: int, ended: int) -> None:
        """Note how many visits are under way, and how many have ended since the start."""
        with self._lock:
            facts = self._facts
            if ended != facts.visits_ended or not facts.under_way:
                facts.visit_tick, facts.visit_at = self._clock.monotonic(), self._clock.now()
            facts.under_way, facts.visits_ended = under_way, ended

    def store_lost(self, reason: str) -> None:
        """Note why the store cannot be used; the daemon waits."""
        with self._lock:
            before = self._facts.store
            since = before.since if before is not None else self._clock.now()
            self._facts.store = Problem(ProblemKind.STORE, storable(reason), since)
            if self._state is not DaemonState.WAITING:
                self._before, self._state = self._state, DaemonState.WAITING

    def store_back(self) -> None:
        """Note that the store can be used again."""
        with self._lock:
            self._facts.store = None
            self._facts.beat_tick, self._facts.beat_at = self._clock.monotonic(), self._clock.now()
            if self._state is DaemonState.WAITING:
                self._state = self._before

    def messages(self, stuck: Mapping[str, str]) -> None:
        """Note the channels whose messages are stuck, and why."""
        with self._lock:
            before, now = self._facts.stuck, self._clock.now()
            self._facts.stuck = {
                name: Problem(
                    ProblemKind.MESSAGES,
                    Text("health.channel_stuck", name=name, reason=storable(reason)),
                    before[name].since if name in before else now,
                )
                for name, reason in stuck.items()
            }

    def lives(self) -> bool:
        """Whether the loop moves, or waits for the store: what systemd's watchdog wants to know."""
        with self._lock:
            return not any(True for _ in self._still(self._clock.monotonic()))

    def _still(self, tick: float) -> Iterable[Problem]:
        """Say what stands still; nothing beats while it starts or waits for the store at its start."""
        waits = self._state is DaemonState.WAITING and self._before is DaemonState.STARTING
        if self._state is not DaemonState.STARTING and not waits:
            yield from _standing(self._facts, tick)

    def report(self) -> HealthReport:
        """Return the health now."""
        engine = self._engine() if self._engine is not None else None
        with self._lock:
            now, tick = self._clock.now(), self._clock.monotonic()
            facts = self._facts
            problems = [*self._still(tick), *_hanging(facts, tick), *filter(None, [facts.store])]
            problems += [*facts.stuck.values(), *_failing(facts.jobs.values())]
            problems += _of_engine(engine, now)
            problems += _of_embeddings(self._embeddings())
            return HealthReport(
                at=now,
                state=self._state,
                started_at=self._started_at,
                jobs=tuple(facts.jobs.values()),
                visits_under_way=facts.under_way,
                problems=tuple(problems),
                engine=engine,
            )


def _standing(facts: _Facts, tick: float) -> Iterable[Problem]:
    """Say what stands still at *tick*."""
    still = tick - facts.beat_tick
    if still > STALLED_SECONDS:
        running = facts.running
        where = Text("health.in_the_job", job=running) if running else Text("health.between_jobs")
        detail = Text("health.nothing_moves", seconds=f"{still:.0f}", where=where)
        yield Problem(ProblemKind.ROUNDS, detail, facts.beat_at)


def _hanging(facts: _Facts, tick: float) -> Iterable[Problem]:
    """Say whether visits hang at *tick*."""
    waiting = tick - facts.visit_tick
    if facts.under_way and waiting > VISITS_STALLED_SECONDS:
        said = {"count": facts.under_way, "seconds": f"{waiting:.0f}"}
        detail = Text("health.visits_hang", **said)
        yield Problem(ProblemKind.VISITS, detail, facts.visit_at)


def _failing(jobs: Iterable[JobBeat]) -> Iterable[Problem]:
    """Say which jobs fail."""
    kinds = {"round": ProblemKind.ROUNDS, "messages": ProblemKind.MESSAGES}
    for job in jobs:
        if job.failures:
            serious = job.failures >= _BROKEN
            kind = kinds.get(job.name, ProblemKind.JOB) if serious else ProblemKind.JOB
            said = {"job": job.name, "count": job.failures, "reason": job.error}
            detail = Text("health.job_failed", **said)
            yield Problem(kind, detail, job.failing_since)


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
