"""Queries to a search provider and their results; SearXNG's JSON API, a self-hosted metasearch engine.

Its settings must enable the format: ``search: formats: [html, json]``. Like every non-public address, a
local instance must be in ``fetch.allowed_hosts``.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from incremental.base.texts import named
from incremental.base.times import DAY
from incremental.base.urls import normalize
from incremental.fetch.status import FetchStatus, Request, Response

MAX_QUERY_CHARS = 200
FIRST_PAUSE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The results of a query, best first, or why there are none."""

    urls: tuple[str, ...] = ()
    problem: str = ""
    """What went wrong, for display; empty = the query was answered."""
    retry_after_seconds: float | None = None


Search = Callable[[str, int, int], SearchAnswer]
"""Returns up to so many pages for a query; page 2 are the next ones, and so on. Each costs one request."""


def searxng(
    fetch: Callable[[Request], Response], base_url: str, query: str, count: int, page: int
) -> SearchAnswer:
    """Query the instance at *base_url* (``https://search.example.org``).

    Returns at most *count* results of one page; how many that has is the instance's affair.
    """
    asked = {"q": query[:MAX_QUERY_CHARS], "format": "json", "pageno": str(page)}
    address = f"{base_url.rstrip('/')}/search?{urlencode(asked)}"
    return answer_of(fetch(Request(address, headers={"Accept": "application/json"})), count)


class PatientSearch:
    """A search that is asked at intervals; after a failure it is left alone, twice as long each time.

    *now* returns unix seconds; *pause* waits; *note* gets each failure.
    """

    def __init__(
        self,
        search: Search,
        now: Callable[[], float],
        pause: Callable[[float], None],
        note: Callable[[str], object],
        interval_seconds: float,
    ) -> None:
        self._search, self._now, self._pause, self._note = search, now, pause, note
        self._interval = interval_seconds
        self._open_at, self._failures = 0.0, 0

    def __call__(self, query: str, count: int, page: int, /) -> SearchAnswer:
        """Send the query, unless the provider is left alone after a failure."""
        wait = self._open_at - self._now()
        if wait > self._interval:
            return SearchAnswer(problem="left alone after a failure")
        if wait > 0:
            self._pause(wait)
        answer = self._search(query, count, page)
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
