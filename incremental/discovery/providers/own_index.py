"""Our own index as a search provider: the full text of pages that were read. Costs no request."""

from __future__ import annotations

from incremental.discovery.search_provider import (
    MAX_TEXT_CHARS,
    SearchAnswer,
    SearchProvider,
    SearchResult,
    SearchStatus,
)
from store import Store
from store.answers import NewQuery


class OwnIndexProvider(SearchProvider):
    """Asks the store. Who links where is known from the link graph, not from the index."""

    name = "own"

    def __init__(self, store: Store) -> None:
        self._store = store

    def search(self, query: str, count: int, page: int = 1, /) -> SearchAnswer:
        """Return up to *count* announced pages that hold the words, the newest first."""
        limit = max(min(count * page, 1_000), 1)
        answer = self._store.answers.new(NewQuery(text=query, limit=limit))
        found = tuple(
            SearchResult(row.url, row.name[:MAX_TEXT_CHARS])
            for row in answer.rows[count * (page - 1) :]
        )
        return SearchAnswer(SearchStatus.ANSWERED, found)
