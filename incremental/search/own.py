"""Our own index as a search provider: the full text of pages that were read. Costs no request."""

from __future__ import annotations

from incremental.discovery.search import MAX_TEXT_CHARS, SearchAnswer, SearchResult, SearchStatus
from store import Store
from store.answers import NewQuery


class OwnIndexProvider:
    """Asks the store."""

    name = "own"

    def __init__(self, store: Store) -> None:
        self._store = store

    def search(self, query: str, count: int, page: int = 1) -> SearchAnswer:
        """Return up to *count* told pages that hold the words, the newest first."""
        limit = max(min(count * page, 1_000), 1)
        answer = self._store.answers.new(NewQuery(text=query, limit=limit))
        found = tuple(
            SearchResult(row.url, row.name[:MAX_TEXT_CHARS])
            for row in answer.rows[count * (page - 1) :]
        )
        return SearchAnswer(SearchStatus.ANSWERED, found)

    def related(self, _url: str, _count: int) -> SearchAnswer:
        """There is no such operator; the page's own terms are asked for instead."""
        return SearchAnswer(SearchStatus.OFF, detail="the own index has no related operator")

    def linkers(self, _url: str, _count: int) -> SearchAnswer:
        """Who links where is known from the link graph, not from the index."""
        return SearchAnswer(SearchStatus.OFF, detail="the link graph answers that")
