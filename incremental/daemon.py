"""The daemon: APScheduler repeats a few steps in one thread until it is stopped.

::

    round        whenever the crawler wants to be called, or a visit ends
    reload       every few seconds: did another command change the sites?
    housekeeping once a day, in small pieces: forget what is old, give space back
    learning     once a day: let behaviour write labels, train the classifier on them
    messages     every half minute: send what is new to the configured channels
    discovery    once a day, if enabled: search for further sites of each topic
    topics       after a topic was added: judge earlier announcements, a few pages at a time

Each job is a ``step(now)`` that returns when it wants to be called next. The first INT or TERM ends the
daemon after the running step and the fetches under way; the second ends it at once.
"""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import Any, Protocol

from apscheduler.executors.debug import DebugExecutor
from apscheduler.schedulers.blocking import BlockingScheduler
from apscheduler.triggers.base import BaseTrigger

from incremental.clock import Clock
from incremental.crawl.crawler import CLOCK_BACK_SECONDS, Crawler
from incremental.housekeeping import Housekeeping
from incremental.settings import Settings
from store import Store

logger = logging.getLogger("hubwatch.daemon")

Step = Callable[[float], float]
"""Does one round at a time (unix seconds, UTC) and returns when to call it next."""

RELOAD_SECONDS = 5.0
CATCH_UP_SECONDS = 0.5
# A changed clock is noticed within this time.
NOTICE_SECONDS = 60.0
# A single run waits this long for work that politeness delays.
ONCE_PATIENCE_SECONDS = 60.0
SECOND_SIGNAL_EXIT = 130
# Year 4821: datetime cannot hold much later ones.
NEVER = 9e10


class RunningClock(Clock, Protocol):
    """A clock that can be converted to the machine's."""

    def real(self, moment: float) -> float:
        """Return *moment* on the machine's clock, unix seconds."""


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

    *jobs*: further steps by name (learning, messages). A single run leaves them to its caller.
    """

    def __init__(  # noqa: PLR0913 - what it repeats, and on what
        self,
        crawler: Crawler,
        store: Store,
        settings: Settings,
        clock: RunningClock,
        *,
        once: bool,
        jobs: Mapping[str, Step] | None = None,
    ) -> None:
        self._crawler = crawler
        self._store = store
        self._settings = settings
        self._clock = clock
        self._once = once
        self._jobs = jobs or {}
        self._signals = 0
        self._stopping = False
        self._ending = False
        self._error: Exception | None = None
        self._generation: object = None
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
            StoreError: the store can no longer be written; any error of a step ends the daemon.
        """
        self._crawler.load(self._clock.now())
        self._add("round", self._round)
        if not self._once:
            self._add("reload", self._reload)
            self._add("housekeeping", Housekeeping(self._store, self._settings).step)
            self._add("topics", self._catch_up)
            for name, step in self._jobs.items():
                self._add(name, step)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        self._scheduler.start()
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """Ask the daemon to end, from a signal handler or another thread."""
        self._signals += 1
        self._wake()

    def _add(self, name: str, step: Step) -> None:
        trigger = _StepTrigger()

        def run() -> None:
            signals = self._signals
            try:
                trigger.next_at = self._clock.real(step(self._clock.now()))
            except Exception as error:  # noqa: BLE001 - APScheduler would log it and go on; run() raises it
                self._error = error
                trigger.next_at = NEVER
                self._end()
            if self._signals != signals:
                # APScheduler is about to overwrite the time set by the signal handler.
                trigger.next_at = 0.0

        now = datetime.fromtimestamp(self._clock.real(self._clock.now()), UTC)
        self._scheduler.add_job(run, trigger, id=name, next_run_time=now)

    def _wake(self) -> None:
        """Run the next round now. Called from worker threads and the signal handler."""
        now = datetime.fromtimestamp(self._clock.real(self._clock.now()), UTC)
        if self._scheduler.running:
            self._scheduler.modify_job("round", next_run_time=now)

    def _on_signal(self, _number: int, _frame: Any) -> None:  # noqa: ANN401 - signal's own signature
        if self._signals:
            # Every visit is one transaction: what is cut off here is due again at the next start.
            os._exit(SECOND_SIGNAL_EXIT)
        self.stop()

    def _round(self, now: float) -> float:
        if self._signals:
            if not self._stopping:
                self._stopping = True
                logger.warning("finishing running fetches; press Ctrl-C again to stop now")
            self._crawler.drain(now)
            if self._crawler.idle:
                self._end()
            return now + RELOAD_SECONDS
        wake_at = self._crawler.step(now, self._wake)
        waits = not self._crawler.idle or self._crawler.is_due(now, ONCE_PATIENCE_SECONDS)
        if self._once and not waits:
            while self._crawler.catch_up(now):
                pass
            self._crawler.drain(now)
            self._end()
        return wake_at

    def _end(self) -> None:
        """Shut the scheduler down."""
        # From another thread: the scheduler holds its lock while a job runs.
        if self._ending:
            return
        self._ending = True
        Thread(target=self._scheduler.shutdown, kwargs={"wait": False}).start()

    def _reload(self, now: float) -> float:
        generation = self._store.read.generation()
        if generation != self._generation:
            self._generation = generation
            self._crawler.load(now)
            self._wake()
        elif self._signals:
            self._wake()
        return now + RELOAD_SECONDS

    def _catch_up(self, now: float) -> float:
        return now + (CATCH_UP_SECONDS if self._crawler.catch_up(now) else RELOAD_SECONDS)
