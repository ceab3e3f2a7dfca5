"""What the reading list shows: filters as they stand in addresses and saved searches, and its rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from incremental.urls import identity
from store import Store
from store.answers import NewsRow, TopicMark

_MOST_TERMS = 6


@dataclass(frozen=True)
class Teaching:
    """Which topic a click on "relevant" teaches, and what was said of the pages of a list before."""

    topics: Mapping[int, str]
    """Names by id."""
    chosen: int | None
    said: Mapping[tuple[int, str], str]

    def topic_of(self, row: NewsRow) -> int | None:
        """Return the topic that a row's buttons teach: the chosen, the best fitting, or the only one."""
        if self.chosen in self.topics:
            return self.chosen
        if row.topics:
            return max(row.topics, key=lambda mark: mark.score).topic_id
        return next(iter(self.topics)) if len(self.topics) == 1 else None

    def said_of(self, row: NewsRow) -> str:
        """Return relevant, irrelevant or nothing."""
        topic = self.topic_of(row)
        return "" if topic is None else self.said.get((topic, identity(row.url)), "")


def teaching(store: Store, rows: Iterable[NewsRow], chosen: int | None) -> Teaching:
    """Look up what the rows of a list need for their buttons."""
    topics = {topic.id: topic.name for topic in store.topics.topics()}
    if not topics:
        return Teaching({}, None, {})
    return Teaching(topics, chosen, store.topics.said_of([identity(row.url) for row in rows]))


def terms_of(mark: TopicMark) -> str:
    """Return the terms that made a topic's score, the weightiest first."""
    try:
        terms = msgspec.json.decode(mark.terms, type=list[tuple[str, float]])
    except (msgspec.ValidationError, msgspec.DecodeError):
        return ""
    return ", ".join(f"{term} {share:+.2f}" for term, share in terms[:_MOST_TERMS])


def following(cursor: int, rows: Sequence[NewsRow]) -> int:
    """Return the cursor behind which is what these rows do not show yet."""
    return max([cursor, *(row.cursor for row in rows)])
