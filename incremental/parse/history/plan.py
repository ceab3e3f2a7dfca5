"""When an announced page is refreshed. Arithmetic on times; unix seconds."""

from __future__ import annotations

from dataclasses import dataclass

# The next refresh waits for this share of the time the page has stayed the same. Most corrections come
# within a day, and a page unchanged for a month mostly stays so for another: about eleven refreshes in
# ninety days.
PATIENCE = 0.5


@dataclass(frozen=True, slots=True)
class RefreshTerms:
    """How often and how long announced pages are refreshed."""

    first_seconds: float
    max_seconds: float


def next_refresh_at(same_since: float, now: float, terms: RefreshTerms) -> float | None:
    """Return when to refresh a page unchanged *same_since*; None = never again."""
    age = max(now - same_since, 0.0)
    if age >= terms.max_seconds:
        return None
    return now + max(terms.first_seconds, PATIENCE * age)
