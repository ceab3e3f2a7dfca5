"""The one place that reads the time.

Times are unix seconds, UTC, as floats, everywhere; only interfaces turn them into dates.
"""

import time
from typing import Protocol


class Clock(Protocol):
    """The time, for parts that depend on it."""

    def now(self) -> float:
        """Return the wall-clock time, unix seconds, UTC."""

    def monotonic(self) -> float:
        """Return seconds that never go back, for measuring durations."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Return the wall-clock time, unix seconds, UTC."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds since an arbitrary start."""
        return time.monotonic()

    def real(self, moment: float) -> float:
        """Return *moment* itself."""
        return moment
