"""What a topic shows of the latest announced pages, and would show after a change; nothing is stored.

::

    a topic and its examples ── learn ── model ── judge the same pages ── shown, before and after ──> Preview

Pages are judged by their words alone, without vectors: counts can differ from those of the list.
A page is shown if it is relevant or doubtful, and has the words that narrow the topic. What a user said of
a page holds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from classifier.words.values import PageText, Verdict
from incremental.base.texts import Text
from incremental.base.urls import canonical_key
from incremental.topics.judging import is_empty
from store import Store
from store.answers import NewQuery
from store.answers.announced import AnnouncedPage
from store.enums import ExampleOrigin
from store.topics.values import ExampleRow, TopicRow

if TYPE_CHECKING:
    from classifier.topic.model import TopicModel
    from incremental.topics.model_store import TopicModelStore

LATEST = 200


@dataclass(frozen=True, slots=True)
class Version:
    """A topic: current, past or proposed. *row* may be unsaved, with the id 0."""

    row: TopicRow
    examples: Sequence[ExampleRow]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a change of a topic does to its list. Pages are the newest first."""

    read: int
    """How many of the latest pages with a text were judged."""
    shown: list[AnnouncedPage]
    added: list[AnnouncedPage]
    """Those shown that were not shown before."""
    removed: list[AnnouncedPage]

    def said(self, tense: str) -> Text:
        """Return it as a sentence; *tense*: ``now`` = done, ``would`` = not done yet."""
        if not self.read:
            return Text("preview.nothing")
        values = {"n": self.read, "shown": len(self.shown)}
        if not (self.added or self.removed):
            return Text(f"preview.{tense}_same", **values)
        more = {"added": len(self.added), "removed": len(self.removed)}
        return Text(f"preview.{tense}", **values, **more)


class LatestPages:
    """The latest announced pages that have a text."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._texts: dict[int, PageText] = {}
        self.rows: list[AnnouncedPage] = []
        for row in store.answers.new(NewQuery(limit=LATEST)).rows:
            kept = store.answers.text(row.page_id)
            if kept is None:
                continue
            text = PageText(row.url, kept.title, body=kept.text, language=kept.language)
            if not is_empty(text):
                self._texts[row.page_id] = text
                self.rows.append(row)

    def shown(self, model: TopicModel | None, version: Version) -> set[int]:
        """Return the ids of those that a topic shows; *model* None = it cannot judge yet."""
        if model is None or not self.rows:
            return set()
        judged = model.judge_many([self._texts[row.page_id] for row in self.rows])
        said = {one.canonical_key: one.origin for one in version.examples}
        found = set()
        for row, relevance in zip(self.rows, judged, strict=True):
            origin = said.get(canonical_key(row.url), ExampleOrigin.EXAMPLE)
            if origin == ExampleOrigin.EXAMPLE:
                taken = relevance.verdict != Verdict.IRRELEVANT
            else:
                taken = origin == ExampleOrigin.RELEVANT
            if taken:
                found.add(row.page_id)
        return self._with_words(found, version.row)

    def _with_words(self, pages: set[int], row: TopicRow) -> set[int]:
        include, exclude = json.loads(row.include), json.loads(row.exclude)
        if not pages or not (include or exclude):
            return pages
        asked = NewQuery(
            among=tuple(pages), include=tuple(include), exclude=tuple(exclude), limit=LATEST
        )
        return {one.page_id for one in self._store.answers.new(asked).rows}

    def change(self, before: set[int], after: set[int]) -> Preview:
        """Return what differs."""

        def of(ids: set[int]) -> list[AnnouncedPage]:
            return [row for row in self.rows if row.page_id in ids]

        return Preview(len(self.rows), of(after), of(after - before), of(before - after))


def previewed(
    store: Store, models: TopicModelStore, before: Version | None, after: Version
) -> Preview:
    """Return what a topic would show as *after*, beside what it shows as *before*, if there was any.

    Both learn now, from the same pages: only the change makes a difference.
    """
    pages = LatestPages(store)
    shown = pages.shown(models.trial(after.row, after.examples), after)
    if before is None:
        return pages.change(shown, shown)
    return pages.change(pages.shown(models.trial(before.row, before.examples), before), shown)
