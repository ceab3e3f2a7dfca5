"""Work that may have a bug: tried, and its failure returned as a value.

What says something about the store passes through: the daemon waits for it, or ends.
"""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from store.errors import (
    StoreDamagedError,
    StoreGoneError,
    StorePlaceError,
    StoreTooNewError,
    StoreUnavailableError,
)

T = TypeVar("T")

MOST_TRACE_CHARS = 8_000
# Any other error of a statement is a bug. The last is that of a terminal or a pipe that was closed: nobody
# reads what is found.
_PASS = (
    StoreUnavailableError,
    StoreDamagedError,
    StoreTooNewError,
    StoreGoneError,
    StorePlaceError,
    BrokenPipeError,
)


@dataclass(frozen=True, slots=True)
class Bug:
    """What some work raised."""

    error: str
    """The last line of the trace."""
    trace: str
    """The last 8,000 characters of it."""


def attempt(work: Callable[[], T]) -> T | Bug:
    """Return what *work* returns or, if it raises, the bug.

    Raises:
        StoreError: the store is unavailable, damaged, gone, of a later version, or cannot be made.
        BrokenPipeError: standard output was closed.
    """
    try:
        return work()
    except _PASS:
        raise
    except Exception as error:  # noqa: BLE001 - a bug stops the page or job it is in, nothing else
        last = traceback.format_exception_only(error)[-1].strip()
        return Bug(last, "".join(traceback.format_exception(error))[-MOST_TRACE_CHARS:])
