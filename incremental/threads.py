"""Work in a thread that ends with the process, or at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from threading import Thread
from typing import ParamSpec, TypeVar

Start = Callable[[Callable[[], None]], object]
"""Starts some work; a test runs it at once."""

P = ParamSpec("P")
T = TypeVar("T")


def start_thread(work: Callable[[], None]) -> None:
    """Run *work* in a daemon thread."""
    Thread(target=work, name="nightly", daemon=True).start()


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
