"""A reader that a test takes over: :mod:`incremental.sandbox.worker`, with bodies that command it.

Stands in for what a page could do that found a hole in a library written in C. Everything else is the real
program.
"""

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

from incremental import sandbox
from incremental.base.children import LENGTH
from incremental.sandbox import worker

real = sandbox.read_body


def grow() -> None:
    held = [bytearray(8_000_000) for _ in range(10_000)]
    del held


def sleep() -> None:
    time.sleep(3_600)


def spin() -> None:
    while True:
        pass


def crash() -> None:
    ctypes.string_at(0)


def leave() -> None:
    os._exit(3)


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def chatter() -> None:
    """Print where the answers go."""
    sys.stdout.write("printed by a library")
    sys.stdout.flush()
    os.write(1, b"written by a library\n")


def lie() -> None:
    """Answer with what is no answer."""
    _say(b"\x93not an answer")


def boast() -> None:
    """Announce an answer that fills the machine."""
    os.write(_answers(), LENGTH.pack(2**32 - 1) + b"x" * 99)
    time.sleep(3_600)


def hang_up() -> None:
    """Close the pipe of the answers, and stay."""
    os.close(_answers())
    time.sleep(3_600)


def no_memory() -> None:
    raise MemoryError


def err() -> None:
    raise ZeroDivisionError


COMMANDS = {
    one.__name__.encode(): one
    for one in (grow, sleep, spin, crash, leave, kill, chatter, lie, boast, hang_up, no_memory, err)
}


def _answers() -> int:
    """The descriptor of the pipe: the highest that is open for writing."""
    return max(
        fd for fd in map(int, (one.name for one in Path("/proc/self/fd").iterdir())) if _is_pipe(fd)
    )


def _is_pipe(fd: int) -> bool:
    try:
        pipe = str(Path(f"/proc/self/fd/{fd}").readlink()).startswith("pipe:")
        return pipe and _writes(fd)
    except OSError:
        return False


def _writes(fd: int) -> bool:
    lines = Path(f"/proc/self/fdinfo/{fd}").read_text().splitlines()
    flags = next(line for line in lines if line.startswith("flags:"))
    return int(flags.split()[1], 8) & os.O_ACCMODE == os.O_WRONLY


def _say(content: bytes) -> None:
    os.write(_answers(), LENGTH.pack(len(content)) + content)


def read_body(wanted: sandbox.Body) -> sandbox.Reading:
    command = COMMANDS.get(wanted.content)
    if command is not None:
        command()
    return real(wanted)


if __name__ == "__main__":
    vars(worker)["read_body"] = read_body
    sys.argv = sys.argv[:3]
    worker.main()
