"""Queries of announced pages and their answers: plain values."""

from dataclasses import dataclass

from store.answers.announced import AnnouncedPage, TopicMark


@dataclass(frozen=True, slots=True)
class NewQuery:
    """A query of announced pages. Conditions are combined; None or empty = no condition."""

    since: float | None = None
    """Found at this time or later; unix seconds, UTC."""
    until: float | None = None
    """Found before this time."""
    after: int | None = None
    """Cursor of the last row read; results continue after it, in the query's order."""
    sites: tuple[int, ...] | None = None
    """Site ids; an empty tuple finds nothing."""
    tag: str | None = None
    """Pages of the sites with this tag, and those that its topics hold for relevant or doubtful."""
    topic: int | None = None
    """Id of a topic that scored them; an unknown one finds nothing."""
    verdict: str | None = None
    """The verdict of *topic*, or of any topic."""
    hidden_verdict: str | None = None
    """A verdict of *topic* to exclude; ignored without a topic."""
    min_score: float | None = None
    """Minimum score, 0 to 1, of *topic* or of any topic."""
    language: str | None = None
    """A primary subtag such as ``zh`` (BCP 47); longer tags are truncated."""
    read: bool | None = None
    """True = read only, False = unread only."""
    starred: bool | None = None
    text: str = ""
    """Words required in title or text; see :func:`store.search.words.read_query`."""
    include: tuple[str, ...] = ()
    """Words or phrases, at least one of which must be in title or text."""
    exclude: tuple[str, ...] = ()
    """Words or phrases that must not be in title or text."""
    among: tuple[int, ...] | None = None
    """Page ids that alone are listed, at most some thousands."""
    limit: int = 50
    order: str = "newest"
    """``newest`` first, to browse, or ``oldest`` first, to follow."""


@dataclass(frozen=True, slots=True)
class NewsAnswer:
    """A batch of results."""

    rows: tuple[AnnouncedPage, ...]
    cursor: int | None
    """Continues the query; its own cursor if nothing was found."""
    more: bool
    """More rows follow now."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of announced pages, of one site or all."""

    announced: int = 0
    unread: int = 0
    starred: int = 0


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A change of a page and its cause."""

    id: int
    at: float
    kind: str
    """A :class:`~store.enums.ChangeKind`."""
    detail: str
    hub_id: int | None
    hub_url: str | None
    """The hub that showed it (added), or the page itself."""
    body_before: str | None
    body_after: str | None
    """MD5s of bodies; the page cache may have pruned them."""


@dataclass(frozen=True, slots=True)
class Version:
    """A body of a page, current until the next version."""

    at: float
    body_md5: str


@dataclass(frozen=True, slots=True)
class StoredText:
    """A page's latest text."""

    title: str
    text: str
    """Empty if only the title is known."""
    md5: str | None
    """MD5 of its body."""
    language: str | None
    cluster: int | None
    at: float
    forgotten_at: float | None = None
    """When the text was forgotten for its age; None = it was not."""


@dataclass(frozen=True, slots=True)
class PageDetail:
    """Everything about one page, for its detail view."""

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
    """The rule that decided last whether it is announced, a ``store.rules.Rule``."""
    body_md5: str | None
    moved_to: str | None
    """URL it moved to."""
    changes_from: float | None
    """Time of the latest expired change: earlier history is gone. None = complete."""
    is_hub: bool = False
    news: AnnouncedPage | None = None
    """None = not announced as new, so it cannot be marked."""
    text: StoredText | None = None
    topics: tuple[TopicMark, ...] = ()
    history: tuple[HistoryEntry, ...] = ()
    next_refresh_at: float | None = None


@dataclass(frozen=True, slots=True)
class SavedSearchRow:
    """A saved query."""

    name: str
    query: str
    """JSON, as given."""
    created_at: float
    changed_at: float
