"""SearXNG's JSON API: a self-hosted metasearch engine.

Its settings must enable the format: ``search: formats: [html, json]``. Like every non-public address, a
local instance must be in ``fetch.allowed_hosts``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from html import unescape
from typing import Any
from urllib.parse import urlencode

import w3lib.html

from incremental.base.urls import normalize
from incremental.features.discovery.search_provider import (
    MAX_QUERY_CHARS,
    MAX_TEXT_CHARS,
    SearchAnswer,
    SearchProvider,
    SearchResult,
    SearchStatus,
)
from incremental.fetch.status import FetchStatus, Request, Response

Fetch = Callable[[Request], Response]
# Approximate number of results per result page.
RESULTS_PER_PAGE = 10
# Result pages requested per query.
MAX_PAGES = 5
_REFUSED = frozenset({401, 403})


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
        return answer_of(response, count)


def answer_of(response: Response, count: int) -> SearchAnswer:
    """Read the results in a JSON response; never raises because of it.

    Duplicates, and results without an http(s) URL, are skipped.
    """
    problem = _problem(response)
    if problem is not None:
        return problem
    try:
        found: Any = json.loads(response.body)
    except (ValueError, RecursionError):
        return _not_understood("not JSON")
    if not isinstance(found, Mapping):
        return _not_understood("no field 'results'")
    results = found.get("results", [])
    if not isinstance(results, list):
        return _not_understood("'results' is not a list")
    return SearchAnswer(SearchStatus.ANSWERED, tuple(_results(results))[:count])


def _problem(response: Response) -> SearchAnswer | None:
    if response.status is FetchStatus.FETCHED:
        return None
    if response.http_code in _REFUSED:
        detail = f"HTTP {response.http_code}: the key, or the right to ask for JSON, is missing"
        return SearchAnswer(SearchStatus.DENIED, detail=detail)
    if response.status is FetchStatus.RATE_LIMITED:
        wait = response.retry_after_seconds
        return SearchAnswer(
            SearchStatus.RATE_LIMITED, detail="too many requests", retry_after_seconds=wait
        )
    return SearchAnswer(SearchStatus.UNAVAILABLE, detail=response.detail or response.status.value)


def _not_understood(why: str) -> SearchAnswer:
    detail = f"not a response of the provider's API: {why}"
    return SearchAnswer(SearchStatus.NOT_UNDERSTOOD, detail=detail)


def _results(found: Iterable[object]) -> Iterable[SearchResult]:
    seen = set()
    for one in found:
        if not isinstance(one, Mapping) or not isinstance(one.get("url"), str):
            continue
        url = normalize(one["url"])
        if url is None or url in seen:
            continue
        seen.add(url)
        yield SearchResult(url, _text(one.get("title")), _text(one.get("content")))


def _text(value: object) -> str:
    if not isinstance(value, str):
        return ""
    cut = value[: 4 * MAX_TEXT_CHARS]
    plain = unescape(w3lib.html.remove_tags(cut))
    return " ".join(plain.replace("\0", "").split())[:MAX_TEXT_CHARS]
