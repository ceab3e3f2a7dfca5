"""What was known before the visit of a hub that bears on the decision: plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from incremental.base.scope import Scope
from incremental.base.times import DAY
from incremental.decide.feed_home import LearnedSite
from incremental.decide.hubs import HubCounts, HubLimits
from incremental.decide.links import top_folder
from incremental.decide.sections import Section
from incremental.decide.topics import Guesses
from incremental.decide.url_dates import UrlDates
from incremental.parse.history.plan import RefreshTerms
from store.values import HubRow, KnownPage, SeenLink, Sight, VerificationRow


@dataclass(frozen=True, slots=True)
class Since:
    """The times that decide whether a link is new, and how its site writes dates; unix seconds, UTC."""

    now: float
    site_added_at: float
    backdated_days: float
    migrated_at: float | None = None
    """When the site last had a URL migration."""
    url_dates: UrlDates = field(default_factory=UrlDates)

    @property
    def oldest_news(self) -> float:
        """A page dated before this is no news, whenever it appears."""
        return self.site_added_at - self.backdated_days * DAY


@dataclass(frozen=True, slots=True)
class HubView:
    """What was known before the visit of a hub."""

    hub: HubRow
    since: Since
    found: Sequence[SeenLink]
    """The links of the page, canonical and in scope."""
    known: Mapping[str, KnownPage]
    """The known ones, by canonical key."""
    visible: frozenset[int]
    """Page ids that the hub showed at its last visit."""
    young: frozenset[int]
    """Those of them that it showed then for the first time; none after its baseline."""
    scores: Mapping[str, float]
    """Hub probability of the unknown ones, by canonical key."""
    counts: HubCounts
    limits: HubLimits
    new_hub: bool = False
    """The hub appeared after its site's baseline and has few unknown links."""
    new_folders: frozenset[str] = frozenset()
    """Top folders, as prefixes of canonical keys, below which nothing was known until lately."""
    quota: int = 1_000_000
    """How many new pages the site may still announce today."""
    verifications: int = 0
    """How many new pages may be verified before they are announced."""
    leading: frozenset[str] = frozenset()
    """Hosts that may only redirect to the page that is meant: always verified before announced."""
    corrected: Mapping[str, str] = field(default_factory=dict)
    """Users' labels of the unknown ones, by canonical key. Their scores agree with these."""
    lost_urls: Sequence[str] = ()
    """URLs that it no longer shows; given when a URL migration is possible."""
    anchors: Mapping[str, int] = field(default_factory=dict)
    """Page ids by headline among the unknown links; given when a URL migration is possible."""
    never_there: frozenset[str] = frozenset()
    """Those of the unknown ones with whose addresses no page ever was there, by canonical key."""
    guesses: Guesses | None = None
    """What topics expect of the unknown ones; None = there is no topic."""
    sights: Sequence[Sight] = ()
    """Everything that it ever showed; given when a link that it did not show is dated."""
    overflow_at: float = 0.0
    """When a list of its site last overflowed; 0 = never."""
    overflow_since: float = 0.0
    """Since when pages may have scrolled off that list."""
    resumed_at: float = 0.0
    """When the last pause of the daemon ended; 0 = there was none."""

    def came_up(self, target: SeenLink) -> bool:
        """Whether a link belongs to a new section, whose pages are all news."""
        return self.new_hub or top_folder(target.canonical_key) in self.new_folders


@dataclass(frozen=True, slots=True)
class RedirectTarget:
    """Where a redirect out of the site leads."""

    url: str
    inside: bool
    rules: str
    """JSON of the site's scope with its home moved there."""


@dataclass(frozen=True, slots=True)
class HubFacts:
    """What was known before the visit."""

    now: float
    hub: HubRow
    """Of the kind that the body turned out to be."""
    scope: Scope
    """The site's, already moved if this is a given feed read for the first time."""
    page: VerificationRow | None = None
    """The page itself; given when it may be news: at the first reading, and for an edition's front."""
    awaits_event: bool = False
    """It is an old page that a list gained, and no event has announced it yet."""
    probability: float | None = None
    """That a page which only its URL made a hub is one, by its content; None = not asked."""
    threshold: float = 0.5
    feed: LearnedSite | None = None
    redirect: RedirectTarget | None = None
    found: Sequence[SeenLink] = ()
    """The links of the page, canonical and in scope."""
    view: HubView | None = None
    """What bears on the links; None = they are unchanged, or irrelevant."""
    section: Section | None = None
    """What appeared with the page, if it is an article that is news."""
    room: int = 1_000_000
    """How many more hubs the site may have."""
    probes: Sequence[SeenLink] | None = None
    """The usual places of feeds and sitemaps, when these are due."""
    later_pages: int = 0
    """How many later pages of this list were read because everything on them was new."""
    terms: RefreshTerms | None = None
    """When announced pages are refreshed; None = never."""
