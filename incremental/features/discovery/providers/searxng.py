"""SearXNG's JSON API: a self-hosted metasearch engine.

Its settings must enable the format: ``search: formats: [html, json]``. Like every non-public address, a
local instance must be in ``fetch.allowed_hosts``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
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
# Approximate number of results per result page.
RESULTS_PER_PAGE = 10
# Result pages requested per query.
MAX_PAGES = 5


class SearxngProvider(SearchProvider):
    """Queries the instance at *base_url* (``https://search.example.org``); the rest as its base."""

    name = "searxng"

    def __init__(
        self, fetch: Fetch, base_url: str, *, related_query: str = "", linkers_query: str = ""
    ) -> None:
        super().__init__(related_query=related_query, linkers_query=linkers_query)
        self._fetch = fetch
        self._address = base_url.rstrip("/") + "/search"

    def search(self, query: str, count: int, page: int = 1, /) -> SearchAnswer:
        """Return up to *count* pages, requesting further result pages while there are any."""
        several = min(-(-count // RESULTS_PER_PAGE), MAX_PAGES)
        first = 1 + (page - 1) * several
        answer = self._ask(query, first, count)
        for number in range(first + 1, first + several):
            if len(answer.results) >= count or answer.status is not SearchStatus.ANSWERED:
                break
            more = self._ask(query, number, count)
            known = {result.url for result in answer.results}
            fresh = tuple(result for result in more.results if result.url not in known)
            if not fresh:
                break
            answer = replace(answer, results=(*answer.results, *fresh)[:count])
        return answer

    def _ask(self, query: str, page: int, count: int) -> SearchAnswer:
        asked = {"q": query[:MAX_QUERY_CHARS], "format": "json", "pageno": str(page)}
        headers = {"Accept": "application/json"}
        response = self._fetch(Request(f"{self._address}?{urlencode(asked)}", headers=headers))
        return answer_of(response, ("results",), "content", count)
