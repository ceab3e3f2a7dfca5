"""The health of sites, and when they publish, for the pages. Read-only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from incremental.fetch.status import HARMLESS
from incremental.interfaces.explain.page import budget_and_visit
from incremental.interfaces.web.context import Web
from incremental.schedule.profile import by_hour_of_day
from incremental.schedule.state import SiteState
from store import Store, enums
from store.values import SiteRow

_LEAST_VISITS = 3


@dataclass(frozen=True, slots=True)
class Health:
    """The health of a site."""

    tone: str
    """good, warn, bad, or idle."""
    why: str
    """One of the catalogue's ``sites.why_...``."""
    said: Mapping[str, object] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    """Budget, price, next visit and last new page."""


def site_health(
    web: Web, store: Store, rows: Sequence[SiteRow], counts: Mapping[int, Mapping[str, int]]
) -> dict[int, Health]:
    """Return the health of each site; *counts* are the visits of the last day by site and status."""
    now = web.now()
    last_announced, due = store.monitor.last_announced(), store.monitor.next_due()
    unread = store.monitor.unread_seeds()
    notes = web.settings.enabled.by_id("site_notes", store)
    found = {}
    for row in rows:
        values = {
            **budget_and_visit(web.settings, row, due.get(row.id), now=now),
            "last_new_at": last_announced.get(row.id),
        }
        trouble = unread.get(row.id)
        if trouble and row.state != enums.SiteStatus.PAUSED:
            tone, why = "bad", "unread"
            said: dict[str, object] = {"status": trouble}
        else:
            tone, why, said = _health(row, counts.get(row.id, {}))
        if row.id in notes and tone != "bad" and why != "paused":
            tone, why, said = "warn", "noted", {"note": notes[row.id]}
        found[row.id] = Health(tone, why, said, values)
    return found


def _health(row: SiteRow, counts: Mapping[str, int]) -> tuple[str, str, dict[str, object]]:
    if row.state == enums.SiteStatus.PAUSED:
        return "idle", "paused", {}
    failed = {status: count for status, count in counts.items() if status not in HARMLESS}
    visits = sum(counts.values())
    if failed and 2 * sum(failed.values()) > visits:
        worst = max(failed, key=failed.__getitem__)
        share = round(100 * sum(failed.values()) / visits)
        return "bad", "failing", {"share": share, "status": worst}
    if not visits:
        return "idle", "quiet", {}
    return ("good", "fine", {"n": visits}) if visits >= _LEAST_VISITS else ("good", "begun", {})


LEAST_COUNTED = 24.0
"""New links from which on a site's day is shown: one an hour."""


def hour_rates(web: Web, row: SiteRow) -> list[float] | None:
    """Return the new links per day in each hour of the day, in the server's time zone.

    From links that were counted, unlike the schedule's expectation, which begins with an even day.
    None = too few were counted to show when the site publishes.
    """
    state = SiteState.from_text(row.revisit)
    counted = sum(state.hours)
    if counted < LEAST_COUNTED or not state.rate_total:
        return None
    hours = [len(state.hours) * links / counted for links in state.hours]
    zone = datetime.fromtimestamp(web.now(), UTC).astimezone().utcoffset()
    ahead = round(zone.total_seconds() / 3600) if zone is not None else 0
    return [state.rate_total * share for share in by_hour_of_day(hours, ahead)]
