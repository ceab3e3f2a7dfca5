"""What is asked of the announced pages, and the answers: plain values."""

from __future__ import annotations

from dataclasses import dataclass

from store.announced import AnnouncedPage, TopicMark


@dataclass(frozen=True, slots=True)
class NewQuery:
    """Which announced pages to list. What is None, or empty, narrows nothing; all the rest must hold."""

    since: float | None = None
    """Found at this time or later; unix seconds, UTC."""
    until: float | None = None
    """Found before this time."""
    after: int | None = None
    """Cursor of the last row that was read: the answer goes on behind it, in the query's order."""
    sites: tuple[int, ...] | None = None
    """Ids; an empty tuple finds nothing."""
    hubs: tuple[int, ...] | None = None
    """Page ids of the hubs that showed them first."""
    topic: int | str | None = None
    """Id or name of a topic that has judged or guessed them; one that is not there finds nothing."""
    verdict: str | None = None
    """What the topic says: relevant, grey or irrelevant. Without a topic: what any topic says."""
    hidden_verdict: str | None = None
    """What the topic must not say; counts only with a topic."""
    min_score: float | None = None
    """At least this score, 0 to 1, of the topic; without one of any topic."""
    language: str | None = None
    """A primary subtag such as ``zh`` (BCP 47); longer tags are cut to it."""
    read: bool | None = None
    """True = read only, False = unread only."""
    starred: bool | None = None
    text: str = ""
    """Words that must stand in title or text; see :func:`store.words.read_query`."""
    limit: int = 50
    """Rows at most."""
    order: str = "newest"
    """``newest`` first, for browsing, or ``oldest`` first, for following on."""


@dataclass(frozen=True, slots=True)
class NewsAnswer:
    """A page of the answer."""

    rows: tuple[AnnouncedPage, ...]
    cursor: int | None
    """To go on from here; that of the query when nothing was found."""
    more: bool
    """There is more behind the cursor now."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many pages were announced, of one site or of all."""

    announced: int = 0
    unread: int = 0
    starred: int = 0


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """Something that happened to a page, with its cause."""

    id: int
    at: float
    kind: str
    """added, changed, gone, back or moved."""
    detail: str
    hub_id: int | None
    hub_url: str | None
    """The hub that showed it (added), or the page itself."""
    body_before: str | None
    body_after: str | None
    """MD5 of bodies; the page cache may have lost them by age or quota."""


@dataclass(frozen=True, slots=True)
class Version:
    """A body that a page had from a time on, until the next version."""

    at: float
    body_md5: str


@dataclass(frozen=True, slots=True)
class Copy:
    """A page of a cluster of nearly equal texts."""

    page_id: int
    url: str
    title: str
    site: str
    site_id: int
    first_seen_at: float
    published_at: float | None
    found_at: float | None
    """When it was announced; None = it was not."""
    alike: float
    """Share of its signature that agrees with that of the page that was asked for."""


@dataclass(frozen=True, slots=True)
class StoredText:
    """The text of a page as it was last read."""

    title: str
    text: str
    """Empty when only the title is known."""
    md5: str | None
    """Of the body that it was read from."""
    language: str | None
    cluster: int | None
    at: float
    signature: bytes | None = None


@dataclass(frozen=True, slots=True)
class RefreshRow:
    """When an announced page is refreshed, and what spares us its body then."""

    page_id: int
    site_id: int
    url: str
    canonical_key: str
    due_at: float
    checks: int
    etag: str | None
    last_modified: str | None
    body_md5: str | None
    state: str
    found_at: float | None
    """When it was announced."""


@dataclass(frozen=True, slots=True)
class PageDetail:
    """What is known of one page, for the page about it."""

    page_id: int
    url: str
    canonical_key: str
    title: str
    anchor: str
    site: str
    site_id: int
    state: str
    language: str | None
    published_at: float | None
    first_seen_at: float
    verified_at: float | None
    rule: str | None
    """The rule by which it is not announced."""
    body_md5: str | None
    is_hub: bool
    moved_to: str | None
    """URL of the page that it is now."""
    news: AnnouncedPage | None
    """None = it was not announced as new, so it cannot be marked."""
    text: StoredText | None
    copies: tuple[Copy, ...]
    topics: tuple[TopicMark, ...]
    history: tuple[HistoryEntry, ...]
    next_refresh_at: float | None


@dataclass(frozen=True, slots=True)
class SavedSearchRow:
    """A question with a name."""

    name: str
    query: str
    """JSON, as it was given."""
    created_at: float
    changed_at: float
