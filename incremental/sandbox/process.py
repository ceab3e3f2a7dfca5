"""One reader process, as the daemon sees it: asked in a frame, and killed when it breaks a bound."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from incremental.base.children import plain_environment
from incremental.base.clock import SystemClock
from incremental.fetch.status import FetchStatus
from incremental.sandbox.body import Unread
from incremental.sandbox.frames import LENGTH, MAX_ANSWER_BYTES, Answer, to_answer

PROGRAM = "incremental.sandbox.worker"
_ROOT = Path(__file__).parents[2]
# How often time and memory are looked at while a body is read.
_TICK_MS = 50
_CHUNK_BYTES = 1_048_576
_START_SECONDS = 60.0
_MEGABYTE = 1_000_000
_monotonic = SystemClock().monotonic


@dataclass(frozen=True, slots=True)
class ReaderLimits:
    """Bounds of reading one body."""

    seconds: float = 20.0
    megabytes: int = 512
    """Resident memory above that of a process just started."""


class ReaderProcess:
    """A running reader. Not thread-safe, but for :meth:`kill`."""

    def __init__(self, limits: ReaderLimits, program: str = PROGRAM) -> None:
        """Start the module *program*; it is ready about a second later.

        Raises:
            OSError: the system does not allow another process.
        """
        self._limits = limits
        self.pages = 0
        """Bodies read so far."""
        self._ready = False
        self._asking = False
        self._started_with = 0
        path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
        threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
        command = [sys.executable, "-P", "-m", program]
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [*command, str(limits.megabytes), str(limits.seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env={**plain_environment(), **threads, "PYTHONPATH": path},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        for pipe in (self._in, self._out):
            # Linux alone; most bodies then pass at once.
            with suppress(OSError, AttributeError):
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _CHUNK_BYTES)

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can be asked: it runs, and owes no answer that nobody waited for."""
        return not self._asking and self._process.poll() is None

    @property
    def growth(self) -> int:
        """Resident bytes above those at its start; 0 where the system does not say."""
        return max(self._resident() - self._started_with, 0)

    def is_ready(self) -> bool:
        """Return whether it has loaded its libraries; does not wait."""
        return self._ready or bool(select.select([self._out], [], [], 0)[0])

    def ask(self, request: bytes) -> Answer | Unread:
        """Send a frame and wait for the answer. After Unread the process is dead."""
        if not self._ready:
            started = self._exchange(b"", _START_SECONDS, sys.maxsize)
            if isinstance(started, Unread):
                return Unread(FetchStatus.PARSE_FAILED, f"no reader could start: {started.detail}")
            self._ready, self._started_with = True, self._resident()
        self.pages += 1
        most = self._started_with + self._limits.megabytes * _MEGABYTE
        return self._exchange(request, self._limits.seconds, most)

    def kill(self) -> None:
        """End it at once, whatever it does; from any thread, any number of times."""
        self._process.kill()

    def close(self) -> None:
        """Kill it, reap it and close its pipes."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _exchange(self, request: bytes, seconds: float, most: int) -> Answer | Unread:
        """Send *request* while receiving, within *seconds* and *most* resident bytes."""
        deadline = _monotonic() + seconds
        self._asking = True
        left, got = memoryview(request), bytearray()
        poll = select.poll()
        poll.register(self._out, select.POLLIN)
        if left:
            poll.register(self._in, select.POLLOUT)
        while (whole := _length(got)) is None or len(got) < whole:
            if whole is not None and whole > MAX_ANSWER_BYTES:
                self.close()
                megabytes = MAX_ANSWER_BYTES // _MEGABYTE
                return _failed(f"it holds more than {megabytes} MB of links and text")
            events = dict(poll.poll(_TICK_MS))
            excess = self._excess(deadline, seconds, most)
            if excess is not None:
                self.close()
                return excess
            if self._in in events:
                left = self._send(left)
                if not left:
                    poll.unregister(self._in)
            if self._out in events:
                piece = os.read(self._out, _CHUNK_BYTES)
                if not piece:
                    return self._ended(seconds)
                got += piece
        self._asking = False
        return self._understood(got)

    def _understood(self, got: bytearray) -> Answer | Unread:
        try:
            # With more behind it, it is no answer.
            return to_answer(memoryview(got)[LENGTH.size :])
        except msgspec.DecodeError as error:
            self.close()
            return _failed(f"its reader answered nonsense: {error}")

    def _send(self, left: memoryview) -> memoryview:
        try:
            return left[os.write(self._in, left[:_CHUNK_BYTES]) :]
        except BrokenPipeError:
            return left[:0]  # it has ended, and the other pipe says so
        except BlockingIOError:
            return left

    def _excess(self, deadline: float, seconds: float, most: int) -> Unread | None:
        """Return the exceeded limit, if any."""
        if _monotonic() > deadline:
            return _too_slow(seconds)
        if self._resident() > most:
            return _failed(f"reading it took more than {self._limits.megabytes} MB of memory")
        return None

    def _ended(self, seconds: float) -> Unread:
        """Return why it ended by itself, and clean up."""
        code = self._process.wait()
        self.close()
        if code == -signal.SIGXCPU:
            return _too_slow(seconds)
        if code >= 0:
            return _failed(f"its reader ended with code {code}")
        return _failed(f"its reader was ended by {signal.Signals(-code).name}")

    def _resident(self) -> int:
        try:
            with Path(f"/proc/{self.pid}/statm").open("rb") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            return 0


def _length(got: bytearray) -> int | None:
    """Return the bytes of the frame that *got* begins; None = too few to say."""
    return LENGTH.unpack_from(got)[0] + LENGTH.size if len(got) >= LENGTH.size else None


def _too_slow(seconds: float) -> Unread:
    return Unread(FetchStatus.PARSE_TIMED_OUT, f"reading it took more than {seconds:g} s")


def _failed(detail: str) -> Unread:
    return Unread(FetchStatus.PARSE_FAILED, detail)
