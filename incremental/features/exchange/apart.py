"""Reading a list that a stranger may have made: in a process of its own, under the bounds of pages.

This module is also that process's program.
"""

from contextlib import closing
from threading import Lock

import msgspec

from incremental.base.children import frame
from incremental.base.errors import InputError
from incremental.features.exchange.lists import MAX_FILE_BYTES, ReadList, read_list
from incremental.sandbox.process import Answer, ReaderBugError, ReaderLimits, ReaderProcess
from incremental.sandbox.worker import serve
from incremental.settings.sections import DaemonSettings

# Each takes a process, and its memory.
_one_at_a_time = Lock()
# Whoever waits holds one of the web server's threads.
_WAIT_SECONDS = 2.0
_to_result = msgspec.msgpack.Decoder(ReadList | tuple[str, str]).decode
"""Decodes a list, or the value and the reason for which it was refused."""


def read_list_apart(content: bytes, daemon: DaemonSettings, *, name: str = "file") -> ReadList:
    """Do what :func:`.lists.read_list` does, within the *daemon*'s bounds for a page.

    Raises:
        InputError: as there; or the file is too large, or takes too long or too much memory.
    """
    if len(content) > MAX_FILE_BYTES:
        raise InputError(name, f"{len(content)} bytes", f"at most {MAX_FILE_BYTES} bytes are read")
    limits = ReaderLimits(daemon.parse_seconds, daemon.parse_memory_mb)
    if not _one_at_a_time.acquire(timeout=_WAIT_SECONDS):
        raise InputError(name, "", "another list is being read; try again in a moment")
    try:
        with closing(ReaderProcess(limits, __name__)) as process:
            answer = process.ask(frame(content))
    except OSError as error:
        raise InputError(name, "", f"no process could read it: {error}") from None
    finally:
        _one_at_a_time.release()
    if not isinstance(answer, Answer):
        raise InputError(name, "", answer.detail)
    if answer.bug:
        raise ReaderBugError(f"reading {name} failed:\n{answer.bug}")
    if answer.no_memory:
        raise InputError(name, "", f"reading it took more than {limits.megabytes} MB of memory")
    result = _to_result(answer.other)
    if isinstance(result, ReadList):
        return result
    raise InputError(name, *result)


def _read(given: bytes) -> Answer:
    try:
        result: object = read_list(msgspec.msgpack.decode(given, type=bytes))
    except InputError as error:
        result = str(error.value), error.way_out
    return Answer(other=msgspec.msgpack.encode(result))


if __name__ == "__main__":
    serve(_read)
