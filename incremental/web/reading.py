"""What the reading list shows: filters as they stand in addresses and saved searches, and its rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from incremental.saved_searches import Filters
from incremental.urls import canonical_key
from store import Store
from store.answers import AnnouncedPage, TopicMark
from store.backfills import BackfillEvent, BackfillQuery

_MOST_TERMS = 6
_MOST_EVENTS = 200


@dataclass(frozen=True)
class Feedback:
    """Which topic a click on "relevant" teaches, and what was said of the pages of a list before."""

    topics: Mapping[int, str]
    """Names by id."""
    chosen: int | None
    said: Mapping[tuple[int, str], str]

    def topic_of(self, row: AnnouncedPage) -> int | None:
        """Return the topic that a row's buttons teach: the chosen, the best fitting, or the only one."""
        if self.chosen in self.topics:
            return self.chosen
        if row.topics:
            return max(row.topics, key=lambda mark: mark.score).topic_id
        return next(iter(self.topics)) if len(self.topics) == 1 else None

    def said_of(self, row: AnnouncedPage) -> str:
        """Return relevant, irrelevant or nothing."""
        topic = self.topic_of(row)
        return "" if topic is None else self.said.get((topic, canonical_key(row.url)), "")


def feedback(store: Store, rows: Iterable[AnnouncedPage], chosen: int | None) -> Feedback:
    """Look up what the rows of a list need for their buttons."""
    topics = {topic.id: topic.name for topic in store.topics.topics()}
    if not topics:
        return Feedback({}, None, {})
    return Feedback(topics, chosen, store.topics.said_of([canonical_key(row.url) for row in rows]))


def terms_of(mark: TopicMark) -> str:
    """Return the terms that made a topic's score, the weightiest first."""
    try:
        terms = msgspec.json.decode(mark.terms, type=list[tuple[str, float]])
    except (msgspec.ValidationError, msgspec.DecodeError):
        return ""
    return ", ".join(f"{term} {share:+.2f}" for term, share in terms[:_MOST_TERMS])


def following(
    cursor: int, rows: Sequence[AnnouncedPage], events: Sequence[BackfillEvent] = ()
) -> int:
    """Return the cursor behind which is what these rows and events do not show yet."""
    return max([cursor, *(row.cursor for row in rows), *(event.id for event in events)])


@dataclass(frozen=True)
class Between:
    """The part of the list that is shown: above one cursor and below another, None = to its end."""

    above: int | None = None
    below: int | None = None


def gained(store: Store, filters: Filters, part: Between, now: float) -> list[BackfillEvent]:
    """Return what lists gained of older pages, in the same part of the list as the rows shown.

    Events are of a site and a time; whatever else narrows the list asks what nobody has judged.
    """
    if filters.q or filters.topic or filters.verdict or filters.language:
        return []
    if filters.show == "starred":
        return []
    asked = filters.query(now)
    return store.backfills.events(
        BackfillQuery(
            since=asked.since,
            sites=asked.sites,
            above=part.above,
            after=part.below,
            unread=filters.show == "unread",
            limit=_MOST_EVENTS,
        )
    )


def merged(
    rows: Sequence[AnnouncedPage], events: Sequence[BackfillEvent]
) -> list[AnnouncedPage | BackfillEvent]:
    """Return rows and events as one list, the newest first."""
    return sorted([*rows, *events], key=_cursor, reverse=True)


def _cursor(one: AnnouncedPage | BackfillEvent) -> int:
    return one.id if isinstance(one, BackfillEvent) else one.cursor
