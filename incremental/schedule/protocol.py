"""The terms that a revisit policy is given, and how it explains itself."""

from dataclasses import dataclass

from incremental.base.times import DAY, MINUTE


@dataclass(frozen=True, slots=True)
class Terms:
    """The user's terms for one site. A policy is made for one set of terms."""

    requests_per_day: float = 48.0
    """Of any kind: robots.txt, hub visits, verification fetches. 0 = leave the site alone."""
    min_interval_seconds: float = 15 * MINUTE
    max_interval_seconds: float = DAY
    """If the budget allows: many hubs and few requests make it longer."""
    windows: tuple[tuple[float, float], ...] = ()
    """Allowed hours of the day (UTC) as (start, end); end before start = over midnight; empty = always."""
    grant: float = 0.0
    """Requests beyond the budget, once, while the site is new: for hubs that nobody has read."""


@dataclass(frozen=True, slots=True)
class VisitExplanation:
    """The numbers behind a hub's due time."""

    rate_per_day: float
    """New links a day that this hub is expected to be the first to show."""
    waiting_links: float
    """Expected number of them waiting now."""
    price_minutes: float
    due_at: float
    """Next visit, unix seconds; infinite = never under these terms."""
    reason: str
    """One sentence for people."""
