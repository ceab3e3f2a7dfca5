"""Ending the process that asks a site for something: as the kernel does when memory runs out, or politely."""

import os
import signal
import threading
import time
from collections.abc import Callable

import psutil  # type: ignore[import-untyped] # ships no types
from lab.dask_cluster import WAIT_SECONDS, DaskCluster


def asker(port: int) -> int | None:
    """Return the id of the process whose connection to us comes from *port* of loopback."""
    for one in psutil.net_connections(kind="tcp"):
        if one.laddr and one.laddr.port == port and one.pid not in (None, os.getpid()):
            return int(one.pid)
    return None


def kill_asker(port: int) -> None:
    """Kill the process whose connection to us comes from *port* of loopback."""
    if (pid := asker(port)) is not None:
        os.kill(pid, signal.SIGKILL)
        psutil.wait_procs([psutil.Process(pid)] if psutil.pid_exists(pid) else [], 10)


class Killer:
    """Kills whoever asks, at most *times*; *after* each, something more is done."""

    def __init__(self, times: int, after: Callable[[], object] = lambda: None) -> None:
        self.kills = 0
        self.asked_at: list[float] = []
        """Monotonic time of each request."""
        self._times = times
        self._after = after

    def __call__(self, port: int) -> None:
        self.asked_at.append(time.monotonic())
        if self.kills < self._times:
            self.kills += 1
            kill_asker(port)
            self._after()


class Stopper:
    """Stops the worker that asks, at most *times*, one worker after the other, and starts another one.

    The answer waits until the worker has gone.
    """

    def __init__(self, cluster: DaskCluster, times: int) -> None:
        self.stops = 0
        self._cluster = cluster
        self._times = times
        self._lock = threading.Lock()

    def __call__(self, port: int) -> None:
        with self._lock:
            pid = asker(port)
            if pid is None or self.stops == self._times:
                return
            self.stops += 1
            family = {pid, psutil.Process(pid).ppid()}
            (worker,) = (one for one in self._cluster.workers if one.pid in family)
            worker.terminate()
            self._cluster.start_worker(nanny=True)
            worker.wait(WAIT_SECONDS)
