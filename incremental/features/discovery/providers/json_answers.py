"""Reads a search provider's JSON; never raises because of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from html import unescape
from typing import Any

import w3lib.html

from incremental.base.urls import normalize
from incremental.features.discovery.search_provider import (
    MAX_TEXT_CHARS,
    SearchAnswer,
    SearchResult,
    SearchStatus,
)
from incremental.fetch.status import FetchStatus, Response

_REFUSED = frozenset({401, 403})


def answer_of(response: Response, path: tuple[str, ...], snippet: str, count: int) -> SearchAnswer:
    """Read the results at *path* in a JSON response; *snippet* names the text field.

    Duplicates, and results without an http(s) URL, are skipped.
    """
    problem = _problem(response)
    if problem is not None:
        return problem
    try:
        found: Any = json.loads(response.body)
    except (ValueError, RecursionError):
        return _not_understood("not JSON")
    for name in path:
        if not isinstance(found, Mapping):
            return _not_understood(f"no field {name!r}")
        found = found.get(name, [] if name == path[-1] else {})
    if not isinstance(found, list):
        return _not_understood(f"{'.'.join(path)!r} is not a list")
    return SearchAnswer(SearchStatus.ANSWERED, tuple(_results(found, snippet))[:count])


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


def _results(found: Iterable[object], snippet: str) -> Iterable[SearchResult]:
    seen = set()
    for one in found:
        if not isinstance(one, Mapping) or not isinstance(one.get("url"), str):
            continue
        url = normalize(one["url"])
        if url is None or url in seen:
            continue
        seen.add(url)
        yield SearchResult(url, _text(one.get("title")), _text(one.get(snippet)))


def _text(value: object) -> str:
    if not isinstance(value, str):
        return ""
    cut = value[: 4 * MAX_TEXT_CHARS]
    plain = unescape(w3lib.html.remove_tags(cut))
    return " ".join(plain.replace("\0", "").split())[:MAX_TEXT_CHARS]
