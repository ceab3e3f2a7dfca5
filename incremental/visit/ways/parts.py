"""What belongs to a page: fetched by the one fetcher, under the rules of its host, and counted.

::

    robots.txt of the part's origin     unknown: fetched first, kept for a day
    denied, or a long crawl delay       not fetched
    too many parts for one page         not fetched
    the server asks us to wait          nothing more is fetched for this page
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from threading import Lock

from incremental.base.clock import Clock
from incremental.base.texts import Text
from incremental.base.threads import pause
from incremental.fetch.options import host_name, origin
from incremental.fetch.robots import RobotsPolicy, follow_robots, robots_url
from incremental.fetch.status import FetchStatus, Request, Response

Fetch = Callable[[Request], Response]

# A site that wants longer pauses than this between two requests is not asked for parts of pages.
LONGEST_DELAY_SECONDS = 2.0
_MOST_POLICIES = 500
_STOPS = frozenset({FetchStatus.RATE_LIMITED, FetchStatus.SERVER_ERROR})


def wants_pauses(rules: RobotsPolicy | None) -> bool:
    """Return whether a site asks for longer pauses than the parts of a page can wait."""
    delay = rules.crawl_delay_seconds if rules is not None else None
    return (delay or 0.0) > LONGEST_DELAY_SECONDS


class PartFetcher:
    """Fetches parts of pages. Thread-safe."""

    def __init__(self, fetch: Fetch, agent: str, clock: Clock) -> None:
        """Fetch by *fetch*, with rules for the product token *agent*."""
        self._fetch = fetch
        self._agent = agent
        self._clock = clock
        self._lock = Lock()
        self._policies: OrderedDict[str, RobotsPolicy] = OrderedDict()

    def __reduce__(self) -> tuple[object, ...]:
        return PartFetcher, (self._fetch, self._agent, self._clock)

    def of_page(
        self, rules: RobotsPolicy | None, url: str, most: int, *, begun: bool = False
    ) -> Parts:
        """Return a fetcher of at most *most* parts of the page at *url*, with the *rules* of its origin.

        *begun*: the page itself was fetched just now, so that pauses are owed.
        """
        parts = Parts(self._fetch, self._policy, rules, url, most)
        if begun:
            parts.hosts.add(host_name(url))
        return parts

    def _policy(self, request: Request) -> tuple[RobotsPolicy, bool]:
        """Return the rules for a part, and whether they were just fetched."""
        url = request.url
        key, now = robots_url(url), self._clock.now()
        with self._lock:
            known = self._policies.get(key)
        if known is not None and now < known.expires_at:
            return known, False
        answer = follow_robots(self._fetch, self._fetch(Request(key, seconds=request.seconds)))
        policy = RobotsPolicy.from_response(answer, self._agent, now, known)
        with self._lock:
            self._policies[key] = policy
            self._policies.move_to_end(key)
            while len(self._policies) > _MOST_POLICIES:
                self._policies.popitem(last=False)
        return policy, True


class Parts:
    """Fetches the parts of one page, in one thread."""

    def __init__(
        self,
        fetch: Fetch,
        policy: Callable[[Request], tuple[RobotsPolicy, bool]],
        rules: RobotsPolicy | None,
        url: str,
        most: int,
    ) -> None:
        self._fetch, self._policy, self._most = fetch, policy, most
        self._rules = {origin(url): rules} if rules is not None else {}
        self.hosts: set[str] = set()
        """Those that were asked."""
        self._stopped: set[str] = set()
        self.requests = 0
        """Sent so far, robots.txt included."""
        self.wait_seconds = 0.0
        """The longest pause that a server asked for."""

    def fetch(self, request: Request) -> Response:
        """Fetch one part, or say why not; never raises because of the site."""
        url = request.url
        try:
            where, host = origin(url), host_name(url)
        except ValueError:
            return Response(url, FetchStatus.INVALID_URL, detail="not an absolute http(s) URL")
        if self.requests >= self._most:
            detail = f"more than {self._most} parts"
            return Response(url, FetchStatus.ROBOTS_DENIED, detail=detail)
        if host in self._stopped:
            detail = "the server asked us to wait"
            return Response(url, FetchStatus.RATE_LIMITED, detail=detail)
        rules = self._rules.get(where)
        if rules is None:
            rules, fetched = self._policy(request)
            self._rules[where] = rules
            self.requests += fetched
        owed = (rules.crawl_delay_seconds or 0.0) if host in self.hosts else 0.0
        denied = "" if rules.allows(url) else Text("robots.denied")
        if owed > LONGEST_DELAY_SECONDS:
            denied = f"robots.txt asks for pauses of {owed:g} s"
        if denied:
            return Response(url, FetchStatus.ROBOTS_DENIED, detail=denied)
        if owed:
            pause(owed)
        self.hosts.add(host)
        self.requests += 1
        response = self._fetch(request)
        self.requests += len(response.redirects)
        if response.status in _STOPS:
            self._stopped.add(host)
            self.wait_seconds = max(self.wait_seconds, response.retry_after_seconds or 0.0)
        if response.redirects and not rules.allows(response.url):
            return replace(response, status=FetchStatus.ROBOTS_DENIED, body=b"")
        return response
