"""Plain values that go into and out of the store, which knows nothing of fetching or judging.

Times are unix seconds, UTC.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from store.enums import (
    ChangeKind,
    HubClass,
    HubKind,
    HubRole,
    HubStatus,
    LabelOrigin,
    PageLabel,
    PageState,
    SiteEventKind,
    SiteStatus,
)
from store.rules import Fate, Rule

SiteUpdate = dict[str, Any]
"""Columns of a site to set, by name; others stay, and a name that the table has not is refused."""
HubUpdate = dict[str, Any]
"""Likewise of a hub."""
PageUpdate = dict[str, Any]
"""Likewise of a page."""

ARTICLE = HubRole.ARTICLE

DifferenceLines = Sequence[tuple[str, str]]
"""Shortened lines, each with ``-`` (it went) or ``+`` (it came)."""


@dataclass(frozen=True, slots=True)
class SiteRow:
    """A stored site; JSON columns as text."""

    id: int
    seed_url: str
    name: str
    scope: str
    state: SiteStatus
    requests_per_day: float | None
    min_interval_minutes: float | None
    max_interval_hours: float | None
    added_at: float
    probed_at: float | None
    migrated_at: float | None
    path_aliases: str
    budget: str
    revisit: str
    origin: str = "{}"
    hours: str | None = None
    changed_at: float | None = None
    not_news: str = "[]"


@dataclass(frozen=True, slots=True)
class HubRow:
    """A stored hub with its page's URL."""

    page_id: int
    site_id: int
    url: str
    canonical_key: str
    kind: HubKind
    role: HubRole
    state: HubStatus
    score: float
    why: str
    due_at: float
    interval_seconds: float | None
    baseline_at: float | None
    visited_at: float | None
    visits: int
    failures: int
    new_pages: int
    unproductive_visits: int
    shown_links: int
    etag: str | None
    last_modified: str | None
    body_md5: str | None
    links_md5: str | None
    last_status: str | None
    next_url: str | None
    revisit: str
    way: str = ""
    """JSON: how the page is read; empty = not decided yet."""


@dataclass(frozen=True, slots=True)
class VerificationRow:
    """A stored page, with what its verification needs."""

    page_id: int
    site_id: int
    url: str
    canonical_key: str
    verify_due_at: float
    announced_at: float | None
    anchor: str
    body_md5: str | None
    state: PageState
    first_hub_id: int | None
    verified_at: float | None = None
    link_context: str | None = None
    first_seen_at: float = 0.0
    rule: str | None = None
    title: str = ""
    published_at: float | None = None
    verify_score: float | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class VisitedHub:
    """What bears on every visit of a hub."""

    hub: HubRow
    page: VerificationRow
    of_event: bool
    """It was announced with a backfill event."""
    has_versions: bool
    """Stored changes of its text name earlier bodies, which are kept."""
    has_twin: bool
    """Another hub of the site had the same body at its latest visit."""


@dataclass(frozen=True, slots=True)
class KnownPage:
    """Facts about a known page, for decisions."""

    id: int
    canonical_key: str
    first_seen_at: float
    announced_at: float | None
    state: PageState
    first_hub_id: int | None
    is_hub: bool
    rule: str | None = None
    """The last rule that decided about announcing it."""


@dataclass(frozen=True, slots=True)
class ArticleCandidate:
    """An article that hubs of its site have shown for some time and still show."""

    page_id: int
    url: str
    hubs: int
    """Hubs that show it."""
    on_seed: bool
    in_feed: bool
    on_article: bool
    """A monitored article shows it."""


@dataclass(frozen=True, slots=True)
class MonitoredArticle:
    """A monitored article."""

    page_id: int
    watched_seconds: float
    """From its baseline to its last visit."""
    productive_visits: int
    """Visits that found new pages."""
    chosen: bool
    """Chosen because of a new section or gained links, not because hubs show it."""
    gone: bool


@dataclass(frozen=True, slots=True)
class Sight:
    """A page as one hub shows or showed it."""

    page_id: int
    anchor: str
    tag_path: str
    first_seen_at: float
    gone_at: float | None
    """None = present at the hub's last visit."""


@dataclass(frozen=True, slots=True)
class DueTimes:
    """When the next fetch of each kind is due, of one site; None = none is planned."""

    hubs: Mapping[HubClass, float | None]
    awaited: float | None
    """Of a page announced once verified."""
    read: float | None
    """Of any other page to be read."""
    refresh: float | None
    watch: float | None = None
    """Of a page watched for changes."""

    @property
    def first(self) -> float | None:
        """The earliest of all."""
        found = (*self.hubs.values(), self.awaited, self.read, self.refresh, self.watch)
        return min((one for one in found if one is not None), default=None)


@dataclass(frozen=True, slots=True)
class HostRow:
    """Politeness state of a host."""

    name: str
    next_allowed_at: float
    failures: int
    crawl_delay_seconds: float | None
    robots: str | None
    """JSON by address; None = leave unchanged."""
    certificate_until: float | None = None
    """When its certificate ends; None = leave unchanged, or unknown."""


@dataclass(frozen=True, slots=True)
class NewHub:
    """A page that becomes a hub."""

    kind: HubKind
    role: HubRole
    score: float
    why: str
    due_at: float
    baseline_at: float | None = None
    """Set if its first visit announces: later pages of a list that overflowed."""
    revisit: str = "{}"


@dataclass(frozen=True, slots=True)
class SiteChanges:
    """Changes of a site besides its visits, in one transaction; hubs by page id."""

    updated: Mapping[int, HubUpdate] = field(default_factory=dict)
    begun: Mapping[int, NewHub] = field(default_factory=dict)
    """Pages to monitor as articles, except those that a user labelled."""
    ended: tuple[int, ...] = ()
    """They are no hubs any more; their sightings stay."""
    withdrawn: Mapping[int, Rule] = field(default_factory=dict)
    """Lists that were never read, each with the reason: others like it are articles, or were never there."""
    fields: SiteUpdate = field(default_factory=SiteUpdate)
    added: tuple[SeenLink, ...] = ()
    """Pages, with their hubs."""
    folded: tuple[tuple[int, SeenLink], ...] = ()
    """Pages by id, each to be merged with its link."""


@dataclass(frozen=True, slots=True)
class SeenLink:
    """A link on the visited page.

    Its state, hub, dates and text apply only to pages not known before; a verification fetch is planned
    also for known ones that it announces, if they were never read.
    """

    canonical_key: str
    url: str
    anchor: str = ""
    tag_path: str = ""
    published_at: float | None = None
    fate: Fate = Fate.KNOWN
    """Announced and backfilled whether or not its row is new."""
    hub: NewHub | None = None
    moved_from: int | None = None
    """Id of the page whose address a URL migration changed to this one."""
    verify_score: float | None = None
    """Expected by topics; None = not scored."""
    link_context: str | None = None
    """JSON of the link, a training example once the page is verified."""
    rule: str | None = None
    """The rule that decided about announcing it; None = unchanged."""


@dataclass(frozen=True, slots=True)
class SiteChange:
    """A change of a whole site."""

    kind: SiteEventKind
    detail: str


@dataclass(frozen=True, slots=True)
class PageChange:
    """A change of the visited page, with the bodies before and after."""

    kind: ChangeKind
    detail: str = ""
    body_before: str | None = None
    """MD5 of a body in the cache."""
    body_after: str | None = None
    difference: DifferenceLines = ()
    """Added and removed lines; recorded for watched pages only."""
    words_added: int = 0
    words_removed: int = 0


@dataclass(frozen=True, slots=True)
class VerifyAgain:
    """A known page to verify now."""

    page_id: int
    state: PageState | None = None
    """New state unless announced; None = unchanged."""
    rule: str | None = None
    """The rule that decided so; None = unchanged."""


@dataclass(frozen=True, slots=True)
class TopicScore:
    """A topic's score of a page of the visited site, judged or guessed from the link."""

    canonical_key: str
    topic_id: int
    score: float
    verdict: str
    fetched: bool
    """False = a guess, which never replaces a judgement."""
    method: str
    version: str
    terms: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class ReadText:
    """The text of a page as fetched."""

    title: str
    text: str
    """Main text, without boilerplate."""
    md5: str
    """Of the body, 32 hexadecimal digits."""
    language: str | None = None
    signature: bytes | None = None
    """MinHash, 16 bits per value; None = too short to compare."""


# Due later than any clock can reach: its watch is paused.
NEVER_DUE = 1e12


@dataclass(frozen=True, slots=True)
class RefreshRow:
    """A scheduled refresh, with facts about its page."""

    page_id: int
    site_id: int
    watch_id: int | None
    """None = an announced page, refreshed by its age."""
    url: str
    canonical_key: str
    title: str
    due_at: float
    checks: int
    checked_at: float | None
    changed_at: float | None
    gone_at: float | None
    status: str | None
    counted_changes: float
    counted_seconds: float
    etag: str | None
    last_modified: str | None
    body_md5: str | None
    state: PageState
    every_seconds: float | None
    found_at: float | None
    """When it was announced."""

    @property
    def next_at(self) -> float | None:
        """When it is due; None = its watch is paused."""
        return self.due_at if self.due_at < NEVER_DUE else None


@dataclass(frozen=True, slots=True)
class NextRefresh:
    """Next refresh of a page, and its learned rate; *due_at* None = never."""

    due_at: float | None
    watched: bool = False
    """By the intervals of its watch."""
    checks: int = 0
    """Refreshes so far."""
    checked_at: float | None = None
    status: str | None = None
    gone_at: float | None = None
    counted_changes: float = 0.0
    counted_seconds: float = 0.0
    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class VisitRecord:
    """Everything decided about one visit, recorded in one transaction.

    *links* None = unchanged (not modified, same body, or failed): sightings stay as they are.
    """

    site_id: int
    page_id: int
    at: float
    status: str
    http_code: int | None = None
    body_bytes: int = 0
    elapsed_seconds: float = 0.0
    detail: str = ""
    overflow: bool = False
    links: tuple[SeenLink, ...] | None = None
    keep_missing: bool = False
    """Keep links missing here as present (a later page of the list, or a truncated body)."""
    hub_fields: HubUpdate = field(default_factory=HubUpdate)
    page_fields: PageUpdate = field(default_factory=PageUpdate)
    site_fields: SiteUpdate = field(default_factory=SiteUpdate)
    page_change: PageChange | None = None
    drop_hub: bool = False
    """The visited page is not a hub after all."""
    fate: Fate = Fate.KNOWN
    """Of the visited page itself: announced, part of a backfill event, or neither."""
    first_hub_id: int | None = None
    site_change: SiteChange | None = None
    backfill_folder: str = ""
    """The path that the gained older pages share."""
    more_pages: tuple[SeenLink, ...] = ()
    """Pages to add that this hub does not link to (feeds it names, probes)."""
    moved_to: SeenLink | None = None
    """Where the visited page redirects; recorded as shown by *first_hub_id*."""
    rebaseline: bool = False
    """Every other HTML hub of the site takes a new baseline at its next visit."""
    text: ReadText | None = None
    """The visited page's current text."""
    next_refresh: NextRefresh | None = None
    """None = unchanged."""
    verify_again: tuple[VerifyAgain, ...] = ()
    topic_scores: tuple[TopicScore, ...] = ()
    """Expected scores of its links."""
    gained: tuple[str, ...] = ()
    """Canonical keys of the pages that an announced page came to link to, unknown ones as well."""


@dataclass(frozen=True, slots=True)
class VisitPlan:
    """Next due times and host state, written in the visit's transaction."""

    hub_fields: HubUpdate = field(default_factory=HubUpdate)
    site_fields: SiteUpdate = field(default_factory=SiteUpdate)
    host: HostRow | None = None
    named: frozenset[str] = frozenset()
    """Canonical keys of feeds, sitemaps and the like that the hub named at earlier visits."""


@dataclass(frozen=True, slots=True)
class LabelEntry:
    """A label of a URL and its origin."""

    url: str
    canonical_key: str
    label: PageLabel
    origin: LabelOrigin
    at: float
    """When it was first given; unix seconds, UTC."""
    anchor: str = ""
    site_id: int | None = None


@dataclass(frozen=True, slots=True)
class HubNews:
    """Links that a hub showed after its baseline, whether or not it was the first."""

    new_links: int = 0
    """Pages that became known after the hub's baseline and then appeared on it."""
    visits: int = 0
    """Visits that found at least one of them."""
