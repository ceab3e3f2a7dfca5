"""A Dask cluster of processes on loopback, whose scheduler and workers can be killed and started again."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Self

import distributed

ROOT = Path(__file__).parents[1]
WAIT_SECONDS = 60
_OTHER_VERSION = """
import incremental.engines.worker as worker
worker.PROTOCOL = 99
"""


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as there:
        there.bind(("127.0.0.1", 0))
        port: int = there.getsockname()[1]
        return port


class Cluster:
    """``dask scheduler`` and ``dask worker`` processes; all end with the context."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self.address = f"tcp://127.0.0.1:{self._port}"
        self._scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        self.start_scheduler()
        return self

    def __exit__(self, *_: object) -> None:
        for process in [*self.workers, self._scheduler]:
            if process is not None:
                _kill(process)

    def start_scheduler(self) -> None:
        """Start the scheduler at its address, and wait until it answers."""
        listen = ["--host", "127.0.0.1", "--port", str(self._port)]
        self._scheduler = self._start("scheduler", *listen, "--dashboard-address", "127.0.0.1:0")
        self.wait_for(0)

    def kill_scheduler(self) -> None:
        """End the scheduler at once."""
        assert self._scheduler is not None
        _kill(self._scheduler)

    def start_worker(self, *, threads: int = 1, other_version: bool = False) -> None:
        """Start a worker; it is there a few seconds later."""
        more = []
        if other_version:
            preload = self._folder / "other_version.py"
            preload.write_text(_OTHER_VERSION)
            more = ["--preload", str(preload)]
        options = ["--nthreads", str(threads), "--no-nanny", "--host", "127.0.0.1", *more]
        options += ["--no-dashboard", "--local-directory", str(self._folder)]
        self.workers.append(self._start("worker", self.address, *options))

    def kill_worker(self, number: int) -> None:
        """End a worker at once, without a word to the scheduler."""
        _kill(self.workers[number])

    def wait_for(self, workers: int) -> None:
        """Wait until the scheduler knows so many workers."""
        with distributed.Client(self.address, timeout=WAIT_SECONDS, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            if workers:
                client.wait_for_workers(workers, timeout=WAIT_SECONDS)

    def _start(self, *command: str) -> subprocess.Popen[bytes]:
        paths = os.pathsep.join(map(str, (ROOT, ROOT / "scripts")))
        environment = {**os.environ, "PYTHONPATH": paths}
        program = [sys.executable, "-m", "distributed.cli.dask_" + command[0], *command[1:]]
        with (self._folder / f"{command[0]}-{len(self.workers)}.log").open("ab") as log:
            return subprocess.Popen(
                program,
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
            )


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
