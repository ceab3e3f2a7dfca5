"""Our own index as a search provider: the full text of announced pages. Costs no request."""

from __future__ import annotations

from incremental.features.discovery.search_provider import (
    MAX_TEXT_CHARS,
    SearchAnswer,
    SearchProvider,
    SearchResult,
    SearchStatus,
)
from store import Store
from store.answers import NewQuery


class OwnIndexProvider(SearchProvider):
    """Searches the store. Linkers come from the link graph instead."""

    name = "own"

    def __init__(self, store: Store) -> None:
        self._store = store

    def search(self, query: str, count: int, page: int = 1, /) -> SearchAnswer:
        """Return up to *count* announced pages that contain the words, newest first."""
        limit = max(min(count * page, 1_000), 1)
        answer = self._store.answers.new(NewQuery(text=query, limit=limit))
        found = tuple(
            SearchResult(row.url, row.name[:MAX_TEXT_CHARS])
            for row in answer.rows[count * (page - 1) :]
        )
        return SearchAnswer(SearchStatus.ANSWERED, found)
