"""Reader processes, as the daemon sees them: asked in a frame, and killed when they break a bound.

A length of four bytes, then MessagePack passes between them, and both sides decode into typed values. Nothing
that arrives is ever run: a reader may have been taken over by
the page that it read.
"""

import logging
import signal
import sys
from dataclasses import dataclass
from typing import BinaryIO

import msgspec

from incremental.base.children import (
    LENGTH,
    MAX_MESSAGE_BYTES,
    ChildProcess,
    Excess,
    ProcessPool,
    frame,
    resident_bytes,
)
from incremental.fetch.status import FetchStatus
from incremental.sandbox import Body, Reading, Unread


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reader sends back: a reading, or why there is none."""

    reading: Reading | None = None
    other: bytes = b""
    """What a program for other files than pages found."""
    no_memory: bool = False
    bug: str = ""
    """The trace of an error of ours."""


to_body = msgspec.msgpack.Decoder(Body).decode
"""Returns the body in a frame's content."""
to_answer = msgspec.msgpack.Decoder(Answer).decode
"""Decodes an answer; raises msgspec.DecodeError for anything else."""


def next_content(stream: BinaryIO) -> bytes | None:
    """Return the content of the next frame; None at the end of *stream*, even within a frame."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    content = stream.read(length)
    return content if len(content) == length else None


PROGRAM = "incremental.sandbox.worker"
_START_SECONDS = 60.0
_MEGABYTE = 1_000_000
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class ReaderLimits:
    """Bounds of reading one body."""

    seconds: float = 20.0
    megabytes: int = 512
    """Resident memory above that of a process just started."""


class ReaderProcess(ChildProcess):
    """A running reader."""

    def __init__(self, limits: ReaderLimits, program: str = PROGRAM) -> None:
        """Start the module *program*; it is ready about a second later.

        Raises:
            OSError: the system does not allow another process.
        """
        self._limits = limits
        self.pages = 0
        """Bodies read so far."""
        self._ready = False
        self._started_with = 0
        bounds = (str(limits.megabytes), str(limits.seconds))
        super().__init__(program, bounds, memory=resident_bytes, environment=_ONE_THREAD)

    @property
    def growth(self) -> int:
        """Resident bytes above those at its start; 0 where the system does not say."""
        return max(resident_bytes(self.pid) - self._started_with, 0)

    def ask(self, request: bytes) -> Answer | Unread:
        """Send a frame and wait for the answer. After Unread the process is dead."""
        if not self._ready:
            started = self._exchange(b"", _START_SECONDS, sys.maxsize)
            if isinstance(started, Unread):
                return Unread(FetchStatus.PARSE_FAILED, f"no reader could start: {started.detail}")
            self._ready, self._started_with = True, resident_bytes(self.pid)
        self.pages += 1
        most = self._started_with + self._limits.megabytes * _MEGABYTE
        return self._exchange(request, self._limits.seconds, most)

    def _exchange(self, request: bytes, seconds: float, most: int) -> Answer | Unread:
        """Send *request* and wait for what comes, within *seconds* and *most* resident bytes."""
        code = 0
        with self.bounded(seconds, most):
            self.send(request)
            content = self.receive()
            if content is None and self.excess is not Excess.SIZE:
                code = self.wait()
        if content is None:
            self.close()
            return self._why(code, seconds)
        try:
            answer = to_answer(content)
        except msgspec.DecodeError as error:
            self.close()
            return _failed(f"its reader answered nonsense: {error}")
        if self.has_sent:
            self.close()
            return _failed("its reader answered nonsense: more than one answer")
        return answer

    def _why(self, code: int, seconds: float) -> Unread:
        """Return why it ended; *code* is that of its exit, or its signal."""
        if self.excess is Excess.TIME or code == -signal.SIGXCPU:
            detail = f"reading it took more than {seconds:g} s"
            return Unread(FetchStatus.PARSE_TIMED_OUT, detail)
        if self.excess is Excess.MEMORY:
            return _failed(f"reading it took more than {self._limits.megabytes} MB of memory")
        if self.excess is Excess.SIZE:
            megabytes = MAX_MESSAGE_BYTES // _MEGABYTE
            return _failed(f"it holds more than {megabytes} MB of links and text")
        if code >= 0:
            return _failed(f"its reader ended with code {code}")
        return _failed(f"its reader was ended by {signal.Signals(-code).name}")


def _failed(detail: str) -> Unread:
    return Unread(FetchStatus.PARSE_FAILED, detail)


logger = logging.getLogger("hubwatch.reading")

# Caches of libraries grow with every page.
PAGES_EACH = 2_000


class ReaderBugError(Exception):
    """Reading raised an error, which is a bug of ours; the message is its trace."""


class ReaderPool(ProcessPool[ReaderProcess]):
    """Reads bodies in processes of their own. Thread-safe."""

    def __init__(
        self,
        workers: int,
        limits: ReaderLimits,
        *,
        pages_each: int = PAGES_EACH,
        program: str = PROGRAM,
    ) -> None:
        """Start *workers* processes of the module *program*; they are ready about a second later."""
        self._limits = limits
        grown = limits.megabytes * 1_000_000 // 2
        super().__init__(
            workers,
            lambda: ReaderProcess(limits, program),
            lambda one: one.pages >= pages_each or one.growth > grown,
        )

    def read(self, body: Body) -> Reading | Unread:
        """Read *body*; waits for a free process, and then for at most the deadline.

        Raises:
            ReaderBugError: reading it raised an error.
        """
        request = frame(body)
        try:
            with self.lent() as process:
                answer = None if process is None else process.ask(request)
        except OSError as error:
            answer = Unread(FetchStatus.PARSE_FAILED, f"no reader could start: {error}")
        if answer is None or self.closed:
            return Unread(FetchStatus.PARSE_FAILED, "Hubwatch is stopping")
        if isinstance(answer, Unread):
            logger.warning("%s was not read: %s", body.url, answer.detail)
            return answer
        if answer.bug:
            raise ReaderBugError(f"reading {body.url} failed:\n{answer.bug}")
        if answer.reading is None:
            most = f"{self._limits.megabytes} MB of memory"
            return Unread(FetchStatus.PARSE_FAILED, f"reading it took more than {most}")
        return answer.reading
