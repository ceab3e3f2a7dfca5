"""Hubs, with the numbers behind their next visit."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from incremental.crawl.sites import watch
from incremental.interfaces.explain.page import explain_way, next_visit, rounded
from incremental.interfaces.results.schema import result_of
from incremental.parse.hub_way import WayKind
from incremental.settings import Settings
from store import Store
from store.enums import HubRole, HubStatus
from store.values import HubRow, SiteRow


@dataclass(frozen=True, slots=True)
class Hub:
    """A hub, or an address that looks like one."""

    id: int
    url: str
    site_id: int
    site: str
    kind: str
    role: str
    state: str
    score: float
    candidate: bool
    """Only looks like a hub: never read."""
    way: str
    """From where its links come: plain, embedded, json, rendered, browser_missing."""
    cost_requests: float
    """Of a visit, with the time of a browser."""
    visits: int
    new_pages: int
    """Links new to the site that it was the first to show, of older or missing pages as well."""
    failures: int
    last_status: str | None
    visited_at: datetime | None
    due_at: datetime | None
    rate_per_day: float | None
    """Expected new links; null = not visited yet, or no longer visited."""
    rate_is_guess: bool
    """The hub has shown no new page yet: the rate is what similar hubs show."""
    why: str


def is_candidate(hub: HubRow) -> bool:
    """Whether an address only looks like a hub: nobody gave it, and it was never read."""
    given = hub.role in (HubRole.SEED, HubRole.USER)
    return hub.state == HubStatus.CANDIDATE and not given


def hub_results(
    store: Store, settings: Settings, rows: Sequence[SiteRow], *, now: float
) -> list[Hub]:
    """Return the hubs of *rows*.

    Those that were read or given come first, then the addresses that look like hubs, the likeliest first.
    """
    answer = []
    for row in rows:
        site = watch(row, settings)
        hubs = store.read.hubs(row.id)
        hubs.sort(key=lambda hub: (-1.0, 0.0) if not is_candidate(hub) else (0.0, -hub.score))
        for hub in hubs:
            state = site.hub_state(hub)
            why = site.policy.why(state, site.state, site.budget, now)
            at, reason = next_visit(site, hub, why, now=now)
            answer.append(
                result_of(
                    Hub,
                    hub,
                    id=hub.page_id,
                    site=row.name,
                    score=round(hub.score, 3),
                    candidate=is_candidate(hub),
                    way=explain_way(hub, settings)["kind"] or WayKind.PLAIN.value,
                    cost_requests=round(state.cost, 1),
                    due_at=at,
                    rate_per_day=rounded(why.rate_per_day, 4) if _has_rate(hub) else None,
                    rate_is_guess=_has_rate(hub) and not hub.new_pages,
                    why=reason,
                )
            )
    return answer


def _has_rate(hub: HubRow) -> bool:
    """Whether a rate says anything of a hub: it was visited, and will be again."""
    return hub.visited_at is not None and hub.state != HubStatus.DROPPED
