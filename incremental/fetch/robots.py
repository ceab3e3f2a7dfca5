"""A site's robots.txt, by RFC 9309. Pure; Protego parses.

What a response for ``/robots.txt`` means (section 2.3.1)::

    200                          its first 500 KiB are the rules
    4xx, failed redirects        no rules: everything is allowed
    anything else (unreachable)  the previous rules hold; without any, nothing is allowed until the
                                 next try, after five minutes, then ten, up to a day
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from typing import Any
from urllib.parse import urljoin

from protego import Protego

from incremental.base.urls import normalize
from incremental.fetch.options import ROBOTS_MAX_BYTES
from incremental.fetch.status import FetchStatus, Request, Response

# RFC 9309, section 2.4: cached rules are used for a day at most.
DAY_SECONDS = 86_400.0
FIRST_RETRY_SECONDS = 300.0
# RFC 9309, section 2.3.1.2: at least five are followed.
MAX_REDIRECTS = 5
MAX_SITEMAPS = 1_000

_USER_AGENT_LINE = re.compile(r"\s*user[- ]?agent(?:\s*:|\s)\s*(.*)", re.IGNORECASE)
# Every record that Protego knows, misspellings included. RFC 9309, section 2.2.4: other records must not
# interfere; Protego would end a list of user agents at one.
_RECORD = re.compile(
    r"\s*(?:dis?s?al+o?w|diasllow|disallaw|allow|site-?maps?|crawl[- ]delay|request[- ]rate"
    r"|visit[- ]time)(?:\s*:|\s)",
    re.IGNORECASE,
)
_CLIENT_ERRORS = range(400, 500)
_NO_RULES = frozenset(
    {
        FetchStatus.GONE,
        FetchStatus.BLOCKED,
        FetchStatus.TOO_MANY_REDIRECTS,
        FetchStatus.BAD_REDIRECT,
    }
)


@lru_cache(maxsize=2_048)
def robots_url(url: str) -> str:
    """Return the URL of the robots.txt for *url*: one per scheme, host and port."""
    return urljoin(url, "/robots.txt")


@dataclass(frozen=True)
class RobotsPolicy:
    """The rules of one origin for one crawler; times are unix seconds, UTC."""

    status: FetchStatus
    """Of the latest attempt to fetch it."""
    text: str | None
    """The rules; empty = everything is allowed, None = unknown."""
    user_agent: str
    """Our product token, in lower case."""
    fetched_at: float
    """Time of the latest attempt."""
    failures: int = 0
    """Consecutive unreachable attempts."""
    url: str = ""
    """From which the rules came; relative sitemaps start there."""

    @classmethod
    def from_response(
        cls,
        response: Response,
        user_agent: str,
        now: float,
        previous: RobotsPolicy | None = None,
    ) -> RobotsPolicy:
        """Read the response for ``/robots.txt``; *previous* holds while the file is unreachable."""
        text = _rules(response)
        if text is not None:
            return cls(response.status, text, user_agent, now, url=response.url)
        known = previous.text if previous else None
        failures = previous.failures + 1 if previous else 1
        url = previous.url if previous else ""
        return cls(response.status, known, user_agent, now, failures, url)

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any], user_agent: str) -> RobotsPolicy:
        """Rebuild a policy from what ``to_stored`` returned."""
        status = FetchStatus(stored["status"])
        return cls(**{**stored, "status": status, "user_agent": user_agent})

    def to_stored(self) -> dict[str, object]:
        """Return the fields for `from_stored`."""
        # Stored so that a restart does not refetch every site's.
        fields = asdict(self)
        del fields["user_agent"]
        return fields

    @property
    def expires_at(self) -> float:
        """When to fetch it again: after a day at most, sooner if unreachable."""
        if not self.failures:
            return self.fetched_at + DAY_SECONDS
        doublings = min(self.failures - 1, 16)
        return self.fetched_at + min(FIRST_RETRY_SECONDS * 2.0**doublings, DAY_SECONDS)

    @property
    def reachable(self) -> bool:
        """Whether the rules are known; otherwise nothing may be fetched."""
        return self.text is not None

    def allows(self, url: str) -> bool:
        """Return whether we may fetch *url*, which must be of this origin."""
        if self.text is None:
            return False
        return bool(self._parsed.can_fetch(url, self.user_agent))

    @property
    def crawl_delay_seconds(self) -> float | None:
        """The pause the site asks for between requests, or None.

        The longer of ``Crawl-delay`` and ``Request-rate`` (requests/seconds) counts.
        """
        delay = self._parsed.crawl_delay(self.user_agent)
        rate = self._parsed.request_rate(self.user_agent)
        asked = [float(delay)] if delay is not None else []
        if rate is not None and rate.requests > 0:
            asked.append(rate.seconds / rate.requests)
        return max((wait for wait in asked if math.isfinite(wait) and wait >= 0), default=None)

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The http(s) URLs of ``Sitemap:`` lines, in fetch form, in order, at most a thousand."""
        found = (normalize(url, self.url) for url in self._parsed.sitemaps)
        usable = (url for url in found if url is not None)
        return tuple(dict.fromkeys(usable))[:MAX_SITEMAPS]

    @cached_property
    def _parsed(self) -> Protego:
        return Protego.parse(_bounded(self.text or "", self.user_agent))


def follow_robots(fetch: Callable[[Request], Response], response: Response) -> Response:
    """Follow redirects of a robots.txt to other hosts; return the last response."""
    for _ in range(MAX_REDIRECTS):
        if response.status is not FetchStatus.REDIRECTED or response.location is None:
            return response
        response = fetch(Request(response.location))
    if response.status is FetchStatus.REDIRECTED:
        response = replace(response, status=FetchStatus.TOO_MANY_REDIRECTS)
    return response


def _rules(response: Response) -> str | None:
    """Return the rules, empty if there are none, None if unreachable."""
    if response.status is FetchStatus.FETCHED:
        text = response.body[:ROBOTS_MAX_BYTES].decode("utf-8-sig", errors="replace")
        return text.replace("\0", "")
    if response.status in _NO_RULES:
        return ""
    # 429 is a 4xx but means "later", not "no rules".
    code = response.http_code or 0
    is_client_error = response.status is FetchStatus.HTTP_ERROR and code in _CLIENT_ERRORS
    return "" if is_client_error else None


def _bounded(text: str, user_agent: str) -> str:
    """Rewrite the rules so that they are cheap to parse.

    Agents other than ours and ``*`` are merged into one; unknown records are dropped.
    """
    lines = []
    for line in text.splitlines():
        agent = _USER_AGENT_LINE.match(line)
        if agent is None:
            if _RECORD.match(line):
                lines.append(line)
            continue
        named = agent[1].partition("#")[0].strip().lower()
        ours = re.split(r"[/\s*]", named, maxsplit=1)[0] == user_agent
        # Protego copies the rules for each user agent of a group: ten thousand agents above ten thousand
        # rules would be a bomb. Whole product tokens are compared, as in RFC 9309, section 2.2.1.
        name = "*" if named == "*" else user_agent if ours else "other-crawlers"
        if not lines or lines[-1] != f"User-agent: {name}":
            lines.append(f"User-agent: {name}")
    return "\n".join(lines)
