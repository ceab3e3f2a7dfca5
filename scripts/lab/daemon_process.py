"""The daemon as people run it: ``hubwatch run`` in a process of its own, to be killed, stopped and asked."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Self

from lab.clocks import FastClock

ROOT = Path(__file__).resolve().parents[2]
MAIN = "import sys; sys.argv[0] = 'hubwatch'; from incremental.interfaces.cli import main; main()"
_POLL_SECONDS = 0.02


def on_fast_clock(clock: FastClock) -> str:
    """Return the code of a daemon that goes by *clock*."""
    return f"""
from incremental.base import clock
from scripts.lab.clocks import FastClock
fast = FastClock({clock.speed}, {clock.started})
clock.SystemClock.now = lambda self: fast.now()
clock.SystemClock.real = lambda self, moment: fast.real(moment)
{MAIN}
"""


def free_port() -> int:
    """Return a port of loopback that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def wait_until(
    condition: Callable[[], object], within: float, *, every: float = _POLL_SECONDS
) -> bool:
    """Wait until *condition* holds, at most *within* seconds; return whether it does."""
    deadline = time.monotonic() + within
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(every)
    return True


def command(
    folder: Path, *arguments: str, variables: Mapping[str, str] | None = None, code: str = MAIN
) -> subprocess.Popen[bytes]:
    """Start ``hubwatch ARGUMENTS`` in *folder*; its output goes to ``<command>.out`` and ``.err`` there.

    *code*: what the interpreter runs instead of the command line alone, for faults within the process.
    """
    with (
        (folder / f"{arguments[0]}.out").open("ab") as out,
        (folder / f"{arguments[0]}.err").open("ab") as err,
    ):
        return shown_command(folder, *arguments, variables=variables, code=code, out=out, err=err)


def shown_command(
    folder: Path,
    *arguments: str,
    variables: Mapping[str, str] | None = None,
    code: str = MAIN,
    out: IO[bytes] | None = None,
    err: IO[bytes] | None = None,
) -> subprocess.Popen[bytes]:
    """Start ``hubwatch ARGUMENTS`` as :func:`command` does, by default with the output of this process."""
    inherited = {key: text for key, text in os.environ.items() if not key.startswith("HUBWATCH_")}
    return subprocess.Popen(  # noqa: S603 - ourselves
        [sys.executable, "-u", "-c", code, *arguments],
        cwd=folder,
        env=inherited | {"PYTHONPATH": str(ROOT)} | dict(variables or {}),
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
    )


def complete(folder: Path, *arguments: str, within: float = 120) -> int:
    """Run ``hubwatch ARGUMENTS`` to its end and return its exit code; killed when it takes too long."""
    process = command(folder, *arguments)
    try:
        return process.wait(within)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


class DaemonProcess:
    """``hubwatch run`` on the settings in *folder*; a context manager that leaves no process behind.

    *code*: see :func:`command`.
    """

    def __init__(self, folder: Path, *, port: int = 0, code: str = MAIN) -> None:
        self.folder = folder
        self._port = port
        self._code = code
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self, *arguments: str, variables: Mapping[str, str] | None = None) -> None:
        """Start it."""
        self._process = command(
            self.folder, "run", *arguments, variables=variables, code=self._code
        )

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process is not None
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """How it ended; None while it runs."""
        return None if self._process is None else self._process.poll()

    @property
    def running(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.poll() is None

    def kill(self) -> int | None:
        """End it without warning; return the exit code with which it had ended by itself, if it had."""
        if self._process is None:
            return None
        ended = self._process.poll()
        self._process.kill()
        self._process.wait()
        return ended

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    def stop(self, within: float = 60) -> tuple[int | None, float]:
        """Send TERM; return the exit code, None if it had to be killed, and the seconds that it took."""
        assert self._process is not None
        began = time.monotonic()
        self._process.terminate()
        try:
            code: int | None = self._process.wait(within)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            code = None
        return code, time.monotonic() - began

    def memory_mb(self) -> float:
        """Return the most resident memory of it and of its processes that live, in megabytes."""
        return sum(_peak_mb(pid) for pid in [self.pid, *_children(self.pid)])

    def errors(self) -> str:
        """Return what it has written to stderr since the file was made."""
        path = self.folder / "run.err"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def announced(self) -> list[str]:
        """Return the addresses that it has printed as new, over all its starts."""
        path = self.folder / "run.out"
        text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        return re.findall(r"^new   (\S+)  ", text, re.MULTILINE)

    def health(self, within: float = 5.0) -> tuple[int, str]:
        """Ask ``/healthz``; return the status and the text, 0 when nobody answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=within)
        try:
            connection.request("GET", "/healthz")
            answer = connection.getresponse()
            return answer.status, answer.read(2_000).decode(errors="replace").strip()
        except (OSError, http.client.HTTPException) as error:
            return 0, type(error).__name__
        finally:
            connection.close()


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, path.read_text(encoding="ascii").split()):
            found += [child, *_children(child)]
    return found


def _peak_mb(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return 0.0  # it has ended meanwhile
    found = re.search(r"VmHWM:\s+(\d+) kB", text)
    return int(found[1]) / 1024 if found else 0.0


def toml(value: object) -> str:
    """Return *value* as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    return json.dumps(value) if isinstance(value, str) else str(value)


Sections = Mapping[str, Mapping[str, object]]
"""Settings by section; a section in double brackets is an array's entry, as ``[messages.channel]``."""


def write_settings(folder: Path, sections: Sections) -> Path:
    """Write ``hubwatch.toml`` into *folder*; ``[name]`` as a key gives an entry of an array."""
    lines = []
    for section, values in sections.items():
        lines.append(f"[{section}]")
        lines += [f"{name} = {toml(value)}" for name, value in values.items()]
    path = folder / "hubwatch.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    path.chmod(0o600)
    return path


def quick_settings(
    hook_url: str, **sections: Mapping[str, object]
) -> dict[str, Mapping[str, object]]:
    """Return settings without patience or budget for sites on loopback, with a web hook; *sections* add."""
    settings: dict[str, Mapping[str, object]] = {
        "fetch": {"allowed_networks": ["127.0.0.0/8"]},
        "politeness": {"backoff_seconds": 1.0, "max_backoff_seconds": 2.0},
        "revisit": {"requests_per_day": 1e8, "min_interval_minutes": 0.01},
        "news": {"max_per_day": 1_000_000},
        "hubs": {"retrain_labels": 0},
        "[messages.channel]": {
            "name": "hook",
            "url": hook_url,
            "every_minutes": 0.05,
            "max_per_hour": 1_000,
        },
    }
    for section, values in sections.items():
        settings[section] = {**settings.get(section, {}), **values}
    return settings
