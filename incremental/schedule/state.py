"""States of hubs and sites: small plain values that the store keeps as JSON; and a policy's terms.

States are evidence (counts, exposure, hours) and belong to no policy, so that changing the policy keeps
what was learned.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, TypeVar

from incremental.base.json_state import JsonState
from incremental.base.times import DAY, MINUTE


class ListKind(StrEnum):
    """Kind of a hub, as far as it predicts its yield before it was watched."""

    HOME = "home"
    FEED = "feed"
    SITEMAP = "sitemap"
    PAGE = "page"


@dataclass(frozen=True, slots=True)
class Visit:
    """What one visit of a hub brought, in numbers."""

    at: float
    """When the answer came, unix seconds, UTC."""
    shown: int = 0
    """Links on the page, known ones included; 0 if unchanged."""
    novel: int = 0
    """Links that no hub had shown before: the first sighting gets the credit."""
    baseline: bool = False
    """The hub's first visit: its links are recorded as known, none is novel."""
    relevant: float | None = None
    """Usual links that the novel ones are worth to topics, as guessed before fetching; None = no topic."""
    all_new: bool = False
    """Every link shown is new to this hub: more may have scrolled away."""
    not_modified: bool = False
    failed: bool = False
    """No answer, or none about the hub's links."""
    wait_seconds: float = 0.0
    """Wait asked for by server or feed (Retry-After; of feeds Cache-Control, Expires, TTL)."""
    published: tuple[float, ...] = ()
    """Publication times of the links shown (baseline) or novel, where the hub prints them."""
    shared: Mapping[str, int] = field(default_factory=dict)
    """Links new to this hub that another hub had shown first, counted by that hub's key."""
    vanished: int = 0
    """Links that this hub first showed at the last visit and no longer shows."""
    cost: float = 1.0
    """In requests: of the page and of what its scripts asked for, and the time of a browser."""


@dataclass(frozen=True, slots=True)
class HubState(JsonState):
    """What was learned about one hub. Times are unix seconds, 0 = never; counts fade with age."""

    key: str = ""
    """What :attr:`Visit.shared` of other hubs calls this one; empty = overlap is not followed."""
    kind: str = ListKind.PAGE
    visited_at: float = 0.0
    """Last successful visit."""
    tried_at: float = 0.0
    """Last visit of any outcome."""
    first_at: float = 0.0
    """First successful visit."""
    failures: int = 0
    """Failed visits in a row."""
    visits: int = 0
    wait_until: float = 0.0
    last_novel_at: float = 0.0
    interval: float = 0.0
    """Seconds; only rules that carry an interval from visit to visit use it. 0 = not set."""
    weight: float = 0.0
    """This hub's part of :attr:`SiteState.weight_total`; 0 before its first visit."""

    novel: float = 0.0
    """Links that no hub had shown before."""
    exposure_hours: float = 0.0
    """Time watched."""
    open_hours: float = 0.0
    """Of this, as far as neighbours had not taken the links away."""
    censored: bool = False
    """At the last visit the whole page was new."""
    hours: tuple[float, ...] = ()
    """Arrivals by hour of the week (168; from Thursday 00:00 UTC, where unix time begins)."""
    minutes: tuple[float, ...] = ()
    """Arrivals by five minutes of the hour (12)."""
    counted_at: float = 0.0
    """When *hours* and *minutes* last changed: they fade only then."""

    shown: int = 0
    """Links on the page when it was last read."""
    young: int = 0
    """Links that were new to this hub at its last visit."""
    vanished: float = 0.0
    """Of the young ones: gone at the next visit."""
    young_hours: float = 0.0
    """Time they were watched, link by link."""

    judged: float = 0.0
    relevant: float = 0.0
    unmodified: float = 0.0
    """Share of visits that found nothing changed."""
    overlaps: Mapping[str, list[float]] = field(default_factory=dict)
    """By neighbour: links it had shown first, and links it had had the chance to show first."""
    hinted_at: float = 0.0
    """First change hint since the last visit (sitemap lastmod); 0 = none."""
    hints: float = 0.0
    """Change hints followed by a visit."""
    hints_confirmed: float = 0.0
    """Those after which the visit found something new."""
    cost: float = 1.0
    """Of a visit, in requests."""
    owed_at: float = 0.0
    """When a list that covers this hub, or the list page before it, overflowed; 0 = no visit is owed."""


@dataclass(frozen=True, slots=True)
class SiteState(JsonState):
    """What all hubs of one site share."""

    hubs: int = 0
    """Hubs visited at least once and not retired."""
    weight_total: float = 0.0
    rate_total: float = 0.0
    """Sum of the hubs' rates of novel links, per hour."""
    rate_square_total: float = 0.0
    hours: tuple[float, ...] = ()
    """Novel links by hour of the week, as for a hub."""
    minutes: tuple[float, ...] = ()
    counted_at: float = 0.0
    shape: tuple[float, ...] = ()
    """The hours of the week as a rate with mean 1, made from *hours* every six hours."""
    pulse: tuple[float, ...] = ()
    """The minutes of the hour alike."""
    shaped_at: float = 0.0
    hints: float = 0.0
    """Change hints for any hub that were followed by a visit; they fade."""
    hints_confirmed: float = 0.0
    seen_at: Mapping[str, float] = field(default_factory=dict)
    """Last visits of the hubs visited most lately, by key."""
    overflow_at: float = 0.0
    """When a list was last found to have overflowed; 0 = never."""
    overflow_since: float = 0.0
    """Since when pages may have scrolled off: that list's visit before."""
    overflowed: tuple[int, ...] = ()
    """Page ids of overflowed lists whose next pages or covered hubs are not queued yet."""


S = TypeVar("S", bound=JsonState)
# Moments of the past, which a clock that was ahead may have written.
_PAST = (
    *("visited_at", "tried_at", "first_at", "last_novel_at", "counted_at", "hinted_at"),
    *("owed_at", "shaped_at", "overflow_at", "overflow_since", "updated_at", "started_at"),
)


def not_ahead(state: S, now: float) -> S:
    """Return *state* with the moments of the past that are later than *now* moved to it.

    Otherwise a spent budget would be granted nothing until they come again.
    """
    names = {one.name for one in fields(state)}
    late: dict[str, Any] = {
        name: now for name in _PAST if name in names and getattr(state, name) > now
    }
    if isinstance(state, SiteState) and max(state.seen_at.values(), default=0.0) > now:
        late["seen_at"] = {key: min(at, now) for key, at in state.seen_at.items()}
    return replace(state, **late) if late else state


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
    due_at: float
    """Next visit, unix seconds; infinite = never under these terms."""
    reason: str
    """One sentence for people."""
