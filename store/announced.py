"""An announced page, as every interface gets it, and what topics make of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_FIRST, _LAST = -6e10, 8e10
"""What a datetime can hold; beyond it nothing is meant."""


def moment_of(at: float | None) -> datetime | None:
    """Return unix seconds as an aware datetime, UTC; None for none, and for what no calendar holds."""
    if at is None or not _FIRST < at < _LAST:
        return None
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=at)


@dataclass(frozen=True, slots=True)
class TopicMark:
    """What a topic makes of a page."""

    topic_id: int
    topic: str
    score: float
    verdict: str
    fetched: bool
    """False = a guess from the link, before the page itself was read."""
    terms: str
    """JSON list of [term, share]: why."""


@dataclass(frozen=True, slots=True)
class AnnouncedPage:
    """A page that was announced as new, alone or with an event of older pages.

    Texts are as the site sent them: whoever shows them escapes them. Times are unix seconds, UTC.
    """

    cursor: int
    """Give it to the query to go on from here."""
    page_id: int
    url: str
    title: str
    """Empty when the page was not read; then show *anchor*: see :attr:`name`."""
    anchor: str
    site: str
    site_id: int
    found_at: float
    published_at: float | None
    hub_id: int | None
    hub_url: str | None
    """The hub that showed it first."""
    language: str | None
    state: str
    """As in the table of pages: known, gone, ..."""
    read_at: float | None = None
    starred_at: float | None = None
    topics: tuple[TopicMark, ...] = ()
    cluster: int | None = None
    """Pages with nearly the same text share it; None = no text, or too short a one."""
    copies: int = 0
    """How many other pages share it."""
    excerpt: str = ""
    """Of the page's text, around the words that were looked for; only when there were any."""
    event: int | None = None
    """Id of the backfill that it came with; None = it was announced alone."""

    @property
    def name(self) -> str:
        """The title; the text of the link where the page was not read."""
        return self.title or self.anchor

    @property
    def found(self) -> datetime:
        """When it was found."""
        return datetime.fromtimestamp(self.found_at, UTC)

    @property
    def published(self) -> datetime | None:
        """When it says that it was published."""
        return moment_of(self.published_at)
