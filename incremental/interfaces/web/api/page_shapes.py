"""Schemas of pages, built from the store's values."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, create_model, model_validator

from incremental.interfaces.web.api.schemas import (
    Moment,
    RequestSchema,
    ResponseSchema,
    RowId,
    shape_of,
)
from incremental.interfaces.web.changes import Difference
from store.answers import Copy, HistoryEntry, PageDetail, StoredText, Version
from store.answers.announced import AnnouncedPage, TopicMark
from store.crawl.backfills import BackfillEvent

_mark: Any = shape_of(TopicMark, terms=list[tuple[str, float]])
_announced: Any = shape_of(AnnouncedPage, leave=["page_id"], id=int, topics=list[_mark])
_event: Any = shape_of(BackfillEvent)
_copy: Any = shape_of(Copy, leave=["site_id", "found_at"])
NEW_PAGES: Any = create_model(
    "NewPages",
    __base__=ResponseSchema,
    __doc__="New pages, and the cursor to continue from; *more* = there are more now.",
    pages=(list[_announced], ...),
    cursor=(int | None, ...),
    more=(bool, ...),
)
_like: Any = shape_of(AnnouncedPage, leave=["page_id"], id=int, topics=list[_mark], likeness=float)
LIKE_PAGES: Any = create_model(
    "LikePages",
    __base__=ResponseSchema,
    __doc__="Pages like another, the most alike first; *likeness* from 0 to 1, to compare among them.",
    pages=(list[_like], ...),
)
BACKFILLS: Any = create_model(
    "Backfills",
    __base__=ResponseSchema,
    __doc__="Backfills, and the cursor after the latest.",
    backfills=(list[_event], ...),
    cursor=(int | None, ...),
)
BACKFILL_PAGES: Any = create_model(
    "BackfillPages",
    __base__=ResponseSchema,
    __doc__="Pages of a backfill, and the cursor to continue from.",
    pages=(list[_announced], ...),
    cursor=(int | None, ...),
)
PAGE: Any = shape_of(
    PageDetail,
    leave=["page_id", "canonical_key", "body_md5", "news", "text", "history"],
    id=int,
    announced=_announced | None,
    topics=list[_mark],
    copies=list[_copy],
)
PAGE_TEXT: Any = shape_of(StoredText, leave=["language", "cluster", "signature", "forgotten_at"])
PAGE_VERSIONS: Any = list[shape_of(Version)]  # type: ignore[misc]  # made of fields
CHANGES: Any = list[shape_of(HistoryEntry, leave=["hub_id"])]  # type: ignore[misc]  # likewise
DIFF: Any = shape_of(Difference)


class Sighting(ResponseSchema):
    """A page seen on a hub, with times."""

    hub: int
    hub_url: str
    first_seen_at: Moment
    gone_at: Moment
    anchor: str
    position: int


class Visit(ResponseSchema):
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


class MarkRequest(RequestSchema):
    """Marks for announced pages; omitted marks stay unchanged."""

    pages: Annotated[list[RowId], Field(min_length=1, max_length=1_000)]
    read: bool | None = None
    starred: bool | None = None
    topic: RowId | None = None
    """The topic that *relevant* is about."""
    relevant: bool | None = None

    @model_validator(mode="after")
    def _needs_topic(self) -> MarkRequest:
        if (self.topic is None) != (self.relevant is None):
            raise ValueError("topic and relevant go together")
        return self


class Marked(ResponseSchema):
    """Ids of the marked pages, announced ones only."""

    pages: list[int]
