"""The daemon: APScheduler repeats a few steps, all in one thread, until it is told to stop.

::

    round        whenever the crawler wants to be called, or a visit ends
    reload       every few seconds: did another command change the sites?
    housekeeping once a day: prune the page cache, forget old visits
    learning     once a day: let behaviour write labels, and the classifier learn them

Each job is a ``step(now)`` that returns when it wants to be called next. Steps run in the scheduler's
own thread, so there is one writer; only visits run in worker threads. The first INT or TERM ends the
daemon when the running step and the visits under way are recorded; the second ends it at once, which
loses nothing either: what was not recorded is due again.
"""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import Any, Protocol

from apscheduler.executors.debug import DebugExecutor
from apscheduler.schedulers.blocking import BlockingScheduler
from apscheduler.triggers.base import BaseTrigger

from incremental.clock import Clock
from incremental.crawler import Crawler
from incremental.settings import Settings
from store import Store

logger = logging.getLogger("hubwatch.daemon")

Step = Callable[[float], float]
"""Does one round at a time (unix seconds, UTC) and returns when it wants the next."""

RELOAD_SECONDS = 5.0
HOUSEKEEPING_SECONDS = 86_400.0
ONCE_PATIENCE_SECONDS = 60.0
"""A single run waits for work that is at most this far off: what politeness delays belongs to the run."""
SECOND_SIGNAL_EXIT = 130
NEVER = 9e10
"""The latest moment that a datetime is asked to hold, in the year 4821."""


class RunningClock(Clock, Protocol):
    """A clock that knows when its moments come on the machine's own."""

    def real(self, moment: float) -> float:
        """Return unix seconds of the machine's clock."""


class _StepTrigger(BaseTrigger):  # type: ignore[misc]  # apscheduler 3 has no types
    """Fires when the last step said so, and never twice for one moment."""

    def __init__(self) -> None:
        self.next_at = 0.0

    def get_next_fire_time(self, _previous: datetime | None, now: datetime) -> datetime:
        """Return the next time, later than *now*: APScheduler asks until it is."""
        wanted = datetime.fromtimestamp(min(self.next_at, NEVER), UTC)
        return max(wanted, now + timedelta(milliseconds=1))


class Daemon:
    """Repeats the steps of a crawler until it is stopped, or with *once* until nothing is due.

    *learn* is the step of :class:`incremental.learning.Learner`, if it is to learn.
    """

    def __init__(  # noqa: PLR0913 - what it repeats, and on what
        self,
        crawler: Crawler,
        store: Store,
        settings: Settings,
        clock: RunningClock,
        *,
        once: bool,
        learn: Step | None = None,
    ) -> None:
        self._crawler = crawler
        self._store = store
        self._settings = settings
        self._clock = clock
        self._once = once
        self._learn = learn
        self._signals = 0
        self._stopping = False
        self._ending = False
        self._error: Exception | None = None
        self._generation: object = None
        self._scheduler = BlockingScheduler(
            executors={"default": DebugExecutor()},
            job_defaults={"coalesce": True, "misfire_grace_time": None, "max_instances": 1},
            timezone=UTC,
        )

    def run(self) -> None:
        """Run until a signal or, with *once*, until nothing is due. Returns in good order.

        Raises:
            StoreError: the store can no longer be written; what a step raises ends the daemon.
        """
        self._crawler.frontier.load(self._clock.now())
        self._add("round", self._round)
        if not self._once:
            self._add("reload", self._reload)
            self._add("housekeeping", self._keep_house)
            if self._learn is not None:
                self._add("learning", self._learn)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        self._scheduler.start()
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """Ask the daemon to end; from a signal handler or another thread."""
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
                # APScheduler is about to overwrite the time that the signal's handler has set.
                trigger.next_at = 0.0

        now = datetime.fromtimestamp(self._clock.real(self._clock.now()), UTC)
        self._scheduler.add_job(run, trigger, id=name, next_run_time=now)

    def _wake(self) -> None:
        """Let the next round come now. Called from worker threads and the signal handler."""
        now = datetime.fromtimestamp(self._clock.real(self._clock.now()), UTC)
        if self._scheduler.running:
            self._scheduler.modify_job("round", next_run_time=now)

    def _on_signal(self, _number: int, _frame: Any) -> None:  # noqa: ANN401 - signal's own signature
        if self._signals:
            # Every visit is one transaction: whatever is cut off here is due again at the next start.
            os._exit(SECOND_SIGNAL_EXIT)
        self.stop()

    def _round(self, now: float) -> float:
        if self._signals:
            if not self._stopping:
                self._stopping = True
                logger.warning("ending when the visits under way are recorded; again ends at once")
            self._crawler.drain(now)
            if self._crawler.idle:
                self._end()
            return now + RELOAD_SECONDS
        wake_at = self._crawler.step(now, self._wake)
        waits = not self._crawler.idle or self._crawler.is_due(now, ONCE_PATIENCE_SECONDS)
        if self._once and not waits:
            self._end()
        return wake_at

    def _end(self) -> None:
        """Shut the scheduler down, from a thread of its own: it holds its lock while a job runs."""
        if self._ending:
            return
        self._ending = True
        Thread(target=self._scheduler.shutdown, kwargs={"wait": False}).start()

    def _reload(self, now: float) -> float:
        generation = self._store.read.generation()
        if generation != self._generation:
            self._generation = generation
            self._crawler.frontier.load(now)
            self._wake()
        elif self._signals:
            self._wake()
        return now + RELOAD_SECONDS

    def _keep_house(self, now: float) -> float:
        keep = self._settings.store
        bodies = self._store.cache.prune(older_than=now - keep.cache_days * 86_400)
        visits = self._store.write.forget_visits(before=now - keep.visit_log_days * 86_400)
        logger.info("housekeeping: %d bodies and %d visits forgotten", bodies, visits)
        return now + HOUSEKEEPING_SECONDS
