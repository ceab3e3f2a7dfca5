"""What a topic shows of the latest announced pages, and would show after a change; nothing is stored.

::

    a topic and its examples ── learn ── model ── judge the same pages ── shown, before and after ──> Preview

Once the topic has changed, the daemon judges the same pages in the same way, with the same vectors. A page
is shown if it is relevant or doubtful, and has the words that narrow the topic. What a user said of a page
holds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from classifier.words.values import PageText, Verdict
from incremental.base.attempts import attempt
from incremental.base.clock import Clock
from incremental.base.texts import Text
from incremental.base.urls import canonical_key
from incremental.topics.latest import latest_pages, read_again
from incremental.visit.page_texts import is_at_hand
from store import Store
from store.answers import NewQuery
from store.answers.announced import AnnouncedPage
from store.enums import ExampleOrigin
from store.topics.values import ExampleRow, TopicRow

if TYPE_CHECKING:
    from classifier.topic.model import TopicModel
    from incremental.topics.model_store import TopicModelStore

# How long pages are read anew for one preview.
PATIENCE_SECONDS: Final = 3.0


@dataclass(frozen=True, slots=True)
class Version:
    """A topic: current, past or proposed. *row* may be unsaved, with the id 0."""

    row: TopicRow
    examples: Sequence[ExampleRow]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a change of a topic does to its list. Pages are the newest first."""

    read: int
    """How many of the latest pages were read and judged."""
    latest: int
    """How many there are."""
    shown: list[AnnouncedPage]
    added: list[AnnouncedPage]
    """Those shown that were not shown before."""
    removed: list[AnnouncedPage]

    def said(self, tense: str) -> Text:
        """Return it as a sentence; *tense*: ``now`` = done, ``would`` = not done yet."""
        if not self.read:
            return Text("preview.nothing")
        which = "pages" if self.read == self.latest else "pages_of"
        pages = Text(f"preview.{which}", n=self.read, latest=self.latest)
        values = {"pages": pages, "shown": len(self.shown)}
        if not (self.added or self.removed):
            return Text(f"preview.{tense}_same", **values)
        more = {"added": len(self.added), "removed": len(self.removed)}
        return Text(f"preview.{tense}", **values, **more)


class LatestPages:
    """The latest announced pages that have a text, as many as can be read while somebody waits."""

    def __init__(self, store: Store, models: TopicModelStore, clock: Clock) -> None:
        self._store = store
        self._texts: dict[int, PageText] = {}
        self._latest = latest_pages(store)
        until = clock.monotonic() + PATIENCE_SECONDS
        for page in self._latest:
            # A hostile page takes seconds, and here no other process bounds it; the next preview goes on.
            if is_at_hand(page) or clock.monotonic() < until:
                text = attempt(partial(read_again, store, models, page))
                if isinstance(text, PageText):
                    self._texts[page.page_id] = text
        asked = NewQuery(among=tuple(self._texts), limit=max(len(self._texts), 1))
        self.rows: Sequence[AnnouncedPage] = store.answers.new(asked).rows

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
            among=tuple(pages), include=tuple(include), exclude=tuple(exclude), limit=len(pages)
        )
        return {one.page_id for one in self._store.answers.new(asked).rows}

    def change(self, before: set[int], after: set[int]) -> Preview:
        """Return what differs."""

        def of(ids: set[int]) -> list[AnnouncedPage]:
            return [row for row in self.rows if row.page_id in ids]

        read, latest = len(self.rows), len(self._latest)
        return Preview(read, latest, of(after), of(after - before), of(before - after))


def previewed(
    store: Store, models: TopicModelStore, clock: Clock, before: Version | None, after: Version
) -> Preview:
    """Return what a topic would show as *after*, beside what it shows as *before*, if there was any.

    What is proposed learns now, from the pages that are there; so does what was, if it is not what is stored.
    """
    pages = LatestPages(store, models, clock)

    def shown(version: Version) -> set[int]:
        return pages.shown(_model(store, models, version), version)

    now = shown(after)
    return pages.change(now if before is None else shown(before), now)


def _model(store: Store, models: TopicModelStore, version: Version) -> TopicModel | None:
    """Return what a topic judges with, if it is the stored one, or else what it would learn."""
    row, examples = version.row, list(version.examples)
    stored = next((one for one in store.topics.topics() if one.id == row.id), None)
    learned = bool(row.version) and row.learned_at == row.changed_at
    same = stored is not None and replace(stored, name=row.name) == row
    if learned and same and examples == store.topics.examples(row.id):
        return models.model(row)
    return models.trial(row, examples)
