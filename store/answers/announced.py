"""An announced page as every interface gets it, with its topic scores."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

# The range of datetime; a site may give any number as a date.
_FIRST, _LAST = -6e10, 8e10


def moment_of(at: float | None) -> datetime | None:
    """Return unix seconds as an aware datetime in UTC; None if None or out of range."""
    if at is None or not _FIRST < at < _LAST:
        return None
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=at)


@dataclass(frozen=True, slots=True)
class TopicMark:
    """A topic's score of a page."""

    topic_id: int
    topic: str
    score: float
    verdict: str
    fetched: bool
    """False = guessed from the link, before the page was fetched."""
    terms: str
    """JSON list of [term, share] that explains the score; of a guess, the example that the link is like."""


@dataclass(frozen=True, slots=True)
class AnnouncedPage:
    """A page announced as new, alone or with a backfill event.

    Texts are as the site sent them, unescaped. Times are unix seconds, UTC.
    """

    cursor: int
    """Continues a query after this row."""
    page_id: int
    url: str
    title: str
    """Empty if the page was not fetched; see :attr:`name`."""
    anchor: str
    site: str
    site_id: int
    found_at: float
    published_at: float | None
    hub_id: int | None
    hub_url: str | None
    """The first hub that showed it."""
    language: str | None
    state: str
    """A :class:`~store.enums.PageState`."""
    read_at: float | None = None
    starred_at: float | None = None
    topics: tuple[TopicMark, ...] = ()
    cluster: int | None = None
    """Id shared by near-duplicates; None = too little text."""
    copies: int = 0
    """Other pages in its cluster."""
    excerpt: str = ""
    """Page text around the search terms, else its beginning; empty if no text is stored."""
    event: int | None = None
    """Id of its backfill event; None = announced alone."""

    @property
    def name(self) -> str:
        """The title, else the anchor text."""
        return self.title or self.anchor
