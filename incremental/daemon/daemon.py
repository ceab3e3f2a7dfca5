"""The daemon: APScheduler repeats a few steps in one thread until it is stopped.

::

    round        whenever the crawler wants to be called, or a visit ends
    reload       every few seconds: did another command change the sites?
    housekeeping once a day, in small pieces: forget what is old, give space back
    learning     once a day: let behaviour write labels, train the classifier on them
    vectors      as pages are announced: embed their texts, a few at a time
    daemons      every few seconds, on PostgreSQL: who else is at work, and whose each site is
    features     each job of a feature under its name, such as messages
    topics       after a topic was added: judge earlier announcements, a few pages at a time

Of several daemons on one store each does rounds, reloads and ``daemons``; all else is done by one.

Each job is a ``step(now)`` that returns when it wants to be called next. A job that meets a bug is tried
again later, and the others go on. While the store cannot be used all wait; then a new crawler reads it, as
after a restart. The first INT or TERM ends the daemon after the running step and the fetches under way,
within ``[daemon] stop_seconds``; the second ends it at once.
"""

import contextlib
import logging
import os
import signal
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Thread
from typing import Any, Protocol

from apscheduler.executors.debug import DebugExecutor
from apscheduler.jobstores.base import JobLookupError
from apscheduler.schedulers.blocking import BlockingScheduler
from apscheduler.triggers.base import BaseTrigger

from incremental.base.attempts import Bug, attempt
from incremental.base.clock import Clock
from incremental.crawl.crawler import CLOCK_BACK_SECONDS, Crawler
from incremental.crawl.sharing import BEAT_SECONDS, Membership
from incremental.daemon.health import DaemonState, Health
from incremental.daemon.housekeeping import Housekeeping
from incremental.settings import Settings
from incremental.settings.storage import MEGABYTE
from incremental.visit.host_gate import HostGate
from store import Store
from store.crawl.quarantine import QuarantineKind
from store.errors import StoreError, StoreUnavailableError

logger = logging.getLogger("hubwatch.daemon")

Step = Callable[[float], float]
"""Does one round at a time (unix seconds, UTC) and returns when to call it next."""

RELOAD_SECONDS = 5.0
CATCH_UP_SECONDS = 0.5
PROBE_SECONDS = 30.0
# A changed clock is noticed within this time.
NOTICE_SECONDS = 60.0
# A single run waits this long for work that politeness delays.
ONCE_PATIENCE_SECONDS = 60.0
SECOND_SIGNAL_EXIT = 130
ROUND = "round"
# Jobs that change what the crawler has in memory.
_OF_CRAWLER = (ROUND, "reload", "daemons", "topics")
# Of a job that met a bug: the first pause and the longest, in seconds.
_JOB_PAUSES = (60.0, 21_600.0)
_ROUND_PAUSES = (5.0, 600.0)
_FIRST_OUTAGE_SECONDS, _LONGEST_OUTAGE_SECONDS = 1.0, 15.0
# Tries between two lines of the log.
_SAID_EVERY = 10
_POLL_SECONDS = 0.5
# Of [daemon] stop_seconds: the rest is for jobs of features, the web page and the store.
_DRAIN_SHARE = 0.6
# Year 4821: datetime cannot hold much later ones.
NEVER = 9e10


class RunningClock(Clock, Protocol):
    """A clock that can be converted to the machine's."""

    def real(self, moment: float) -> float:
        """Return *moment* on the machine's clock, unix seconds."""


@dataclass(frozen=True, slots=True)
class Outage:
    """A time in which the store cannot be used."""

    reason: str
    since: float
    tries: int
    try_at: float


class _StepTrigger(BaseTrigger):  # type: ignore[misc]  # apscheduler 3 has no types
    """Fires when the last step asked for it, and never twice for one moment."""

    def __init__(self) -> None:
        self.next_at = 0.0

    def get_next_fire_time(self, _previous: datetime | None, now: datetime) -> datetime:
        """Return the next time, later than *now*: APScheduler asks until it is."""
        wanted = datetime.fromtimestamp(min(self.next_at, NEVER), UTC)
        return max(wanted, now + timedelta(milliseconds=1))


class _Scheduler(BlockingScheduler):  # type: ignore[misc]  # apscheduler 3 has no types
    """Reschedules the jobs when the clock went back."""

    def __init__(self, now: Callable[[], float], **options: Any) -> None:  # noqa: ANN401 - APScheduler's own
        super().__init__(**options)
        self._now = now
        self._latest = 0.0

    def _process_jobs(self) -> float:
        """Cap the wait at 60 s to notice clock changes."""
        now = self._now()
        if now < self._latest - CLOCK_BACK_SECONDS:
            logger.warning(
                "the clock went back by %.0f seconds: planning again", self._latest - now
            )
            # APScheduler would wait for the old times.
            for job in self.get_jobs():
                self.modify_job(job.id, next_run_time=datetime.fromtimestamp(now, UTC))
        self._latest = now
        wait: float | None = super()._process_jobs()
        return NOTICE_SECONDS if wait is None else min(wait, NOTICE_SECONDS)


class Daemon:
    """Repeats the steps of a crawler until it is stopped or, with *once*, until nothing is due.

    *make* makes the crawler: at the start, and again after the store could not be used. *jobs*: further
    steps by name (learning, those of features). A single run leaves them to its caller. *on_stop* is called
    when the daemon is asked to end.
    """

    def __init__(  # noqa: PLR0913 - what it repeats, and on what
        self,
        make: Callable[[HostGate | None], Crawler],
        store: Store,
        settings: Settings,
        clock: RunningClock,
        *,
        once: bool,
        jobs: Mapping[str, Step] | None = None,
        health: Health | None = None,
        on_stop: Callable[[], object] = lambda: None,
        member: Membership | None = None,
    ) -> None:
        """*member*: this daemon's place among those that share the store; None = it has it for itself."""
        self._member = member
        self._on_stop = on_stop
        self._make = make
        self.crawler = make(None)
        """The one at work; replaced after the store could not be used."""
        self._store = store
        self._settings = settings
        self._clock = clock
        self._once = once
        self._jobs = jobs or {}
        self._health = health or Health(clock)
        self._signals = 0
        self._stop_at: float | None = None
        self._ending = False
        self._error: Exception | None = None
        self._generation: object = None
        self._outage: Outage | None = None
        # Whether the crawler has yet to read the store.
        self._fresh = True
        self._started = False
        self._failures: Counter[str] = Counter()
        self._probed_at = 0.0
        self._scheduler = _Scheduler(
            lambda: clock.real(clock.now()),
            # Steps run in the scheduler's thread, so there is one writer; only visits run in worker threads.
            executors={"default": DebugExecutor()},
            job_defaults={"coalesce": True, "misfire_grace_time": None, "max_instances": 1},
            timezone=UTC,
        )

    def run(self) -> None:
        """Run until a signal or, with *once*, until nothing is due.

        Raises:
            StoreError: the store is damaged, gone or of a later version; with *once*, unavailable.
            RuntimeError: a single run met a bug.
        """
        self._add(ROUND, self._round)
        housekeeping = Housekeeping(self._store, self._settings).step
        if not self._once:
            self._add("reload", self._reload)
            if self._member is not None:
                self._add("daemons", partial(self._share, self._member))
            self._add("housekeeping", self._once_for_all(housekeeping))
            self._add("topics", self._once_for_all(self._catch_up))
            for name, step in self._jobs.items():
                self._add(name, self._once_for_all(step))
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        self._health.enter(DaemonState.RUNNING)
        self._scheduler.start()
        if self._error is not None:
            raise self._error

    @property
    def unfinished(self) -> bool:
        """Whether visits are still under way; they are due again at the next start."""
        return not self.crawler.idle

    @property
    def waits_for_store(self) -> bool:
        """Whether the store cannot be used."""
        return self._outage is not None

    def stop(self) -> None:
        """Ask the daemon to end, from a signal handler or another thread."""
        self._signals += 1
        self._on_stop()
        self._wake()

    def _add(self, name: str, step: Step) -> None:
        trigger = _StepTrigger()

        def run() -> None:
            signals = self._signals
            # Should even noting a bug meet one, it is not tried at every moment.
            trigger.next_at = self._clock.real(self._clock.now() + NOTICE_SECONDS)
            try:
                trigger.next_at = self._clock.real(self._run_job(name, step))
            except (StoreError, RuntimeError, BrokenPipeError) as error:
                self._error = error
                trigger.next_at = NEVER
                self._end()
            if self._signals != signals:
                # APScheduler is about to overwrite the time set by the signal handler.
                trigger.next_at = 0.0

        now = datetime.fromtimestamp(self._clock.real(self._clock.now()), UTC)
        self._scheduler.add_job(run, trigger, id=name, next_run_time=now)

    def _run_job(self, name: str, step: Step) -> float:
        """Run one step; return when to call it again.

        Raises:
            StoreError: waiting does not help.
            RuntimeError: a single run met a bug.
        """
        self._health.began(name)
        try:
            if self._outage is not None and name != ROUND:
                next_at = self._clock.now() + RELOAD_SECONDS
            else:
                done = attempt(lambda: step(self._clock.now()))
                next_at = self._failed(name, done) if isinstance(done, Bug) else done
                if not isinstance(done, Bug) and self._failures.pop(name, 0):
                    self._store.quarantine.remove(QuarantineKind.JOB, name)
        except StoreUnavailableError as error:
            if self._once:
                raise
            next_at = self._wait_for_store(error)
        if not self._failures[name]:
            self._health.ended(name, next_at)
        return next_at

    # A job that met a bug is tried again, ever more rarely; the others go on.

    def _failed(self, name: str, bug: Bug) -> float:
        self._failures[name] += 1
        first, longest = _ROUND_PAUSES if name == ROUND else _JOB_PAUSES
        pause = min(first * 2.0 ** min(self._failures[name] - 1, 30), longest)
        logger.error(
            "a bug in the job %s, which is tried again in %.0f seconds; please report it\n%s",
            *(name, pause, bug.trace),
        )
        if self._once:
            raise RuntimeError(f"the job {name} met a bug: {bug.error}")
        now = self._clock.now()
        self._health.failed(name, bug.error, now + pause)
        if name in _OF_CRAWLER:
            # What the crawler has in memory may be half of something.
            self._fresh = True
        if name == ROUND and self._signals:
            self._end()
        self._store.quarantine.put(
            QuarantineKind.JOB,
            name,
            error=bug.error,
            trace=bug.trace,
            now=now,
            pause=pause,
        )
        return now + pause

    # A store that cannot be used is waited for.

    def _wait_for_store(self, error: StoreUnavailableError) -> float:
        """Note that the store cannot be used; return when to try it again."""
        now, before = self._clock.now(), self._outage
        since, tries = (before.since, before.tries + 1) if before is not None else (now, 0)
        pause = min(_FIRST_OUTAGE_SECONDS * 2.0 ** min(tries, 20), _LONGEST_OUTAGE_SECONDS)
        reason = str(error)
        if before is None or before.reason != reason or tries % _SAID_EVERY == 0:
            logger.warning("waiting for the store, nothing is fetched: %s", reason)
        self._outage = Outage(reason, since, tries, now + pause)
        self._health.store_lost(reason)
        self._wake()
        return now + pause

    def _recover(self, now: float) -> float | None:
        """Use the store again if it can be; return when to try again, None = it can."""
        outage = self._outage
        if outage is None:
            return None
        idle = self.crawler.abandon(now)
        if now < outage.try_at:
            return outage.try_at
        if self._member is not None:
            if not idle:
                return now + _POLL_SECONDS
            self._member.come_back()
        self._store.recover()
        self._store.check_room(self._settings.store.min_free_mb * MEGABYTE)
        if not idle:
            return now + _POLL_SECONDS
        logger.warning("the store can be used again, after %.0f s", now - outage.since)
        self._outage, self._fresh = None, True
        self._health.store_back()
        return None

    def _renew(self, now: float) -> bool:
        """Let a new crawler read the store, as after a restart; False = visits are still under way."""
        if self._started:
            if not self.crawler.abandon(now):
                return False  # two fetches of one host at once would be impolite
            gate = self.crawler.frontier.gate
            gate.busy.clear()
            self.crawler = self._make(gate)
        self._started = True
        generation = self._store.read.generation()
        self.crawler.load(now)
        self._generation = generation
        self._fresh = False
        return True

    def _wake(self) -> None:
        """Run the next round now. Called from worker threads and the signal handler."""
        now = datetime.fromtimestamp(self._clock.real(self._clock.now()), UTC)
        if self._scheduler.running:
            with contextlib.suppress(JobLookupError):  # it ends at this moment
                self._scheduler.modify_job(ROUND, next_run_time=now)

    def _on_signal(self, _number: int, _frame: Any) -> None:  # noqa: ANN401 - signal's own signature
        if self._signals:
            # Every visit is one transaction: what is cut off here is due again at the next start.
            os._exit(SECOND_SIGNAL_EXIT)
        self.stop()

    def _round(self, now: float) -> float:
        if self._signals:
            return NEVER if self._stop(now) else now + _POLL_SECONDS
        again_at = self._recover(now)
        if again_at is not None:
            return again_at
        if self._member is not None:
            self._member.check()
        if self._fresh and not self._renew(now):
            return now + _POLL_SECONDS
        wake_at = self.crawler.step(now, self._wake)
        self._health.visits(self.crawler.engine.under_way, self.crawler.engine.ended)
        ends = self._once and self.crawler.idle
        if ends and not self.crawler.is_due(now, ONCE_PATIENCE_SECONDS):
            while self.crawler.topics.catch_up(now):
                pass
            self.crawler.drain(now)
            self._end()
        return wake_at

    def _stop(self, now: float) -> bool:
        """Record what has finished; return whether the daemon ends now."""
        moment = self._clock.monotonic()
        if self._stop_at is None:
            self._stop_at = moment + _DRAIN_SHARE * self._settings.daemon.stop_seconds
            self._health.enter(DaemonState.STOPPING)
            logger.warning("finishing running fetches; a second signal stops at once")
        if self._outage is None and not self._fresh:
            self.crawler.drain(now)
        else:
            self.crawler.abandon(now)
        if not self.crawler.idle and moment < self._stop_at:
            return False
        if not self.crawler.idle:
            logger.warning("visits not finished, and due again: %d", self.crawler.engine.under_way)
        self._end()
        return True

    def _end(self) -> None:
        """Shut the scheduler down."""
        # From another thread: the scheduler holds its lock while a job runs.
        if self._ending:
            return
        self._ending = True
        Thread(target=self._scheduler.shutdown, kwargs={"wait": False}).start()

    def _reload(self, now: float) -> float:
        self._store.still_there()
        if not PROBE_SECONDS > now - self._probed_at >= 0:
            # A lock or a read-only disk is noticed although nothing is due.
            self._store.check_writable()
            self._probed_at = now
        self._store.check_room(self._settings.store.min_free_mb * MEGABYTE)
        if self._fresh:
            return now + RELOAD_SECONDS
        generation = self._store.read.generation()
        if generation != self._generation:
            self.crawler.load(now)
            self._generation = generation
            self._wake()
        elif self._signals:
            self._wake()
        return now + RELOAD_SECONDS

    # Several daemons on one store.

    def _share(self, member: Membership, now: float) -> float:
        """Take and give sites, as daemons come and go."""
        crawler = self.crawler
        if member.step(crawler.frontier.gate, crawler.engine.sites, now) and not self._fresh:
            crawler.load(now)
            self._wake()
        return now + BEAT_SECONDS

    def _once_for_all(self, step: Step) -> Step:
        """Return *step* for a job that one daemon does for all."""

        def run(now: float) -> float:
            alone = self._member is None or self._member.is_leader
            return step(now) if alone else now + RELOAD_SECONDS

        return run

    def _catch_up(self, now: float) -> float:
        if self._fresh:
            return now + RELOAD_SECONDS
        return now + (CATCH_UP_SECONDS if self.crawler.topics.catch_up(now) else RELOAD_SECONDS)
