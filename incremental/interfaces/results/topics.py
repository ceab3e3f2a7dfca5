"""Topics, why the list of one is empty, and what a change of one would do to its list."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from incremental.base.clock import Clock
from incremental.base.lookup import find_topic
from incremental.base.texts import read_text
from incremental.interfaces.results.schema import Page, page_result, result_of
from incremental.settings import Settings
from incremental.topics.editing import draft, edited, with_examples
from incremental.topics.judging import warnings_of
from incremental.topics.previewing import Preview, Version, previewed
from store import Store
from store.answers import NewQuery
from store.enums import ExampleOrigin, TopicState
from store.topics.values import TopicRow

_VERDICTS = ("relevant", "doubtful", "irrelevant", "guess")
# Looked at, of the latest.
MOST_JUDGED = 200


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
                examples=examples.get(ExampleOrigin.EXAMPLE, 0),
                corrections=examples.get(ExampleOrigin.RELEVANT, 0)
                + examples.get(ExampleOrigin.IRRELEVANT, 0),
                pages={verdict: pages.get(verdict, 0) for verdict in _VERDICTS},
                warnings=warnings_of(row),
            )
        )
    return found


def topic_result(store: Store, row: TopicRow) -> Topic:
    """Return one topic."""
    return next(topic for topic in topic_results(store) if topic.id == row.id)


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of the pages of a topic's empty list, of the latest :data:`MOST_JUDGED` at most."""

    irrelevant: int
    waiting: int
    """New pages without a judgement of the topic."""


def judged_for(store: Store, query: NewQuery) -> Judged:
    """Count the pages behind a topic's list that hides irrelevant pages and is empty."""
    of_topic = replace(query, hidden_verdict=None, min_score=None, limit=MOST_JUDGED)
    irrelevant = len(store.answers.new(of_topic).rows)
    every = len(store.answers.new(replace(of_topic, topic=None)).rows)
    return Judged(irrelevant, max(every - irrelevant, 0))


def why_empty(store: Store, query: NewQuery, topic: str) -> str:
    """Say why no page of a topic is listed; empty = there is no new page, or no topic."""
    if not topic:
        return ""
    row, found = find_topic(store, topic), judged_for(store, query)
    waiting = f"{_pages(found.waiting)} not scored yet for {row.name}"
    if row.state != TopicState.READY and found.waiting:
        waiting += f", which is {row.state}" + (f": {read_text(row.why)}" if row.why else "")
    if not found.irrelevant or query.hidden_verdict is None:
        return waiting if found.waiting else ""
    number = _pages(found.irrelevant)
    if query.min_score is not None:
        none = f"no new page scores {query.min_score:g} or more for {row.name}"
    else:
        none = f"{number} not relevant to {row.name}: --verdict irrelevant"
    return none + (f"; {waiting}" if found.waiting else "")


def _pages(number: int) -> str:
    return "1 new page" if number == 1 else f"{number} new pages"


@dataclass(frozen=True, slots=True)
class TopicPreview:
    """What a topic would show of the latest announced pages; the newest come first."""

    read: int
    """How many of them, 200 at most, have a text, could be read in time and were judged."""
    shown: list[Page]
    """Those it would show: relevant or doubtful, with the words that narrow it."""
    added: list[Page]
    """Those of them that it does not show now."""
    removed: list[Page]
    """Those that it shows now and would not."""
    sentence: str
    """In English."""


def preview_result(found: Preview) -> TopicPreview:
    """Return a preview as a result."""
    shown, added, removed = (
        [page_result(row) for row in rows] for rows in (found.shown, found.added, found.removed)
    )
    return TopicPreview(found.read, shown, added, removed, found.said("would"))


def preview_of_edit(  # noqa: PLR0913 - what a change is made of
    store: Store,
    settings: Settings,
    clock: Clock,
    row: TopicRow,
    changes: Mapping[str, Any],
    *,
    urls: Sequence[str] = (),
    origin: ExampleOrigin = ExampleOrigin.EXAMPLE,
) -> Preview:
    """Try *changes* of a topic, as of ``edit_topic``, and further pages to learn from.

    Raises:
        InputError: a value is not usable.
    """
    examples = with_examples(store, row, urls, origin, now=clock.now())
    before = Version(row, store.topics.examples(row.id))
    return _tried(store, settings, clock, before, Version(edited(store, row, **changes), examples))


def preview_of_new(  # noqa: PLR0913 - what a topic is made of
    store: Store,
    settings: Settings,
    clock: Clock,
    *,
    keywords: Sequence[str],
    description: str,
    urls: Sequence[str],
) -> Preview:
    """Try a topic that is not there yet; raises InputError as ``begin`` does."""
    now = clock.now()
    row = draft(keywords, description, examples=urls, now=now)
    examples = with_examples(store, row, urls, ExampleOrigin.EXAMPLE, now=now)
    return _tried(store, settings, clock, None, Version(row, examples))


def preview_of_mark(
    store: Store, settings: Settings, clock: Clock, row: TopicRow, key: str
) -> Preview:
    """Return what the verdict on a page, given by its canonical key, did to a topic's list."""
    examples = store.topics.examples(row.id)
    before = Version(row, [one for one in examples if one.canonical_key != key])
    return _tried(store, settings, clock, before, Version(row, examples))


def _tried(
    store: Store, settings: Settings, clock: Clock, before: Version | None, after: Version
) -> Preview:
    from incremental.daemon.assembly import make_topic_models  # noqa: PLC0415 - it loads numbers

    with make_topic_models(store, settings, clock) as models:
        return previewed(store, models, clock, before, after)
