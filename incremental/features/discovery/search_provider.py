"""Queries to a search provider and their results; SearXNG's JSON API, a self-hosted metasearch engine.

Its settings must enable the format: ``search: formats: [html, json]``. Like every non-public address, a
local instance must be in ``fetch.allowed_hosts``.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from incremental.base.texts import named
from incremental.base.times import DAY
from incremental.base.urls import normalize
from incremental.fetch.status import FetchStatus, Request, Response

Fetch = Callable[[Request], Response]

MAX_QUERY_CHARS = 200
FIRST_PAUSE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The results of a query, best first, or why there are none."""

    urls: tuple[str, ...] = ()
    problem: str = ""
    """What went wrong, for display; empty = the query was answered."""
    retry_after_seconds: float | None = None


class SearchProvider(ABC):
    """Finds pages by words. Each query costs one request.

    *linkers_query* is a query with ``{url}``, where its engines have such an operator (``link:{url}``);
    empty = not offered, as by most.
    """

    def __init__(self, *, linkers_query: str = "") -> None:
        self.linkers_query = linkers_query

    @abstractmethod
    def search(self, query: str, count: int, page: int = 1, /) -> SearchAnswer:
        """Return up to *count* pages for *query*; *page* 2 are the next *count*, and so on."""

    def linkers(self, url: str, count: int, /) -> SearchAnswer:
        """Return pages that link to a URL; none without such an operator."""
        if not self.linkers_query:
            return SearchAnswer()
        return self.search(self.linkers_query.replace("{url}", url), count)


class SearxngProvider(SearchProvider):
    """Queries the instance at *base_url* (``https://search.example.org``); the rest as its base."""

    def __init__(self, fetch: Fetch, base_url: str, *, linkers_query: str = "") -> None:
        super().__init__(linkers_query=linkers_query)
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

    *now* returns unix seconds; *pause* waits; *note* gets each failure.
    """

    def __init__(
        self,
        provider: SearchProvider,
        now: Callable[[], float],
        pause: Callable[[float], None],
        note: Callable[[str], object],
        interval_seconds: float,
    ) -> None:
        super().__init__(linkers_query=provider.linkers_query)
        self._provider, self._now, self._pause, self._note = provider, now, pause, note
        self._interval = interval_seconds
        self._open_at, self._failures = 0.0, 0

    def search(self, query: str, count: int, page: int = 1, /) -> SearchAnswer:
        """Send the query, unless the provider is left alone after a failure."""
        wait = self._open_at - self._now()
        if wait > self._interval:
            return SearchAnswer(problem="left alone after a failure")
        if wait > 0:
            self._pause(wait)
        answer = self._provider.search(query, count, page)
        rest = self._interval
        if not answer.problem:
            self._failures = 0
        else:
            longer = min(FIRST_PAUSE_SECONDS * 2.0 ** min(self._failures, 32), DAY)
            rest = max(rest, answer.retry_after_seconds or 0.0, longer)
            self._failures += 1
            self._note(f"the search provider: {answer.problem}")
        self._open_at = self._now() + rest
        return answer


def answer_of(response: Response, count: int) -> SearchAnswer:
    """Read the results in a JSON response; never raises because of it.

    Duplicates, and results without an http(s) URL, are skipped.
    """
    if response.status is not FetchStatus.FETCHED:
        code = f" (HTTP {response.http_code})" if response.http_code else ""
        why = f"{named('fetch', response.status)}{code}"
        return SearchAnswer(problem=why, retry_after_seconds=response.retry_after_seconds)
    try:
        found: Any = json.loads(response.body)
    except (ValueError, RecursionError):
        return SearchAnswer(problem="no JSON; its settings must allow the format")
    results = found.get("results", []) if isinstance(found, Mapping) else None
    if not isinstance(results, list):
        return SearchAnswer(problem="not a response of SearXNG's API")
    given = (one.get("url") for one in results if isinstance(one, Mapping))
    urls = dict.fromkeys(normalize(url) for url in given if isinstance(url, str))
    return SearchAnswer(tuple(url for url in urls if url is not None)[:count])
