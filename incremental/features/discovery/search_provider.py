"""Queries to a search provider and their results; SearXNG's JSON API, a self-hosted metasearch engine.

Its settings must enable the format: ``search: formats: [html, json]``. Like every non-public address, a
local instance must be in ``fetch.allowed_hosts``.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import urlencode

from incremental.base.times import DAY
from incremental.base.urls import normalize
from incremental.fetch.status import FetchStatus, Request, Response

Fetch = Callable[[Request], Response]

MAX_QUERY_CHARS = 200
_REFUSED = frozenset({401, 403})
FIRST_PAUSE_SECONDS = 60.0


class SearchStatus(StrEnum):
    """How a query ended."""

    ANSWERED = "answered"
    """With results, or really without."""
    OFF = "off"
    """The provider lacks this operator."""
    DENIED = "denied"
    """The key is missing, wrong or not sufficient (401, 403)."""
    RATE_LIMITED = "rate_limited"
    NOT_UNDERSTOOD = "not_understood"
    """Not the promised format (a web page, other JSON)."""
    UNAVAILABLE = "unavailable"
    """No response: down, slow, no such host, not allowed."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A page found by a provider."""

    url: str


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The results of a query, best first, or why there are none."""

    status: SearchStatus
    results: tuple[SearchResult, ...] = ()
    detail: str = ""
    """What went wrong and the remedy, for display, without the key."""
    retry_after_seconds: float | None = None


class SearchProvider(ABC):
    """Finds pages by words. Each query costs one request.

    *related_query* and *linkers_query* are queries with ``{url}``, where its engines have such an operator
    (``related:{url}``); empty = not offered, as by most.
    """

    name = ""

    def __init__(self, *, related_query: str = "", linkers_query: str = "") -> None:
        self.related_query, self.linkers_query = related_query, linkers_query

    @abstractmethod
    def search(self, query: str, count: int, page: int = 1, /) -> SearchAnswer:
        """Return up to *count* pages for *query*; *page* 2 are the next *count*, and so on."""

    def related(self, url: str, count: int, /) -> SearchAnswer:
        """Return pages like the one at a URL; OFF without such an operator."""
        return self._asked(self.related_query, url, count)

    def linkers(self, url: str, count: int, /) -> SearchAnswer:
        """Return pages that link to a URL; OFF without such an operator."""
        return self._asked(self.linkers_query, url, count)

    def _asked(self, form: str, url: str, count: int) -> SearchAnswer:
        if not form:
            return SearchAnswer(SearchStatus.OFF, detail=f"{self.name} has no such operator")
        return self.search(form.replace("{url}", url), count)


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
        """Return at most *count* results of one page; how many that has is the instance's affair."""
        asked = {"q": query[:MAX_QUERY_CHARS], "format": "json", "pageno": str(page)}
        headers = {"Accept": "application/json"}
        response = self._fetch(Request(f"{self._address}?{urlencode(asked)}", headers=headers))
        return answer_of(response, count)


class PatientProvider(SearchProvider):
    """A provider asked at intervals; after a failure it is left alone, twice as long each time.

    *now* returns unix seconds; *pause* waits; *note* gets each failure with its details.
    """

    def __init__(
        self,
        provider: SearchProvider,
        now: Callable[[], float],
        pause: Callable[[float], None],
        note: Callable[[str], object],
        interval_seconds: float,
    ) -> None:
        super().__init__(related_query=provider.related_query, linkers_query=provider.linkers_query)
        self.name, self._provider = provider.name, provider
        self._now, self._pause, self._note = now, pause, note
        self._interval = interval_seconds
        self._open_at, self._failures = 0.0, 0

    def search(self, query: str, count: int, page: int = 1, /) -> SearchAnswer:
        """Send the query, unless the provider is left alone after a failure."""
        wait = self._open_at - self._now()
        if wait > self._interval:
            return SearchAnswer(SearchStatus.RATE_LIMITED, retry_after_seconds=wait)
        if wait > 0:
            self._pause(wait)
        answer = self._provider.search(query, count, page)
        rest = self._interval
        if answer.status is SearchStatus.ANSWERED:
            self._failures = 0
        else:
            rest = max(rest, answer.retry_after_seconds or 0.0, self._longer_pause())
            self._failures += 1
            words = answer.status.value.replace("_", " ")
            self._note(f"{self.name}: {words}" + (f" ({answer.detail})" if answer.detail else ""))
        self._open_at = self._now() + rest
        return answer

    def _longer_pause(self) -> float:
        return min(FIRST_PAUSE_SECONDS * 2.0 ** min(self._failures, 32), DAY)


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
        yield SearchResult(url)
