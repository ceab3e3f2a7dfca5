"""The pulse: a thread that shows the daemon's health to others, also while the loop stands still.

::

    Health ──every 5 s──> <home>/daemon.json     for `hubwatch status` and a separate `serve`
                     └──> systemd                READY, STATUS, and WATCHDOG as long as the loop moves
"""

import contextlib
import fcntl
import os
import socket
import threading
from dataclasses import replace
from pathlib import Path
from typing import IO, Self

import msgspec

from incremental.base.texts import Text, read_text
from incremental.daemon.health import Health, HealthReport
from incremental.visit.engines.visits import EngineReport
from store.database.home import make_file


class ServiceManager:
    """The service manager that started this process, if any.

    Talking to systemd: ready, alive, stopping (sd_notify(3)).

    One datagram to a socket of this machine, named in the environment; nothing leaves the machine.
    """

    def __init__(self) -> None:
        # Taken out of the environment, so that programs started from here do not report in our name.
        self._address = os.environ.pop("NOTIFY_SOCKET", "")
        micros = os.environ.pop("WATCHDOG_USEC", "")
        own = os.environ.pop("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        self.watchdog_seconds = int(micros) / 1e6 if own and micros.isdigit() else None
        """Longest time between two signs of life; None = none is wanted."""

    def tell(self, **state: object) -> None:
        """Send assignments, like ``READY=1``; names are written in capitals."""
        if not self._address:
            return
        # A leading @ stands for the abstract namespace.
        address = self._address.replace("@", "\0", 1) if self._address[0] == "@" else self._address
        text = "\n".join(f"{name.upper()}={value}" for name, value in state.items())
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock,
        ):
            sock.sendto(text.encode(), address)


PULSE_SECONDS = 5.0
REPORT = "daemon.json"
# Overwritten in place, so that a full disk cannot keep it from being written.
_REPORT_BYTES = 32_768
# A report older than this is of a daemon that was killed, or that stands still.
STALE_SECONDS = 60.0


class Pulse:
    """Shows the health until it is closed. A context manager."""

    def __init__(self, health: Health, manager: ServiceManager) -> None:
        self._health = health
        self._manager = manager
        self._stop = threading.Event()
        self._path: Path | None = None
        self._held: IO[bytes] | None = None
        pause = self._manager.watchdog_seconds
        self._pause = PULSE_SECONDS if pause is None else min(PULSE_SECONDS, pause / 3)
        self._thread = threading.Thread(target=self._run, name="pulse", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._manager.tell(stopping=1)
        if self._path is not None:
            with contextlib.suppress(OSError):
                self._path.unlink()
        if self._held is not None:
            self._held.close()

    def show_in(self, home: Path) -> None:
        """Keep the report in the store's folder; of daemons that share it, the first one does."""
        try:
            make_file(home / REPORT)
            self._held = (home / REPORT).open("r+b")
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        except OSError:
            pass  # a full disk may have room later
        self._path = home / REPORT

    def _run(self) -> None:
        while True:
            report = self._health.report()
            if self._path is not None:
                with contextlib.suppress(OSError):
                    make_file(self._path)
                write_report(self._path, report)
            alive = {"watchdog": 1} if self._health.lives() else {}
            self._manager.tell(status=_in_brief(report), **alive)
            if self._stop.wait(self._pause):
                return


def _in_brief(report: HealthReport) -> str:
    problems = "; ".join(problem.detail for problem in report.problems)
    return f"{report.state}: {problems or 'all well'}".replace("\n", " ")[:500]


def write_report(path: Path, report: HealthReport) -> None:
    """Write a report; one that finds no room leaves the old one, which says so by its age."""
    body = msgspec.json.encode(report, enc_hook=Text.stored)
    with contextlib.suppress(OSError), path.open("r+b") as file:
        file.write(body.ljust(_REPORT_BYTES))
        file.truncate()


def read_report(home: Path) -> HealthReport | None:
    """Return what the daemon of this store last reported; None if there is none."""
    try:
        body = (home / REPORT).read_bytes()
        report = msgspec.json.decode(body.strip(), type=HealthReport)
    except (OSError, msgspec.DecodeError):
        return None
    said = tuple(replace(one, detail=read_text(one.detail)) for one in report.problems)
    return replace(report, problems=said, engine=report.engine and _engine(report.engine))


def _engine(engine: EngineReport) -> EngineReport:
    refused = tuple(map(read_text, engine.refused))
    return replace(engine, waits=read_text(engine.waits), refused=refused)
