"""Queries to a search provider and their results: plain values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

MAX_QUERY_CHARS = 200
MAX_TEXT_CHARS = 500


class SearchStatus(StrEnum):
    """How a query ended."""

    ANSWERED = "answered"
    """With results, or really without."""
    OFF = "off"
    """No provider is configured, or it lacks this operator."""
    DENIED = "denied"
    """The key is missing, wrong or not sufficient (401, 403)."""
    RATE_LIMITED = "rate_limited"
    QUOTA_SPENT = "quota_spent"
    """Our own daily limit from the settings."""
    NOT_UNDERSTOOD = "not_understood"
    """Not the promised format (a web page, other JSON)."""
    UNAVAILABLE = "unavailable"
    """No response: down, slow, no such host, not allowed."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A page found by a provider, with untrusted text."""

    url: str
    title: str = ""
    snippet: str = ""


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


class NoProvider(SearchProvider):
    """Used if no provider is configured: every query is OFF."""

    name = "none"

    def search(self, _query: str, _count: int, _page: int = 1, /) -> SearchAnswer:
        """Return OFF."""
        return SearchAnswer(SearchStatus.OFF, detail="no search provider is set up")


class LoggingProvider(SearchProvider):
    """A provider that notes failures with their details."""

    def __init__(self, provider: SearchProvider, note: Callable[[str], object]) -> None:
        super().__init__(related_query=provider.related_query, linkers_query=provider.linkers_query)
        self.name, self._provider, self._note = provider.name, provider, note

    def search(self, query: str, count: int, page: int = 1, /) -> SearchAnswer:
        """Send the query, and note a failure."""
        answer = self._provider.search(query, count, page)
        if answer.status not in (SearchStatus.ANSWERED, SearchStatus.OFF):
            words = answer.status.value.replace("_", " ")
            self._note(f"{self.name}: {words}" + (f" ({answer.detail})" if answer.detail else ""))
        return answer
