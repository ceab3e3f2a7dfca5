"""Kills of the parts of a cluster: whom, how, and whether all goes on afterwards.

::

    daemon       SIGKILL: started again at once, or when another has its sites; or SIGSTOP until then
    worker       SIGKILL and started again; or SIGSTOP for seconds, also until the scheduler gives it up
    scheduler    SIGKILL and started again at its address; so are workers that end with it
    postgresql   restarted, away up to 3 s; some times it crashes

A part that ends by itself is started again, as whoever supervises it does.
"""

import random
import signal
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from lab.cluster import FETCH_SECONDS, GIVEN_UP_SECONDS, Cluster, is_of
from lab.daemon_process import DaemonProcess, wait_until

_PATIENCE_SECONDS = 120.0
_LONGEST_AWAY_SECONDS = 3.0
# Of the kills of daemons, those that only freeze, and those during which the server restarts.
_FREEZE_EVERY = 4
_RESTART_EVERY = 5
_FROZEN_SHARE = 0.25
_CRASH_SHARE = 0.4
_AT_ONCE_SHARE = 0.5
# From a moment's standstill to a worker that wakes when its visit may already be made elsewhere.
_FROZEN_SECONDS = 2.0, GIVEN_UP_SECONDS + FETCH_SECONDS + 6


class Part(StrEnum):
    """What can be killed."""

    DAEMON = "daemon"
    WORKER = "worker"
    SCHEDULER = "scheduler"
    POSTGRESQL = "postgresql"


WEIGHTS = {Part.DAEMON: 25, Part.WORKER: 45, Part.SCHEDULER: 15, Part.POSTGRESQL: 15}
"""How many of a hundred kills fall on each; without workers on daemons and PostgreSQL alone."""


@dataclass
class Counted:
    """What came of the kills."""

    killed: Counter[Part] = field(default_factory=Counter)
    frozen: Counter[Part] = field(default_factory=Counter)
    """Of them, those that only stood still."""
    server_restarts: int = 0
    server_crashes: int = 0
    """Of them, those without a proper end."""
    restarted_workers: int = 0
    """That ended by themselves: with their scheduler, or when they woke and had been given up."""
    takeovers: list[float] = field(default_factory=list)
    """Seconds each, of daemons."""
    recoveries: list[float] = field(default_factory=list)
    """Seconds each, of other parts."""
    failed: list[str] = field(default_factory=list)
    """Daemons that ended by themselves, sites that nobody took, daemons that visit nothing any more."""

    @property
    def kills(self) -> int:
        """All."""
        return self.killed.total()


class Killer:
    """Kills parts of a cluster that is at work, one at a time."""

    def __init__(
        self,
        cluster: Cluster,
        dice: random.Random,
        pause_seconds: tuple[float, float] = (1.0, 8.0),
    ) -> None:
        """Kill as *dice* fall; *pause_seconds*: after each, at least and at most."""
        self._cluster, self._dice, self._pause_seconds = cluster, dice, pause_seconds
        self.counted = Counted()

    def choose(self) -> Part:
        """Draw what is killed next."""
        weights: Mapping[Part, int] = WEIGHTS
        if self._cluster.dask is None:
            weights = {part: WEIGHTS[part] for part in (Part.DAEMON, Part.POSTGRESQL)}
        return self._dice.choices(list(weights), list(weights.values()))[0]

    def kill(self, part: Part) -> None:
        """Kill or freeze a part, wait until all goes on, and let a while pass."""
        {
            Part.DAEMON: self._kill_daemon,
            Part.WORKER: self._kill_worker,
            Part.SCHEDULER: self._kill_scheduler,
            Part.POSTGRESQL: self._restart_server,
        }[part]()
        self.counted.killed[part] += 1
        time.sleep(self._dice.uniform(*self._pause_seconds))
        daemons = self._cluster.daemons
        self.counted.failed += [_ended(one) for one in daemons if not one.running]
        for one in daemons:
            if not one.running:
                one.start()
        self._restart_workers()

    def _kill_daemon(self) -> None:
        counted, cluster, dice = self.counted, self._cluster, self._dice
        victim = dice.choice([one for one in cluster.daemons if one.running])
        number = counted.killed[Part.DAEMON] + 1
        frozen = number % _FREEZE_EVERY == 0
        held = {one.id for one in cluster.rows() if is_of(one, victim)}
        began = time.monotonic()
        if frozen:
            victim.send(signal.SIGSTOP)
        else:
            victim.kill()
        counted.frozen[Part.DAEMON] += frozen
        if number % _RESTART_EVERY == 0:
            self._stop_server()
        elif not frozen and dice.random() < _AT_ONCE_SHARE:
            victim.start()
        if wait_until(lambda: _is_taken_over(cluster, held), _PATIENCE_SECONDS, every=0.2):
            counted.takeovers.append(time.monotonic() - began)
        else:
            counted.failed.append(f"nobody took over: {cluster.rows()}")
        if frozen:
            victim.send(signal.SIGCONT)
        elif not victim.running:
            victim.start()

    def _kill_worker(self) -> None:
        dask, dice = self._cluster.dask, self._dice
        assert dask is not None
        victim = dice.randrange(len(dask.workers))
        frozen = dice.random() < _FROZEN_SHARE
        self.counted.frozen[Part.WORKER] += frozen
        if frozen:
            dask.send_worker(victim, signal.SIGSTOP)
            time.sleep(dice.uniform(*_FROZEN_SECONDS))
        else:
            dask.kill_worker(victim)
        began = time.time()
        if frozen:
            dask.send_worker(victim, signal.SIGCONT)
        else:
            dask.start_ended_workers()
        self._recover(Part.WORKER, began)

    def _kill_scheduler(self) -> None:
        dask = self._cluster.dask
        assert dask is not None
        dask.kill_scheduler()
        began = time.time()
        dask.start_scheduler()
        self._recover(Part.SCHEDULER, began)

    def _restart_server(self) -> None:
        self._stop_server()
        self._recover(Part.POSTGRESQL, time.time())

    def _stop_server(self) -> None:
        crash = self._dice.random() < _CRASH_SHARE
        self.counted.server_restarts += 1
        self.counted.server_crashes += crash
        away = self._dice.uniform(0, _LONGEST_AWAY_SECONDS)
        self._cluster.restart_server(away, mode="immediate" if crash else "fast")

    def _recover(self, part: Part, began: float) -> None:
        """Wait until all daemons make visits again; *began*: when the part was started again."""

        def is_well() -> bool:
            self._restart_workers()
            return self._cluster.are_all_asking(began)

        if wait_until(is_well, _PATIENCE_SECONDS, every=0.2):
            self.counted.recoveries.append(time.time() - began)
        else:
            seen = self._cluster.askers(began)
            self.counted.failed.append(f"no visits after {part}: {seen}, {self._cluster.rows()}")

    def _restart_workers(self) -> None:
        if self._cluster.dask is not None:
            self.counted.restarted_workers += self._cluster.dask.start_ended_workers()


def _is_taken_over(cluster: Cluster, held: set[int]) -> bool:
    """Whether the daemons *held* are gone, and each site is a living daemon's."""
    living = {one.id for one in cluster.rows() if one.lives}
    holders = set(cluster.store.daemons.holders().values())
    return not held & living and holders <= living


def _ended(daemon: DaemonProcess) -> str:
    """Say how a daemon ended on its own."""
    return f"exit {daemon.exit_code}: {daemon.errors()[-400:]}"
