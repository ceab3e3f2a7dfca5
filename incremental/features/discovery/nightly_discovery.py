"""Nightly discovery: a run for each topic, within its own budget, beside the crawler.

::

    step(now) ── a day since the last? ── in its own thread: one run per ready topic
        └ later, when the thread has finished: log the outcome

The thread has its own connection and writes as commands do.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING

from hubwatch.errors import HubwatchError
from incremental.base.texts import read_text
from incremental.base.threads import InlineExecutor, Start, start_thread
from incremental.base.times import DAY
from incremental.daemon.at_work import AtWork
from incremental.features.discovery.exploration import Round
from incremental.features.discovery.making import make_discoverer
from incremental.features.discovery.settings import DiscoverySettings
from incremental.settings import Settings
from store import Store
from store.enums import TopicState
from store.errors import StoreError
from store.topics.values import TopicRow

if TYPE_CHECKING:
    from incremental.features.discovery.discoverer import Discoverer

logger = logging.getLogger("hubwatch.discovery")

ROUNDS_PER_NIGHT = 50
POLL_SECONDS = 60.0

Make = Callable[[TopicRow], "AbstractContextManager[Discoverer]"]


def nightly(work: AtWork) -> NightlyDiscovery | None:
    """Return the job; None if no pages are given to it."""
    pages = work.settings.of(DiscoverySettings).pages_per_night
    make = partial(make_discoverer, work.store, work.settings, work.folder)
    return NightlyDiscovery(work.store, pages, make) if pages else None


class NightlyDiscovery:
    """The nightly step, for one thread; *make* is called in the run's thread."""

    def __init__(
        self, store: Store, pages: int, make: Make, *, start: Start = start_thread
    ) -> None:
        self._store = store
        self._pages = pages
        self._make = make
        self._start = start
        self._running = False
        self._next_at: float | None = None
        # Raised again until the next night, so that status shows it.
        self._bug: BaseException | None = None

    def step(self, now: float) -> float:
        """Begin nightly discovery if due; return when to call again (unix seconds).

        The first is due a day after any process's last run or, without one, after a topic was added.

        Raises:
            Exception: the last run met a bug.
        """
        if self._next_at is None:
            self._next_at = min(self._last_at(now), now) + DAY
        # A clock that was ahead has put it further off than a day.
        self._next_at = min(self._next_at, now + DAY)
        if now >= self._next_at and not self._running:
            self._next_at = now + DAY
            self._running, self._bug = True, None
            try:
                self._start(self._night)
            except RuntimeError:
                self._running = False  # no thread could be started; the next step begins again
                self._next_at = now
                raise
        if self._bug is not None:
            raise self._bug
        return now + POLL_SECONDS

    def _last_at(self, now: float) -> float:
        topics = self._store.topics.topics()
        runs = [self._store.discovery.last_run(topic.id) for topic in topics]
        begun = [run.updated_at for run in runs if run is not None]
        return max(begun or [topic.created_at for topic in topics], default=now)

    def _night(self) -> None:
        error = InlineExecutor().submit(self._search).exception()
        if isinstance(error, StoreError):
            # The daemon waits for its store by itself; the run goes on the next night.
            logger.warning("nightly discovery was interrupted: %s", error)
        else:
            self._bug = error
        self._running = False

    def _search(self) -> None:
        with self._store.in_this_thread():
            for topic in self._store.topics.topics():
                if topic.state == TopicState.READY:
                    self._topic(topic)

    def _topic(self, topic: TopicRow) -> None:
        done: list[Round] = []

        def is_over() -> bool:
            # A run that was interrupted, or begun by hand with more pages than a night has, continues the
            # next night.
            read = sum(len(one.found) for one in done)
            return read >= self._pages or len(done) >= ROUNDS_PER_NIGHT

        try:
            with self._make(topic) as discoverer:
                run = discoverer.run(
                    rounds=ROUNDS_PER_NIGHT,
                    pages=self._pages,
                    progress=lambda _run, one, _read: done.append(one),
                    stop=is_over,
                )
        except HubwatchError as error:
            logger.warning("topic %s: %s", topic.name, error)
            return
        found = len(self._store.discovery.proposals(topic.id))
        why = read_text(run.why) or "continues the next night"
        logger.info("topic %s: %s; %d sites proposed", topic.name, why, found)


def forget(store: Store, settings: Settings, now: float) -> Iterator[int]:
    """Forget old runs and open proposals, one run at a time."""
    before = now - settings.store.candidate_days * DAY
    while rows := store.discovery.forget_older(before=before):
        yield rows
