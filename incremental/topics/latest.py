"""The latest pages: those that a changed topic judges again, and that a preview counts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from classifier.words.values import PageText
from incremental.topics.judging import is_empty
from incremental.visit.page_texts import text_again
from store import Store
from store.answers import NewQuery
from store.topics import YOU
from store.topics.values import KeptPage, TopicRow

if TYPE_CHECKING:
    from incremental.sandbox import Read
    from incremental.topics.model_store import TopicModelStore


def read_again(
    store: Store, models: TopicModelStore, page: KeptPage, read: Read | None = None
) -> PageText | None:
    """Return the text of a page with its vector; None = its body is lost or has no word.

    *read* as in :func:`~incremental.visit.page_texts.text_again`.

    Announced pages as topics judge them again: a preview, a command and the daemon get the same.

    ::

        the pages announced last ── cached body ── read ── text by position ──┐
        vector that the topics' sample has of it, or else the one kept for    ├─> judged again
        searches, or else the one that *read* makes  ─────────────────────────┘

    In this order, because a page of the sample is its own neighbour only by exactly the same vector.
    """
    text = text_again(store, page, read)
    if text is None or is_empty(text):
        return None
    if models.embedder is None:
        return text
    known = models.meaning_of(text)
    if known is None:
        known = models.announced_meanings([page.page_id]).get(page.page_id, text.meaning)
    return replace(text, meaning=known)


# Also what a first topic is compared with.
LATEST: Final = 200


def latest_pages(store: Store) -> list[KeptPage]:
    """Return the pages announced last, newest first, of those that have a cached body."""
    rows = store.answers.new(NewQuery(limit=LATEST)).rows
    return store.topics.kept([row.page_id for row in rows])


def outdated_pages(store: Store, row: TopicRow) -> list[KeptPage]:
    """Return the latest pages, announced or visited, without a verdict of a topic's present model.

    What a user said of a page stays.
    """
    pages = dict.fromkeys([*latest_pages(store), *store.topics.kept_pages(limit=LATEST)])
    judged = store.topics.scores([page.page_id for page in pages], row.id)
    settled = {
        one.page_id
        for one in judged
        if one.method == YOU or (one.fetched and one.version == row.version)
    }
    return [page for page in pages if page.page_id not in settled]
