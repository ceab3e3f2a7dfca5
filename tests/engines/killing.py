"""Ending, as the kernel does when memory runs out, the process that asks a site for something."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import psutil  # type: ignore[import-untyped] # ships no types


def kill_asker(port: int) -> None:
    """Kill the process whose connection to us comes from *port* of loopback."""
    for one in psutil.net_connections(kind="tcp"):
        if one.laddr and one.laddr.port == port and one.pid not in (None, os.getpid()):
            os.kill(one.pid, signal.SIGKILL)
            psutil.wait_procs([psutil.Process(one.pid)] if psutil.pid_exists(one.pid) else [], 10)
            return


class Killer:
    """Kills whoever asks, at most *times*; *after* each, something more is done."""

    def __init__(self, times: int, after: Callable[[], object] = lambda: None) -> None:
        self.kills = 0
        self._times = times
        self._after = after

    def __call__(self, port: int) -> None:
        if self.kills < self._times:
            self.kills += 1
            kill_asker(port)
            self._after()
