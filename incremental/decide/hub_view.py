"""What was known before the visit of a hub that bears on its links: plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from incremental.decide.hubs import HubCounts, HubLimits
from incremental.decide.links import top_folder
from incremental.decide.topics import Guesses
from incremental.times import DAY
from store.values import HubRow, KnownPage, SeenLink, Sight


@dataclass(frozen=True, slots=True)
class Since:
    """The times that decide whether a link is new; unix seconds, UTC."""

    now: float
    site_added_at: float
    backdated_days: float
    migrated_at: float | None = None
    """When the site's addresses last changed their form."""

    @property
    def oldest_news(self) -> float:
        """A page dated before this is no news, whenever it turns up."""
        return self.site_added_at - self.backdated_days * DAY


@dataclass(frozen=True, slots=True)
class HubView:
    """What was known before the visit of a hub that bears on its links."""

    hub: HubRow
    since: Since
    found: Sequence[SeenLink]
    """The links of the page, canonical and in scope."""
    known: Mapping[str, KnownPage]
    """Those of them that were known, by canonical key."""
    visible: frozenset[int]
    """Page ids that the hub showed at its last visit."""
    young: frozenset[int]
    """Those of them that it showed there for the first time; none after its baseline."""
    scores: Mapping[str, float]
    """Hub probability of the unknown ones, by canonical key."""
    counts: HubCounts
    limits: HubLimits
    new_hub: bool = False
    """The hub came up after its site's baseline, and leads to few unknown pages."""
    new_folders: frozenset[str] = frozenset()
    """Top folders, as beginnings of canonical keys, below which nothing was known until lately."""
    quota: int = 1_000_000
    """How many new pages the site may still have today."""
    verifications: int = 0
    """How many new pages may be fetched for verification before they are announced."""
    leading: frozenset[str] = frozenset()
    """Hosts whose addresses may only lead on to the page that is meant: no such page is announced before
    it was fetched."""
    corrected: Mapping[str, str] = field(default_factory=dict)
    """What users said of the unknown ones, by canonical key. Their scores agree with it."""
    lost_urls: Sequence[str] = ()
    """What it showed and no longer shows; given when a URL migration is possible."""
    anchors: Mapping[str, int] = field(default_factory=dict)
    """Page ids by headline among the unknown links; given when a URL migration is possible."""
    guesses: Guesses | None = None
    """What topics expect of the unknown ones; None = there is no topic."""
    sights: Sequence[Sight] = ()
    """All that it ever showed; given when a link that it did not show names a date."""
    overflow_at: float = 0.0
    """When a list of its site was last found to have overflowed; 0 = never."""
    overflow_since: float = 0.0
    """From when on pages may have come that scrolled by there."""
    resumed_at: float = 0.0
    """When the site was first looked after again after a pause; 0 = there was none."""

    def came_up(self, target: SeenLink) -> bool:
        """Return whether a link belongs to a section that came up as a whole: its pages are news."""
        return self.new_hub or top_folder(target.canonical_key) in self.new_folders
