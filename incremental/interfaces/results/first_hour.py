"""What is understood of a new site so far, and what its user can expect."""

from dataclasses import dataclass

from incremental.base.times import HOUR, MINUTE, NEVER
from incremental.crawl.sites import watch
from incremental.settings import Settings
from store import Store
from store.enums import SiteStatus
from store.values import SiteRow


@dataclass(frozen=True, slots=True)
class Understood:
    """What is known of a site's hubs, and its terms."""

    hubs: int
    """Read, and to be read again."""
    candidates: int
    """Not read yet."""
    goes_on: bool
    """More candidates are read at once, beyond the budget."""
    requests_per_day: float
    min_minutes: float
    max_hours: float
    news_from: float | None
    """When a hub is looked at again for the first time (unix seconds); None = none was read yet."""


def understood(store: Store, settings: Settings, row: SiteRow, now: float) -> Understood:
    """Return what is known of a site's hubs."""
    site = watch(row, settings)
    planned = [hub for hub in store.read.hubs(row.id) if hub.due_at < NEVER]
    read = [hub for hub in planned if hub.visits]
    awaited = any(hub.due_at <= now for hub in planned if not hub.visits)
    active = row.state == SiteStatus.ACTIVE
    baselines = [hub.baseline_at for hub in read if hub.baseline_at is not None]
    return Understood(
        hubs=len(read),
        candidates=len(planned) - len(read),
        goes_on=active and awaited and site.has_grant(now),
        requests_per_day=site.terms.requests_per_day,
        min_minutes=site.terms.min_interval_seconds / MINUTE,
        max_hours=site.terms.max_interval_seconds / HOUR,
        news_from=min(baselines) + site.terms.min_interval_seconds if baselines else None,
    )
