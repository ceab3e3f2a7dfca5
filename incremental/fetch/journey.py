"""Where one fetch has been on its way through redirects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from incremental.fetch.status import Response

_PERMANENT = frozenset({301, 308})


@dataclass(slots=True)
class Journey:
    """The redirects that were passed, and the cookies met on the way; both end with the fetch."""

    url: str
    passed: list[str] = field(default_factory=list)
    permanent: bool = True
    cookies: dict[str, str] = field(default_factory=dict)
    _seen: set[tuple[str, frozenset[tuple[str, str]]]] = field(default_factory=set)

    def pass_by(self, redirect: Response) -> None:
        """Note that the current URL only redirects."""
        self.passed.append(self.url)
        self.permanent = self.permanent and redirect.http_code in _PERMANENT

    def go_on(self, url: str) -> bool:
        """Move on to *url*; False if we have been there with the same cookies.

        A page that redirects to itself until it has seen its cookie is no loop. Cookies do not go
        from https to http.
        """
        self._seen.add((self.passed[-1], frozenset()))
        if self.url.startswith("https:") and url.startswith("http:"):
            self.cookies.clear()
        cookies = frozenset(self.cookies.items())
        if (url, cookies) in self._seen:
            return False
        self._seen.add((url, cookies))
        self.url = url
        return True
