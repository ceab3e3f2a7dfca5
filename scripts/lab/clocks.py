"""Clocks that run fast, or only when told to: for demonstrations, benchmarks, replays and tests."""

import time


class FastClock:
    """The machine's clock, *speed* times as fast since *started*: for demonstrations and benchmarks.

    *started* (unix seconds) is when both agreed, by default now; processes that share it share the time.
    """

    def __init__(self, speed: float, started: float | None = None) -> None:
        self.speed = speed
        self.started = time.time() if started is None else started

    def now(self) -> float:
        """Return the sped-up time, unix seconds, UTC."""
        return self.started + (time.time() - self.started) * self.speed

    def monotonic(self) -> float:
        """Return real seconds: a timeout of a second stays one."""
        return time.monotonic()

    def real(self, moment: float) -> float:
        """Return when *moment* occurs on the machine's clock."""
        return self.started + (moment - self.started) / self.speed


class SimulatedClock:
    """A clock that only moves when set: for replays and tests."""

    def __init__(self, now: float) -> None:
        self._now = now

    def now(self) -> float:
        """Return the simulated time, unix seconds, UTC."""
        return self._now

    def monotonic(self) -> float:
        """Return the simulated time: nothing takes time in a simulation."""
        return self._now

    def advance_to(self, moment: float) -> None:
        """Move to *moment*, never back."""
        self._now = max(self._now, moment)
