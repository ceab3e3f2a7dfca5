"""What goes into the store and what comes out: plain values.

The store knows nothing of fetching or judging; the crawler fills these in and reads them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from store.enums import (
    ChangeKind,
    HubKind,
    HubRole,
    HubStatus,
    LabelOrigin,
    PageLabel,
    PageState,
    SiteEventKind,
    SiteStatus,
)
from store.updates import HubUpdate, PageUpdate, SiteUpdate

ARTICLE = HubRole.ARTICLE


@dataclass(frozen=True, slots=True)
class SiteRow:
    """A watched site as it stands in the store. JSON columns are given as text."""

    id: int
    seed_url: str
    name: str
    scope: str
    state: SiteStatus
    requests_per_day: float | None
    min_interval_seconds: float | None
    max_interval_seconds: float | None
    added_at: float
    probed_at: float | None
    migrated_at: float | None
    path_aliases: str
    budget: str
    revisit: str
    origin: str = "{}"


@dataclass(frozen=True, slots=True)
class HubRow:
    """A hub with its page's URL."""

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
    changed_at: float | None
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


@dataclass(frozen=True, slots=True)
class VerificationRow:
    """A page that is to be fetched once for its own sake."""

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


@dataclass(frozen=True, slots=True)
class PageRow:
    """A page as it stands in the store."""

    id: int
    site_id: int
    canonical_key: str
    url: str
    anchor: str
    title: str
    language: str | None
    published_at: float | None
    first_seen_at: float
    first_hub_id: int | None
    announced_at: float | None
    state: PageState
    moved_to: int | None
    verify_due_at: float | None
    verified_at: float | None
    rule: str | None
    body_md5: str | None
    verify_score: float | None
    link_context: str | None


@dataclass(frozen=True, slots=True)
class KnownPage:
    """What a judge needs to know of a page that was seen before."""

    id: int
    canonical_key: str
    anchor: str
    first_seen_at: float
    announced_at: float | None
    state: PageState
    first_hub_id: int | None
    is_hub: bool
    rule: str | None = None
    """The rule that decided last whether it is announced."""


@dataclass(frozen=True, slots=True)
class ArticleCandidate:
    """An article that hubs of its site have shown for some time, and show now."""

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
    """An article that is read now and then for links to pages that no list shows."""

    page_id: int
    watched_seconds: float
    """From its baseline to its last visit."""
    new_pages: int
    productive_visits: int
    """Visits that brought new pages."""
    chosen: bool
    """Chosen for another reason than that hubs show it: it belongs to a new section, or gained links."""
    gone: bool


@dataclass(frozen=True, slots=True)
class Sight:
    """A page as one hub shows it, or showed it."""

    page_id: int
    anchor: str
    tag_path: str
    first_seen_at: float
    gone_at: float | None
    """None = it was there at the hub's last visit."""


@dataclass(frozen=True, slots=True)
class HostRow:
    """What a host is owed."""

    name: str
    next_allowed_at: float
    failures: int
    crawl_delay_seconds: float | None
    robots: str | None
    """JSON by address; None when written = as it was."""


@dataclass(frozen=True, slots=True)
class NewHub:
    """A page that becomes a hub."""

    kind: HubKind
    role: HubRole
    score: float
    why: str
    due_at: float


@dataclass(frozen=True, slots=True)
class SeenLink:
    """A link on the page that was visited. *new* fields count only when the page was not known."""

    canonical_key: str
    url: str
    anchor: str = ""
    tag_path: str = ""
    position: int = 0
    published_at: float | None = None
    announce: bool = False
    """Tell it as new, whether or not its row is new."""
    state: PageState = PageState.KNOWN
    backfill: bool = False
    """The visited list gained it, and it is old: it goes into the visit's one event."""
    hub: NewHub | None = None
    verify_due_at: float | None = None
    moved_from: int | None = None
    """A URL migration gave this page a new address: the id of the page it was."""
    verify_score: float | None = None
    """What topics expect of it; None = nobody guessed."""
    link_context: str | None = None
    """JSON of the link, for what a verification fetch will teach."""
    rule: str | None = None
    """The rule that decided whether it is announced; None = as it was."""


@dataclass(frozen=True, slots=True)
class SiteChange:
    """Something that happened to a whole site."""

    kind: SiteEventKind
    detail: str


@dataclass(frozen=True, slots=True)
class PageChange:
    """Something that happened to the visited page, with what it was before and after."""

    kind: ChangeKind
    detail: str = ""
    body_before: str | None = None
    """MD5 of a body in the cache."""
    body_after: str | None = None


@dataclass(frozen=True, slots=True)
class VerifyAgain:
    """A known page that is to be fetched for verification now."""

    page_id: int
    state: PageState | None = None
    """Its state from now on, unless it was announced; None = as it is."""


@dataclass(frozen=True, slots=True)
class TopicScore:
    """What a topic makes of a page of the visited site: judged, or guessed from the link to it."""

    canonical_key: str
    topic_id: int
    score: float
    verdict: str
    fetched: bool
    """False = a guess; it never replaces a judgement."""
    method: str
    version: str
    terms: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class NewExternalCandidate:
    """A link out of every watched site, towards what a topic wants."""

    topic_id: int
    url: str
    canonical_key: str
    domain: str
    score: float
    found_on: str


@dataclass(frozen=True, slots=True)
class ReadText:
    """What a page says, as it was read at a visit."""

    title: str
    text: str
    """Without what surrounds it."""
    md5: str
    """Of the body it was read from, 32 hexadecimal digits."""
    language: str | None = None
    signature: bytes | None = None
    """MinHash, 16 bits a value; None = too short to be anybody's copy."""
    bands: tuple[int, ...] = ()
    """Hashes of the signature's bands, below 2**63."""


@dataclass(frozen=True, slots=True)
class NextRefresh:
    """When an announced page is refreshed; *due_at* None = never."""

    due_at: float | None
    checks: int = 0
    """How often it was refreshed."""
    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class VisitRecord:
    """What was decided of one visit, recorded in one transaction.

    *links* None means that the page's links are as they were (not modified, same body, or failed):
    sightings stay untouched.
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
    """Links not on this page are still there (it was a later page of the list, or cut short)."""
    hub_fields: HubUpdate = field(default_factory=HubUpdate)
    page_fields: PageUpdate = field(default_factory=PageUpdate)
    site_fields: SiteUpdate = field(default_factory=SiteUpdate)
    page_change: PageChange | None = None
    drop_hub: bool = False
    """The visited page is no hub after all."""
    announce_page: bool = False
    """The visited page itself is new."""
    first_hub_id: int | None = None
    site_change: SiteChange | None = None
    backfill_folder: str = ""
    """The path below which the older pages lie that the visited list gained."""
    backfill_page: bool = False
    """The visited page itself is one of those that *first_hub_id* gained."""
    more_pages: tuple[SeenLink, ...] = ()
    """Pages to know of that are no links of this hub (feeds it names, places to probe)."""
    moved_to: SeenLink | None = None
    """The page to which the visited one leads on; known from now on as shown by *first_hub_id*."""
    rebaseline: bool = False
    """Every other HTML hub of the site takes a new baseline at its next visit."""
    text: ReadText | None = None
    """What the visited page says now."""
    next_refresh: NextRefresh | None = None
    """None = as it was planned."""
    verify_again: tuple[VerifyAgain, ...] = ()
    topic_scores: tuple[TopicScore, ...] = ()
    """What topics expect of its links."""


@dataclass(frozen=True, slots=True)
class VisitPlan:
    """When what is due next, and what is owed: written in the visit's transaction."""

    hub_fields: HubUpdate = field(default_factory=HubUpdate)
    site_fields: SiteUpdate = field(default_factory=SiteUpdate)
    host: HostRow | None = None


@dataclass(frozen=True, slots=True)
class TopicOpinion:
    """What topics make of the visited page: written in the visit's transaction."""

    scores: tuple[TopicScore, ...] = ()
    external_candidates: tuple[NewExternalCandidate, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelEntry:
    """What a URL was said to be, and by whom."""

    url: str
    canonical_key: str
    label: PageLabel
    origin: LabelOrigin
    at: float
    """When it was first said; unix seconds, UTC."""
    anchor: str = ""
    site_id: int | None = None
    """The watched site that it belongs to; None = none."""


@dataclass(frozen=True, slots=True)
class HubNews:
    """What a hub brought after its baseline, whether or not another hub was first to show it."""

    new_links: int = 0
    """Pages of the site that became known after the hub's baseline, and then stood on it."""
    visits: int = 0
    """Visits that brought at least one of them."""
