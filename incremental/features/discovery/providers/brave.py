"""Brave Search's web API. The key comes from the environment and is sent to Brave only."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

from incremental.features.discovery.providers.json_answers import answer_of
from incremental.features.discovery.search_provider import (
    MAX_QUERY_CHARS,
    SearchAnswer,
    SearchProvider,
    SearchStatus,
)
from incremental.fetch.status import Request, Response

Fetch = Callable[[Request], Response]
ADDRESS = "https://api.search.brave.com/res/v1/web/search"
KEY_VARIABLE = "BRAVE_SEARCH_API_KEY"
# Results per query.
MAX_COUNT = 20
# Brave's ``offset`` counts result pages from 0 to 9.
MAX_PAGE = 10


class BraveProvider(SearchProvider):
    """Queries Brave with *key*; *address* differs in tests and behind a gateway."""

    name = "brave"

    def __init__(self, fetch: Fetch, key: str, *, address: str = ADDRESS) -> None:
        self._fetch = fetch
        self._key = key
        self._address = address

    def search(self, query: str, count: int, page: int = 1, /) -> SearchAnswer:
        """Return up to *count* pages, at most :data:`MAX_COUNT`; none after :data:`MAX_PAGE`."""
        if not self._key:
            return SearchAnswer(SearchStatus.DENIED, detail=f"{KEY_VARIABLE} is not set")
        if page > MAX_PAGE:
            return SearchAnswer(SearchStatus.ANSWERED)
        asked = {"q": query[:MAX_QUERY_CHARS], "count": str(min(count, MAX_COUNT))}
        if page > 1:
            asked["offset"] = str(page - 1)
        headers = {"Accept": "application/json", "X-Subscription-Token": self._key}
        response = self._fetch(Request(f"{self._address}?{urlencode(asked)}", headers=headers))
        return answer_of(response, ("web", "results"), "description", count)
