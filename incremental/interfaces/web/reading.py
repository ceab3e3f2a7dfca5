"""Rows, events and feedback buttons of the reading list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from incremental.base.urls import canonical_key
from incremental.interfaces.filters import Filters
from store import Store
from store.answers import AnnouncedPage, TopicMark
from store.crawl.backfills import BackfillEvent, BackfillQuery

_MOST_TERMS = 6
_MOST_EVENTS = 200


@dataclass(frozen=True)
class Feedback:
    """The topics that a click on "relevant" can train, and earlier answers for the pages of a list."""

    topics: Mapping[int, str]
    """Names by id."""
    chosen: int | None
    said: Mapping[tuple[int, str], str]

    def topic_of(self, row: AnnouncedPage) -> int | None:
        """Return the topic that a row's buttons train: the chosen, best scoring, or only one."""
        if self.chosen in self.topics:
            return self.chosen
        if row.topics:
            return max(row.topics, key=lambda mark: mark.score).topic_id
        return next(iter(self.topics)) if len(self.topics) == 1 else None

    def said_of(self, row: AnnouncedPage) -> str:
        """Return relevant, irrelevant or an empty string."""
        topic = self.topic_of(row)
        return "" if topic is None else self.said.get((topic, canonical_key(row.url)), "")


def feedback(store: Store, rows: Iterable[AnnouncedPage], chosen: int | None) -> Feedback:
    """Look up topics and earlier answers for a list's buttons."""
    topics = {topic.id: topic.name for topic in store.topics.topics()}
    if not topics:
        return Feedback({}, None, {})
    return Feedback(topics, chosen, store.topics.said_of([canonical_key(row.url) for row in rows]))


def terms_of(mark: TopicMark, word: Callable[[str], str] = str) -> str:
    """Return the terms behind a topic's judgement, strongest first; *word* gives what is shown for each."""
    terms = _terms(mark) if mark.fetched else []
    return ", ".join(f"{word(term)} {share:+.2f}" for term, share in terms[:_MOST_TERMS])


def like_of(mark: TopicMark) -> str:
    """Return the URL of the example that a guessed link is like; empty = words alone, or judged."""
    return next((url for url, _ in _terms(mark)), "") if not mark.fetched else ""


def _terms(mark: TopicMark) -> list[tuple[str, float]]:
    try:
        return msgspec.json.decode(mark.terms, type=list[tuple[str, float]])
    except (msgspec.ValidationError, msgspec.DecodeError):
        return []


def following(
    cursor: int, rows: Sequence[AnnouncedPage], events: Sequence[BackfillEvent] = ()
) -> int:
    """Return the cursor after these rows and events."""
    return max([cursor, *(row.cursor for row in rows), *(event.id for event in events)])


@dataclass(frozen=True)
class Between:
    """A part of the list: above one cursor and below another, None = no bound."""

    above: int | None = None
    below: int | None = None


def gained(store: Store, filters: Filters, part: Between, now: float) -> list[BackfillEvent]:
    """Return the backfills in a part of the list.

    Events have only a site, its tags and a time, so any other filter excludes them.
    """
    if filters.q or filters.topic or filters.verdict or filters.language:
        return []
    if filters.show == "starred":
        return []
    asked = filters.query(now)
    sites = asked.sites
    if filters.tag:
        tagged = store.tags.sites_tagged(filters.tag)
        sites = tagged if sites is None else tuple(one for one in sites if one in tagged)
    return store.backfills.events(
        BackfillQuery(
            since=asked.since,
            sites=sites,
            above=part.above,
            after=part.below,
            unread=filters.show == "unread",
            limit=_MOST_EVENTS,
        )
    )


def merged(
    rows: Sequence[AnnouncedPage], events: Sequence[BackfillEvent]
) -> list[AnnouncedPage | BackfillEvent]:
    """Merge rows and events, newest first."""
    return sorted([*rows, *events], key=_cursor, reverse=True)


def _cursor(one: AnnouncedPage | BackfillEvent) -> int:
    return one.id if isinstance(one, BackfillEvent) else one.cursor
