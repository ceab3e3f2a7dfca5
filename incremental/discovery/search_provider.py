"""What is asked of a search provider, and what it answers: plain values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

MAX_QUERY_CHARS = 200
MAX_TEXT_CHARS = 500


class SearchStatus(StrEnum):
    """How a question to a provider ended."""

    ANSWERED = "answered"
    """With results, or truly without."""
    OFF = "off"
    """No provider is set up, or this one does not offer what was asked."""
    DENIED = "denied"
    """The key is missing, wrong or not allowed this (401, 403)."""
    RATE_LIMITED = "rate_limited"
    QUOTA_SPENT = "quota_spent"
    """Our own limit: as many questions as the settings allow for today."""
    NOT_UNDERSTOOD = "not_understood"
    """It answered, but not with what its interface promises (a web page, other JSON)."""
    UNAVAILABLE = "unavailable"
    """No answer: down, slow, no such host, not allowed to be asked."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One page that a provider names. All of it is somebody's text."""

    url: str
    title: str = ""
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The results of one question, best first, or why there are none."""

    status: SearchStatus
    results: tuple[SearchResult, ...] = ()
    detail: str = ""
    """For people: what went wrong and the way out, without the key."""
    retry_after_seconds: float | None = None


class SearchProvider(Protocol):
    """Whatever finds pages by words. Each question costs one request."""

    name: str

    def search(self, query: str, count: int, page: int = 1, /) -> SearchAnswer:
        """Return up to *count* pages for *query*; *page* 2 are the *count* after those, and so on."""
        ...

    def related(self, _url: str, _count: int, /) -> SearchAnswer:
        """Return pages like the one at a URL; OFF where there is no such operator, as in most."""
        return SearchAnswer(SearchStatus.OFF, detail=f"{self.name} has no related operator")

    def linkers(self, _url: str, _count: int, /) -> SearchAnswer:
        """Return pages that link to a URL; OFF where there is no such operator, as in most."""
        return SearchAnswer(SearchStatus.OFF, detail=f"{self.name} has no link operator")


class NoProvider(SearchProvider):
    """Stands where no search provider is set up: every question is OFF."""

    name = "none"

    def search(self, _query: str, _count: int, _page: int = 1, /) -> SearchAnswer:
        """Say that it is off."""
        return SearchAnswer(SearchStatus.OFF, detail="no search provider is set up")


class Wrapped(SearchProvider, ABC):
    """A provider each of whose questions is asked by way of :meth:`around`."""

    def __init__(self, provider: SearchProvider) -> None:
        self.name = provider.name
        self._provider = provider

    @abstractmethod
    def around(self, ask: Callable[[], SearchAnswer]) -> SearchAnswer:
        """Ask, or not."""

    def search(self, query: str, count: int, page: int = 1, /) -> SearchAnswer:
        """Ask for pages by words."""
        return self.around(lambda: self._provider.search(query, count, page))

    def related(self, url: str, count: int, /) -> SearchAnswer:
        """Ask for pages like one."""
        return self.around(lambda: self._provider.related(url, count))

    def linkers(self, url: str, count: int, /) -> SearchAnswer:
        """Ask for pages that link to one."""
        return self.around(lambda: self._provider.linkers(url, count))


class LoggingProvider(Wrapped):
    """A provider whose troubles are written down, each with its detail, for people."""

    def __init__(self, provider: SearchProvider, note: Callable[[str], object]) -> None:
        super().__init__(provider)
        self._note = note

    def around(self, ask: Callable[[], SearchAnswer]) -> SearchAnswer:
        """Ask, and note what went wrong."""
        answer = ask()
        if answer.status not in (SearchStatus.ANSWERED, SearchStatus.OFF):
            words = answer.status.value.replace("_", " ")
            self._note(f"{self.name}: {words}" + (f" ({answer.detail})" if answer.detail else ""))
        return answer
