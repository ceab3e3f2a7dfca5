"""Topics."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from incremental.base.texts import read_text
from incremental.interfaces.results.schema import result_of
from incremental.topics.judging import EXAMPLE, IRRELEVANT, RELEVANT, warnings_of
from store import Store
from store.topics.values import TopicRow

_VERDICTS = ("relevant", "doubtful", "irrelevant", "guess")


@dataclass(frozen=True, slots=True)
class Topic:
    """What a user wants to read about."""

    id: int
    name: str
    state: str
    """waiting, ready or paused."""
    why: str
    method: str
    keywords: list[str]
    include: list[str]
    exclude: list[str]
    tags: list[str]
    description: str
    version: str | None
    """Of the trained model; null = not trained yet."""
    examples: int
    corrections: int
    """Pages marked as relevant or irrelevant."""
    pages: dict[str, int]
    """By verdict; ``guess`` = judged by the link only."""
    warnings: list[str]
    created_at: datetime
    learned_at: datetime | None


def topic_results(store: Store) -> list[Topic]:
    """Return all topics, by name."""
    judged, said = store.topics.counts(), store.topics.example_counts()
    tags = store.tags.of_topics()
    found = []
    for row in store.topics.topics():
        pages, examples = judged.get(row.id, {}), said.get(row.id, {})
        lists = {
            name: json.loads(getattr(row, name)) for name in ("keywords", "include", "exclude")
        }
        found.append(
            result_of(
                Topic,
                row,
                **lists,
                why=read_text(row.why),
                tags=tags.get(row.id, []),
                version=row.version or None,
                examples=examples.get(EXAMPLE, 0),
                corrections=examples.get(RELEVANT, 0) + examples.get(IRRELEVANT, 0),
                pages={verdict: pages.get(verdict, 0) for verdict in _VERDICTS},
                warnings=warnings_of(row),
            )
        )
    return found


def topic_result(store: Store, row: TopicRow) -> Topic:
    """Return one topic."""
    return next(topic for topic in topic_results(store) if topic.id == row.id)
