"""The program of a reader: bodies come in, readings go out, until the input ends.

It bounds itself as well, in case the daemon is killed while it is busy: processor time for each body, and
address space. Started by :mod:`incremental.sandbox.process`.
"""

import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from incremental.base.children import frame
from incremental.sandbox import Body, read_body
from incremental.sandbox.process import Answer, next_content, to_body

_MEGABYTE = 1_000_000
# Above the bound that the daemon watches: this one ends in errors that readers swallow.
_ADDRESS_SPACE = 2
# Rather this process than the daemon, when the machine runs out of memory.
_OOM_SCORE = b"500"
_SAMPLE = (
    b"<html lang=en><title>A bridge</title><body><article><h1>A bridge</h1>"
    b"<p>The town has opened the bridge over the river, after three years of work.</p>"
    b"<p>On the first day it was crossed by more than two thousand people on foot.</p>"
    b"<time datetime=2024-05-01>1 May 2024</time><a href=/next>next</a></article></body></html>"
)
_FEED = b"<rss><channel><item><title>A</title><link>/a</link></item></channel></rss>"


def main() -> None:
    """Read bodies until the input ends."""
    serve(lambda content: Answer(read_body(to_body(content))), _warm_up)


def serve(read: Callable[[bytes], Answer], warm_up: Callable[[], None] = lambda: None) -> None:
    """Answer frames by *read* until the input ends. Arguments: megabytes above the start, seconds for one."""
    megabytes, seconds = int(sys.argv[1]), float(sys.argv[2])
    # A signal for the whole group ends the daemon, which then ends its readers.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    # A library that prints must not speak in our place.
    bodies, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    warm_up()
    _bound_memory(megabytes)
    with suppress(BrokenPipeError):
        answers.write(frame(Answer()))
        answers.flush()
        while (content := next_content(bodies)) is not None:
            usage = resource.getrusage(resource.RUSAGE_SELF)
            _lower(resource.RLIMIT_CPU, int(usage.ru_utime + usage.ru_stime + seconds) + 2)
            answers.write(_answer(read, content))
            answers.flush()


def _warm_up() -> None:
    """Load every library before the first body, and before memory is counted."""
    read_body(
        Body(
            "https://example.org/",
            _SAMPLE,
            want_text=True,
            keep_text=True,
            for_topics=True,
            describe=True,
        )
    )
    read_body(Body("https://example.org/feed", _FEED))


def _answer(read: Callable[[bytes], Answer], content: bytes) -> bytes:
    try:
        return frame(read(content))
    except MemoryError:
        return frame(Answer(no_memory=True))
    except Exception:  # noqa: BLE001 - a bug; the daemon logs it with its trace, as in its own thread
        return frame(Answer(bug=traceback.format_exc()))


def _bound_memory(megabytes: int) -> None:
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_bytes(_OOM_SCORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except OSError:
        return  # no Linux: only the time is bounded
    used = pages * resource.getpagesize()
    _lower(resource.RLIMIT_AS, used + _ADDRESS_SPACE * megabytes * _MEGABYTE)


def _lower(limit: int, soft: int) -> None:
    _, hard = resource.getrlimit(limit)
    resource.setrlimit(limit, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


if __name__ == "__main__":
    main()
