"""What is looked after besides visits: candidates, covered and owed hubs, monitored articles. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from incremental.base.times import MINUTE, NEVER
from incremental.schedule.state import HubState
from store.database.texts import to_json
from store.enums import HubRole, HubStatus
from store.updates import HubUpdate
from store.values import ARTICLE, HubRow, SiteChanges

REPLAN_TOLERANCE_SECONDS = 5 * MINUTE
DueAt = Callable[[HubRow], float]
"""When the policy wants a hub."""


def candidates(
    waiting: Sequence[HubRow], scores: Mapping[int, float] | None, threshold: float, now: float
) -> SiteChanges:
    """Judge candidates of one form of address again, after one of them was read.

    *scores*: their probabilities by now, as it is an article; those that no longer look like lists go.
    None = it is a hub, and the others need not wait any longer.
    """
    if scores is None:
        return _due(waiting, now)
    return SiteChanges(withdrawn=tuple(id_ for id_, score in scores.items() if score < threshold))


def covered(
    hubs: Sequence[HubRow], before: Collection[int], now_covered: Collection[int], due_at: DueAt
) -> SiteChanges:
    """Make hubs dormant that others cover by now, and others active, as far as they answer."""
    changes: dict[int, HubUpdate] = {}
    for hub in hubs:
        is_covered, fields = hub.page_id in now_covered, HubUpdate()
        if is_covered != (hub.state == HubStatus.DORMANT) and not hub.failures:
            fields["state"] = HubStatus.DORMANT if is_covered else HubStatus.ACTIVE
        # Its due time is that of a covered hub, days away.
        if hub.page_id in before and not is_covered:
            fields["due_at"] = due_at(hub)
        if fields:
            changes[hub.page_id] = fields
    return SiteChanges(changes)


def replanned(
    hubs: Sequence[HubRow], is_covered: Callable[[HubRow], bool], due_at: DueAt
) -> SiteChanges:
    """Bring visits forward after the price has fallen."""
    # A hub's due time is computed again only when the old one comes, however far the price has fallen.
    planned = {
        hub.page_id: (hub, due_at(hub))
        for hub in hubs
        if hub.visited_at is not None
        and hub.state != HubStatus.DROPPED
        and hub.role not in (HubRole.PAGE, ARTICLE)
        and not is_covered(hub)
    }
    return SiteChanges(
        {
            page_id: HubUpdate(due_at=at)
            for page_id, (hub, at) in planned.items()
            if at < hub.due_at - REPLAN_TOLERANCE_SECONDS
        }
    )


def owed(
    hubs: Sequence[HubRow],
    state_of: Callable[[HubRow], HubState],
    now: float,
    recent_seconds: float,
) -> SiteChanges:
    """Owe hubs a visit that may show what a list has lost, except those read just now."""
    # The row says that the visit is owed and is due, so that neither a kill nor a full queue loses it.
    changes: dict[int, HubUpdate] = {}
    for hub in hubs:
        if hub.state == HubStatus.DROPPED or now - (hub.visited_at or 0.0) < recent_seconds:
            continue
        state = replace(state_of(hub), owed_at=now)
        changes[hub.page_id] = HubUpdate(revisit=to_json(state.to_json()))
        # A failing hub keeps its retry time; it stays owed.
        if not hub.failures:
            changes[hub.page_id]["due_at"] = min(hub.due_at, now, NEVER)
    return SiteChanges(changes)


def hastened_articles(hubs: Sequence[HubRow], latest: float) -> SiteChanges:
    """Bring a site's monitored articles forward, as one of them has just led to a new page."""
    return _due([hub for hub in hubs if hub.role == ARTICLE], latest)


def _due(hubs: Sequence[HubRow], latest: float) -> SiteChanges:
    """Make hubs due at *latest* or earlier, except those that failed."""
    late = (hub.page_id for hub in hubs if hub.due_at > latest and not hub.failures)
    return SiteChanges({page_id: HubUpdate(due_at=latest) for page_id in late})
