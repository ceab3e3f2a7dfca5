"""Limits on queries to a provider: rate, daily quota, and back-off.

A query over a limit is refused with the limit's name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from incremental.base.times import DAY
from incremental.features.discovery.search_provider import (
    SearchAnswer,
    SearchProvider,
    SearchStatus,
)

FIRST_BACK_OFF_SECONDS = 60.0
LONGEST_BACK_OFF_SECONDS = DAY


@dataclass(frozen=True, slots=True)
class Meter:
    """A provider's query count; times are unix seconds, UTC."""

    day: int = 0
    """Days since 1970, UTC."""
    asked: int = 0
    """On that day."""
    open_at: float = 0.0
    """When the next query is allowed."""
    failures: int = 0
    """Consecutive."""

    def to_json(self) -> list[Any]:
        """Return plain values."""
        # Kept, so that a restart does not reset the day's count.
        return [self.day, self.asked, self.open_at, self.failures]


def permitted(meter: Meter, now: float, per_day: int) -> SearchStatus | None:
    """Return why no query is allowed at *now*; None if one is."""
    if int(now // DAY) == meter.day and meter.asked >= per_day:
        return SearchStatus.QUOTA_SPENT
    return SearchStatus.RATE_LIMITED if now < meter.open_at else None


def counted(meter: Meter, answer: SearchAnswer, now: float, interval_seconds: float) -> Meter:
    """Count a query sent at *now*. Each failure doubles the pause; the provider may ask for longer."""
    today = int(now // DAY)
    asked = meter.asked + 1 if meter.day == today else 1
    if answer.status is SearchStatus.ANSWERED:
        return Meter(today, asked, now + interval_seconds)
    failures = min(meter.failures + 1, 32)
    wait = min(FIRST_BACK_OFF_SECONDS * 2.0 ** (failures - 1), LONGEST_BACK_OFF_SECONDS)
    wait = max(answer.retry_after_seconds or 0.0, wait, interval_seconds)
    return replace(Meter(today, asked, now + wait), failures=failures)


class Metered(SearchProvider):
    """A provider within its limits. *now* returns unix seconds.

    Short waits between queries use *pause*, if given. *keep* gets the meter after each query.
    """

    def __init__(  # noqa: PLR0913 - the limits, by name
        self,
        provider: SearchProvider,
        now: Callable[[], float],
        *,
        per_day: int,
        interval_seconds: float,
        meter: Meter | None = None,
        pause: Callable[[float], None] | None = None,
        keep: Callable[[Meter], None] | None = None,
    ) -> None:
        super().__init__(related_query=provider.related_query, linkers_query=provider.linkers_query)
        self.name, self._provider = provider.name, provider
        self.meter = meter or Meter()
        self._now = now
        self._per_day = per_day
        self._interval = interval_seconds
        self._pause = pause
        self._keep = keep

    def search(self, query: str, count: int, page: int = 1, /) -> SearchAnswer:
        """Send the query if it is allowed now."""
        now = self._now()
        short = 0.0 < self.meter.open_at - now <= self._interval and not self.meter.failures
        if short and self._pause is not None:
            self._pause(self.meter.open_at - now)
            now = max(self._now(), self.meter.open_at)
        refused = permitted(self.meter, now, self._per_day)
        if refused is not None:
            wait = max(self.meter.open_at - now, 0.0)
            return SearchAnswer(
                refused, detail=f"{self._per_day} queries a day", retry_after_seconds=wait
            )
        answer = self._provider.search(query, count, page)
        self.meter = counted(self.meter, answer, now, self._interval)
        if self._keep is not None:
            # After each query, so that those of a killed run count.
            self._keep(self.meter)
        return answer
