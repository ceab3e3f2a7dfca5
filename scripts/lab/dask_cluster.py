"""A Dask cluster of processes on loopback: its scheduler and workers can be killed, frozen, started again."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from lab.daemon_process import ROOT, free_port

WAIT_SECONDS = 60
# Dask's profiler looks at each worker a hundred times a second, which would count as work of visits.
_CONFIGURATION = {"DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "false"}
_OTHER_VERSION = """
import incremental.visit.engines.worker as worker
worker.version = lambda _: "0.0.1"
"""


class DaskCluster:
    """``dask scheduler`` and ``dask worker`` processes; all end with the context.

    *variables*: of the environment, for Dask's configuration.
    """

    def __init__(self, folder: Path, *, variables: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._variables = dict(variables or {})
        self._port = free_port()
        self.address = f"tcp://127.0.0.1:{self._port}"
        self._scheduler: subprocess.Popen[bytes] | None = None
        self._options: list[list[str]] = []
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

    def start_worker(
        self, *, threads: int = 1, other_version: bool = False, nanny: bool = False
    ) -> None:
        """Start a worker; it is there a few seconds later. *nanny*: Dask's own supervisor, its default."""
        more = []
        if other_version:
            preload = self._folder / "other_version.py"
            preload.write_text(_OTHER_VERSION)
            more = ["--preload", str(preload)]
        options = ["--nthreads", str(threads), "--host", "127.0.0.1", *more]
        options += ["--nanny" if nanny else "--no-nanny"]
        options += ["--no-dashboard", "--local-directory", str(self._folder)]
        self._options.append(options)
        self.workers.append(self._start("worker", self.address, *options))

    def kill_worker(self, number: int) -> None:
        """End a worker at once, without a word to the scheduler."""
        _kill(self.workers[number])

    def send_worker(self, number: int, what: signal.Signals) -> None:
        """Send a worker, and the processes that it started, a signal."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.workers[number].pid, what)

    def start_ended_workers(self) -> int:
        """Start the workers that have ended, as whoever supervises them does; return how many."""
        ended = [number for number, one in enumerate(self.workers) if one.poll() is not None]
        for number in ended:
            _kill(self.workers[number])  # what it had started
            self.workers[number] = self._start("worker", self.address, *self._options[number])
        return len(ended)

    def wait_for(self, workers: int) -> None:
        """Wait until the scheduler knows so many workers."""
        import distributed  # noqa: PLC0415 - an extra

        with distributed.Client(self.address, timeout=WAIT_SECONDS, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            if workers:
                client.wait_for_workers(workers, timeout=WAIT_SECONDS)

    def _start(self, *command: str) -> subprocess.Popen[bytes]:
        paths = os.pathsep.join(map(str, (ROOT, ROOT / "scripts")))
        environment = {**os.environ, **_CONFIGURATION, "PYTHONPATH": paths, **self._variables}
        program = [sys.executable, "-m", "distributed.cli.dask_" + command[0], *command[1:]]
        with (self._folder / f"{command[0]}-{len(self.workers)}.log").open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - Dask's own commands
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
