"""Upkeep between visits: candidates, covered hubs, recovery visits, monitored articles. Pure.

::

    a list overflowed    owed: its next page; without one, or after too many, the hubs that it covers
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from incremental.base.times import MINUTE, NEVER
from incremental.schedule.state import HubState
from store.enums import HubRole, HubStatus
from store.rules import Rule
from store.values import ARTICLE, HubRow, HubUpdate, SeenLink, SiteChanges

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
    unlike = (page_id for page_id, score in scores.items() if score < threshold)
    return SiteChanges(withdrawn=dict.fromkeys(unlike, Rule.LIKE_ARTICLES))


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
    planned = (
        (hub, due_at(hub))
        for hub in hubs
        if hub.visited_at is not None
        and hub.state != HubStatus.DROPPED
        and hub.role not in (HubRole.PAGE, ARTICLE)
        and not is_covered(hub)
    )
    sooner = ((hub, at) for hub, at in planned if at < hub.due_at - REPLAN_TOLERANCE_SECONDS)
    return SiteChanges({hub.page_id: HubUpdate(due_at=at) for hub, at in sooner})


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
        changes[hub.page_id] = HubUpdate(revisit=state.to_text())
        # A failing hub keeps its retry time; it stays owed.
        if not hub.failures:
            changes[hub.page_id]["due_at"] = min(hub.due_at, now, NEVER)
    return SiteChanges(changes)


@dataclass(frozen=True, slots=True)
class Overflow:
    """A list that overflowed, and what may show the pages that scrolled off it."""

    next_page: SeenLink | None
    """With the hub that it becomes; None = there is none, or enough were read."""
    next_hub: HubRow | None
    """The same page, if it is a hub already."""
    covered: Sequence[HubRow]
    """An archive shows more than the list."""


def followed(
    overflows: Sequence[Overflow],
    state_of: Callable[[HubRow], HubState],
    now: float,
    recent_seconds: float,
) -> SiteChanges:
    """Schedule a visit of each list's next page, or of the hubs that the list covers."""
    hubs = list[HubRow]()
    added, baselines = list[SeenLink](), dict[int, float | None]()
    for one in overflows:
        if one.next_page is None or one.next_page.hub is None:
            hubs += one.covered
        elif one.next_hub is None:
            added.append(one.next_page)
        else:
            hubs.append(one.next_hub)
            if one.next_hub.baseline_at is None:
                baselines[one.next_hub.page_id] = one.next_page.hub.baseline_at
    changes = owed(hubs, state_of, now, recent_seconds)
    updated = dict(changes.updated)
    for page_id, at in baselines.items():
        updated[page_id] = {**updated.get(page_id, HubUpdate()), "baseline_at": at}
    return SiteChanges(updated, added=tuple(added))


def hastened_articles(hubs: Sequence[HubRow], latest: float) -> SiteChanges:
    """Bring a site's monitored articles forward, as one of them has just led to a new page."""
    return _due([hub for hub in hubs if hub.role == ARTICLE], latest)


def _due(hubs: Sequence[HubRow], latest: float) -> SiteChanges:
    """Make hubs due at *latest* or earlier, except those that failed."""
    late = (hub.page_id for hub in hubs if hub.due_at > latest and not hub.failures)
    return SiteChanges({page_id: HubUpdate(due_at=latest) for page_id in late})
