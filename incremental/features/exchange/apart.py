"""Reading a list that a stranger may have made: in a process of its own, under the bounds of pages.

This module is also that process's program.
"""

from threading import Lock

import msgspec

from incremental.base.children import frame
from incremental.base.errors import InputError
from incremental.features.exchange.lists import MAX_FILE_BYTES, ReadList, read_list
from incremental.sandbox import Unread
from incremental.sandbox.process import Answer, ReaderBugError, ReaderLimits, ReaderProcess
from incremental.sandbox.worker import serve
from incremental.settings.sections import DaemonSettings

# Each takes a process, and its memory.
_one_at_a_time = Lock()
# Whoever waits holds one of the web server's threads.
_PATIENCE_SECONDS = 2.0


class _File(msgspec.Struct):
    name: str
    content: bytes


class _Result(msgspec.Struct):
    found: ReadList | None = None
    refused: tuple[str, str, str] | None = None
    """The arguments of an InputError."""


def read_list_apart(content: bytes, daemon: DaemonSettings, *, name: str = "file") -> ReadList:
    """Do what :func:`.lists.read_list` does, within the *daemon*'s bounds for a page.

    Raises:
        InputError: as there; or the file is too large, or takes too long or too much memory.
    """
    if len(content) > MAX_FILE_BYTES:
        raise InputError(name, f"{len(content)} bytes", f"at most {MAX_FILE_BYTES} bytes are read")
    given = frame(_File(name, content))
    limits = ReaderLimits(daemon.parse_seconds, daemon.parse_memory_mb)
    if not _one_at_a_time.acquire(timeout=_PATIENCE_SECONDS):
        raise InputError(name, "", "another list is being read; try again in a moment")
    try:
        answer = _ask(given, limits, name)
    finally:
        _one_at_a_time.release()
    if not isinstance(answer, Answer):
        raise InputError(name, "", answer.detail)
    if answer.bug:
        raise ReaderBugError(f"reading {name} failed:\n{answer.bug}")
    if answer.no_memory:
        raise InputError(name, "", f"reading it took more than {limits.megabytes} MB of memory")
    result = msgspec.msgpack.decode(answer.other, type=_Result)
    if result.refused is not None:
        raise InputError(*result.refused)
    assert result.found is not None, "it was read or refused"
    return result.found


def _ask(given: bytes, limits: ReaderLimits, name: str) -> Answer | Unread:
    try:
        process = ReaderProcess(limits, __name__)
    except OSError as error:
        raise InputError(name, "", f"no process to read it could start: {error}") from None
    try:
        return process.ask(given)
    finally:
        process.close()


def _read(given: bytes) -> Answer:
    file = msgspec.msgpack.decode(given, type=_File)
    try:
        result = _Result(read_list(file.content, name=file.name))
    except InputError as error:
        result = _Result(refused=(error.what, str(error.value), error.way_out))
    return Answer(other=msgspec.msgpack.encode(result))


if __name__ == "__main__":
    serve(_read)
