"""The latest pages: those that a changed topic judges again, and that a preview counts."""

from __future__ import annotations

from typing import Final

from store import Store
from store.answers import NewQuery
from store.topics import YOU
from store.topics.values import KeptPage, TopicRow

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
