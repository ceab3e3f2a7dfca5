"""Processes that Hubwatch starts: what they know of it, what they may take, and how they end.

::

    daemon ── message ──► program        a length of four bytes, then the content
           ◄── messages ──
    watch: time and memory               beyond a bound it is killed, with all that it has started

    pool: lent -> asked -> given back    one that ended or is worn is followed by another, which is lent last
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from queue import Empty, LifoQueue
from threading import Event, Lock, Thread, Timer
from typing import Generic, Self, TypeVar

import msgspec

from incremental.base.clock import SystemClock

LENGTH = struct.Struct(">I")
# Twenty thousand links of three kilobytes each; most pages need a hundredth.
MAX_MESSAGE_BYTES = 64_000_000
# They need none of the daemon's secrets (HUBWATCH_WEB_PASSWORD, PGPASSWORD, keys of services).
_KEPT = ("PATH", "HOME", "LANG", "TZ", "TMPDIR", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
_KEPT_PREFIXES = ("LC_", "PYTHON")
_ROOT = Path(__file__).parents[2]
# How often time and memory are looked at while it works.
_TICK_SECONDS = 0.05
_CHUNK_BYTES = 1_048_576
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_ROUNDS = 5
_monotonic = SystemClock().monotonic
# For the thread that had a killed process at work.
_CLOSE_SECONDS = 5.0


def frame(value: object) -> bytes:
    """Return a value as a message in MessagePack, with its length in front."""
    content = msgspec.msgpack.encode(value)
    return LENGTH.pack(len(content)) + content


class Excess(Enum):
    """Which bound a process broke."""

    TIME = "time"
    MEMORY = "memory"
    SIZE = "size"
    """Of a message."""


class ChildProcess:
    """A Python program that is asked in messages. Not thread-safe, but for :meth:`kill`."""

    def __init__(
        self,
        program: str,
        arguments: Sequence[str],
        *,
        memory: Callable[[int], int],
        environment: Mapping[str, str],
        kept: Sequence[str] = (),
    ) -> None:
        """Start the module *program*, with *environment* and the variables *kept* of our own.

        *memory* measures what the process with an id takes, in bytes.

        Raises:
            OSError: the system does not allow another process.
        """
        self.excess: Excess | None = None
        self._memory = memory
        self._got = bytearray()
        self._ends_at, self._most_bytes = 0.0, 0
        self._asking = False
        self._working, self._ended = Event(), Event()
        path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-P", "-m", program, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env={**plain_environment(*kept), **environment, "PYTHONPATH": path},
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        for pipe in (self._in, self._out):
            # Linux alone; most messages then pass at once.
            with suppress(OSError, AttributeError):
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _CHUNK_BYTES)
        Thread(target=self._watch, name="child watch", daemon=True).start()

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can be asked: it runs, and owes no answer that nobody waited for."""
        return not self._asking and self._process.poll() is None

    @property
    def has_sent(self) -> bool:
        """Whether something came that was not received yet; does not wait."""
        return bool(self._got) or bool(select.select([self._out], [], [], 0)[0])

    @contextmanager
    def bounded(self, seconds: float, most_bytes: int) -> Iterator[None]:
        """Kill it when what is asked within takes more than *seconds* or *most_bytes*."""
        self._ends_at, self._most_bytes = _monotonic() + seconds, most_bytes
        self._asking = True
        self._working.set()
        try:
            yield
        finally:
            self._working.clear()
        self._asking = False

    def send(self, message: bytes) -> None:
        """Send a message, length included. Of a process that has ended :meth:`receive` says so."""
        left = memoryview(message)
        with suppress(BrokenPipeError):
            while left:
                left = left[os.write(self._in, left[:_CHUNK_BYTES]) :]

    def receive(self) -> bytes | None:
        """Wait for the content of the next message; None = it ended, or was to send too much."""
        while (whole := self._announced()) is None or len(self._got) < whole:
            if whole is not None and whole > MAX_MESSAGE_BYTES:
                self.excess = Excess.SIZE
                return None
            piece = os.read(self._out, _CHUNK_BYTES)
            if not piece:
                return None
            self._got += piece
        content = bytes(memoryview(self._got)[LENGTH.size : whole])
        del self._got[:whole]
        return content

    def wait(self) -> int:
        """Wait until it ends; return its code, below 0 for a signal."""
        return self._process.wait()

    def kill(self) -> None:
        """End it and all that it has started, at once; from any thread, any number of times."""
        if self._process.poll() is None:
            kill_family(self._process.pid)

    def close(self) -> None:
        """Kill it, reap it and close its pipes."""
        self._ended.set()
        self._working.set()
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _announced(self) -> int | None:
        """Return the bytes of the message that is coming; None = too few to say."""
        got = self._got
        return LENGTH.unpack_from(got)[0] + LENGTH.size if len(got) >= LENGTH.size else None

    def _watch(self) -> None:
        while not self._ended.is_set():
            self._working.wait()
            if self._ended.wait(_TICK_SECONDS):
                return
            if not self._working.is_set():
                continue
            if _monotonic() > self._ends_at:
                self.excess = Excess.TIME
            elif self._memory(self.pid) > self._most_bytes:
                self.excess = Excess.MEMORY
            if self.excess is not None:
                self.kill()
                return


P = TypeVar("P", bound=ChildProcess)


class ProcessPool(Generic[P]):
    """A few processes for many threads. Thread-safe."""

    def __init__(
        self,
        places: int,
        start: Callable[[], P],
        is_worn: Callable[[P], bool],
        *,
        idle_seconds: float | None = None,
    ) -> None:
        """Lend *places* processes, each to one thread at a time; one that *is_worn* is replaced.

        They are started before they are needed; with *idle_seconds* when they are, and end after so long
        without work.
        """
        self._start, self._is_worn, self._idle_seconds = start, is_worn, idle_seconds
        self._lock = Lock()
        self.closed = False
        self._free = _Free[P]()
        self._places: list[_Place[P]] = [_Place() for _ in range(places)]
        for place in self._places:
            self._give_back(place)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pids(self) -> list[int]:
        """Process ids."""
        with self._lock:
            return [place.process.pid for place in self._places if place.process is not None]

    @contextmanager
    def lent(self, seconds: float | None = None) -> Iterator[P | None]:
        """Lend a process that can be asked; None = the pool is closed.

        Raises:
            queue.Empty: all were at work for so many *seconds*; None = wait as long as it takes.
            OSError: the system does not allow another process.
        """
        place = self._free.get(timeout=seconds)
        try:
            with self._lock:
                place.stop_timer()
                if not self.closed and (place.process is None or not place.process.alive):
                    place.close()
                    place.process = self._start()
            yield None if self.closed else place.process
        finally:
            self._give_back(place)

    def close(self) -> None:
        """Kill all processes, busy ones as well; who waits for one gets none."""
        with self._lock:
            self.closed = True
            for place in self._places:
                place.stop_timer()
                if place.process is not None:
                    place.process.kill()
        for _ in self._places:
            with suppress(Empty):
                self._free.get(timeout=_CLOSE_SECONDS)
        for place in self._places:
            place.close()
            self._free.put(place)

    def _give_back(self, place: _Place[P]) -> None:
        with self._lock:
            if not self.closed:
                self._prepare(place)
        self._free.put(place)

    def _prepare(self, place: _Place[P]) -> None:
        process = place.process
        place.warm = process is not None and process.alive and not self._is_worn(process)
        if not place.warm:
            place.close()
        if self._idle_seconds is not None:
            place.timer = Timer(self._idle_seconds, self._end_idle, [place])
            place.timer.daemon = True
            place.timer.start()
        elif place.process is None:
            with suppress(OSError):  # tried again, and said, when it is lent
                place.process = self._start()

    def _end_idle(self, place: _Place[P]) -> None:
        with self._lock:
            if place.timer is not None:  # else it was lent again meanwhile
                place.close()


class _Place(Generic[P]):
    """Where a process runs, or none."""

    def __init__(self) -> None:
        self.process: P | None = None
        self.timer: Timer | None = None
        self.warm = False
        """Whether it has worked already; else it may take a second to be ready."""

    def stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def close(self) -> None:
        if self.process is not None:
            self.process.close()
            self.process = None


class _Free(LifoQueue[_Place[P]]):
    """Places to lend: the one that worked last first, those whose process is new after all others."""

    def _put(self, item: _Place[P]) -> None:
        self.queue.insert(len(self.queue) if item.warm else 0, item)


def plain_environment(*further: str) -> dict[str, str]:
    """Return this process's environment without secrets; *further* names are kept as well."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _KEPT or name in further or name.startswith(_KEPT_PREFIXES)
    }


def resident_bytes(pid: int) -> int:
    """Return the memory of a process; 0 where the system does not say."""
    return _memory_of(pid)[0]


def family_bytes(pid: int) -> int:
    """Return the memory that a process and all that it has started share with no other."""
    return sum(resident - shared for resident, shared in map(_memory_of, family(pid)))


def _memory_of(pid: int) -> tuple[int, int]:
    """Return the resident bytes of a process, and those of them that it shares."""
    try:
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text("ascii").split()
    except (OSError, ValueError):
        return 0, 0
    return int(resident) * _PAGE_BYTES, int(shared) * _PAGE_BYTES


def family(pid: int) -> list[int]:
    """Return *pid* and the processes that it and they have started; *pid* alone without /proc."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            # The name in parentheses may hold anything.
            fields = path.read_text("utf-8", "replace").rpartition(")")[2].split()
            if fields[0] != "Z":
                children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found = [pid]
    for one in found:
        found += children.get(one, ())
    return found


def kill_family(pid: int) -> None:
    """Kill *pid* and all that it has started; what they start meanwhile as well."""
    # Read before the first ends: orphans belong to nobody.
    for _ in range(_ROUNDS):
        members = family(pid)
        for one in members:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(one, signal.SIGSTOP)
        if family(pid) == members:
            break
    for one in reversed(members):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(one, signal.SIGKILL)
