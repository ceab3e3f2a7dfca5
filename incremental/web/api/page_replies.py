"""The shapes of what the API tells of pages."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from incremental.web.api.replies import Moment, Order, Reply, RowId


class Mark(Reply):
    """What a topic makes of a page."""

    topic_id: int
    topic: str
    score: float
    verdict: str
    fetched: bool
    """False = a guess from the link, before the page itself was read."""
    terms: str
    """JSON list of [term, share]: why."""


class NewPage(Reply):
    """A page that was told as new. Texts are as the site sent them: escape them."""

    cursor: int
    id: int
    url: str
    title: str
    anchor: str
    site: str
    site_id: int
    found_at: Moment
    published_at: Moment
    hub_id: int | None
    hub_url: str | None
    language: str | None
    state: str
    read_at: Moment
    starred_at: Moment
    topics: list[Mark]
    copies: int
    excerpt: str


class NewPages(Reply):
    """New pages, and the cursor to go on from."""

    pages: list[NewPage]
    cursor: int | None
    more: bool
    """There is more behind the cursor now."""


class Backfill(Reply):
    """Older pages that a list gained at one visit, announced as one. Texts are as the site sent them."""

    id: int
    """Also its cursor, in one order with those of new pages."""
    site: str
    site_id: int
    hub_id: int | None
    hub_url: str | None
    found_at: Moment
    folder: str
    pages: int
    read_at: Moment
    page_id: int
    """The first of its pages."""
    url: str
    title: str


class Backfills(Reply):
    """Such events, and the cursor behind which is what comes after the latest of them."""

    backfills: list[Backfill]
    cursor: int | None


class OlderPage(Reply):
    """A page of such an event."""

    cursor: int
    event: int
    page_id: int
    url: str
    title: str
    anchor: str
    site: str
    site_id: int
    found_at: Moment
    published_at: Moment
    hub_id: int | None
    hub_url: str | None
    language: str | None
    state: str


class BackfillPages(Reply):
    """Pages of an event, and the cursor to go on from."""

    pages: list[OlderPage]
    cursor: int | None


class Copy(Reply):
    """A page with nearly the same text."""

    page_id: int
    url: str
    title: str
    site: str
    first_seen_at: Moment
    published_at: Moment
    alike: float


class Page(Reply):
    """What is known of a page."""

    id: int
    url: str
    title: str
    anchor: str
    site: str
    site_id: int
    state: str
    language: str | None
    published_at: Moment
    first_seen_at: Moment
    looked_at: Moment
    is_hub: bool
    moved_to: str | None
    next_check_at: Moment
    told: NewPage | None
    topics: list[Mark]
    copies: list[Copy]


class PageText(Reply):
    """The text of a version of a page."""

    title: str
    text: str
    md5: str
    at: Moment


class PageVersion(Reply):
    """A body that a page had from a time on."""

    at: Moment
    body_md5: str


class Change(Reply):
    """Something that happened to a page."""

    id: int
    at: Moment
    kind: str
    detail: str
    hub_url: str | None
    body_before: str | None
    body_after: str | None


class Diff(Reply):
    """What a change changed."""

    before_at: Moment
    after_at: Moment
    summary: str
    pieces: list[tuple[str, str]]
    """(same, added or removed; text), in the order of reading."""
    ignored: list[tuple[str, str]]
    """(text, why it counts for nothing)."""


class Sighting(Reply):
    """A page on a hub, from when to when."""

    hub: int
    hub_url: str
    first_seen_at: Moment
    gone_at: Moment
    anchor: str
    position: int


class Visit(Reply):
    """One fetch of a page."""

    id: int
    at: Moment
    status: str
    http_code: int | None
    body_bytes: int
    elapsed_seconds: float
    links: int
    new_pages: int
    detail: str


class MarkOrder(Order):
    """Marks for pages that were told; what is left out stays as it is."""

    pages: Annotated[list[RowId], Field(min_length=1, max_length=1_000)]
    read: bool | None = None
    starred: bool | None = None
    topic: RowId | None = None
    """The topic that *relevant* is about."""
    relevant: bool | None = None

    @model_validator(mode="after")
    def _needs_topic(self) -> MarkOrder:
        if (self.topic is None) != (self.relevant is None):
            raise ValueError("topic and relevant go together")
        return self


class Marked(Reply):
    """The pages that were told, and are marked now."""

    pages: list[int]
