"""Work in a thread that ends with the process, or at once."""

import contextlib
import os
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future
from threading import Event, Thread, Timer
from typing import ParamSpec, TypeVar

Start = Callable[[Callable[[], None]], object]
"""Starts some work; a test runs it at once."""

P = ParamSpec("P")
T = TypeVar("T")


def cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def start_thread(work: Callable[[], None]) -> None:
    """Run *work* in a daemon thread."""
    Thread(target=work, name="nightly", daemon=True).start()


def pause(seconds: float) -> None:
    """Let the calling thread wait."""
    Event().wait(seconds)


def one_thread_for_arithmetic() -> None:
    """Let numpy's BLAS compute in the calling thread alone."""
    # Its matrices are small here. A second thread made nothing faster, and mostly waited in a loop, which
    # took as much processor time as everything else.
    import numpy as np  # noqa: F401, PLC0415 - the limit applies to libraries that are loaded
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - with it

    threadpool_limits(limits=1)


def leave_within(seconds: float) -> None:
    """End the process that much later, whatever its threads do; what is stored is whole at any moment."""
    timer = Timer(seconds, leave_at_once)
    timer.daemon = True
    timer.start()


def leave_at_once() -> None:
    """End the process without waiting for its threads."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)


class InlineExecutor(Executor):
    """Runs each call at once in the caller's thread: for replays and tests."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run *fn* now; what it raises is in the future."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - the contract of Executor: errors travel in the future
            future.set_exception(error)
        return future
