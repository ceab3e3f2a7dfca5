"""What is remembered of a hub and of a site: small plain values that a store keeps as JSON text.

A state belongs to no policy: it is evidence (counts, exposure, hours), so that changing the policy
in the settings keeps what was learned.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Self


class ListKind(StrEnum):
    """What a hub is, as far as that tells how much it may bring before it was watched."""

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
    """Links on the page, known ones included; 0 for a page that did not change."""
    novel: int = 0
    """Links that no hub had shown before: the first sighting gets the credit."""
    baseline: bool = False
    """The first look at this hub: its links are known from now on, and none of them is novel."""
    relevant: float | None = None
    """How many usual links the novel ones are worth to the user's topics, as far as was expected before
    they were read; None = nobody asks for a topic."""
    all_new: bool = False
    """Every link shown is new to this hub: more may have scrolled away."""
    not_modified: bool = False
    failed: bool = False
    """No answer, or none that says anything about the hub's links."""
    wait_seconds: float = 0.0
    """How long the server or the feed asks to be left alone (Retry-After, Cache-Control, TTL)."""
    published: tuple[float, ...] = ()
    """Publication times of the links shown (baseline) or novel, where the hub prints them."""
    shared: Mapping[str, int] = field(default_factory=dict)
    """Links new to this hub that another hub had shown first, counted by that hub's key."""
    vanished: int = 0
    """Links that this hub first showed at the visit before and shows no more."""


@dataclass(frozen=True, slots=True)
class JsonState:
    """To and from a dict that :mod:`json` can write; fields at their defaults are left out."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields that differ from a new state's; long lists with three decimals."""
        new = type(self)()
        values = ((f.name, getattr(self, f.name)) for f in fields(self))
        changed = {k: v for k, v in values if v != getattr(new, k)}
        return {k: _rounded(v) if isinstance(v, tuple) else v for k, v in changed.items()}

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the state that a store keeps as JSON text."""
        return cls.from_json(json.loads(text))

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        """Return the saved state; unknown keys (of another version) are ignored."""
        known = {f.name for f in fields(cls)}
        values = {k: tuple(v) if isinstance(v, list) else v for k, v in saved.items()}
        return cls(**{k: v for k, v in values.items() if k in known})


def _rounded(values: tuple[float, ...]) -> list[float]:
    return [round(value, 3) for value in values]


@dataclass(frozen=True, slots=True)
class HubState(JsonState):
    """What visits taught about one hub. Times are unix seconds, 0 = never; counts fade with age."""

    key: str = ""
    """What :attr:`Visit.shared` of other hubs calls this one; empty = overlap is not followed."""
    kind: str = ListKind.PAGE
    visited_at: float = 0.0
    """Last visit that told something."""
    tried_at: float = 0.0
    """Last visit of any outcome."""
    first_at: float = 0.0
    """First visit that told something."""
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
    push_hub: str = ""
    """WebSub hub that the page offered when it was last read; empty = none."""
    push_topic: str = ""
    """What the page calls itself there (rel=self); empty = it does not, and its address stands for it."""
    push_asked_at: float = 0.0
    push_asked: int = 0
    """Subscription requests since one was confirmed."""
    push_until: float = 0.0
    """Until when the hub will tell of changes; 0 = never subscribed."""
    hinted_at: float = 0.0
    """First sign of a change since the last visit (sitemap lastmod, ping); 0 = none."""
    pinged_at: float = 0.0
    """Last time that the page's own WebSub hub said that it has changed; 0 = never."""
    hints: float = 0.0
    """Signs followed by a visit."""
    hints_confirmed: float = 0.0
    """Of these: visits that brought something new."""
    owed_at: float = 0.0
    """When a list that covers this hub overflowed, or the page of a list before this one: what scrolled
    by may stand here. 0 = no visit is owed."""


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
    """Signs of a change on any hub that were followed by a visit; they fade."""
    hints_confirmed: float = 0.0
    seen_at: Mapping[str, float] = field(default_factory=dict)
    """Last visits of the hubs visited most lately, by key."""
    overflow_at: float = 0.0
    """When a list was last found to have overflowed; 0 = never."""
    overflow_since: float = 0.0
    """From when on pages may have come that scrolled by: the visit of that list before."""
    overflowed: tuple[int, ...] = ()
    """Page ids of lists that overflowed and whose other pages or covered hubs are not queued yet."""
