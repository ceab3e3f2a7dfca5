"""What belongs to a page: fetched by the one fetcher, let through by a host gate, and counted.

::

    robots.txt of the part's origin     unknown: fetched first, kept for a day
    denied, or a long crawl delay       not fetched
    too many parts for one page         not fetched
    its host is in trouble              nothing more is fetched there until that is over
"""

from __future__ import annotations

from dataclasses import replace

from incremental.base.clock import Clock
from incremental.base.threads import pause
from incremental.fetch.options import host_name, origin
from incremental.fetch.robots import RobotsPolicy
from incremental.fetch.status import FetchStatus, Request, Response
from incremental.settings import Settings
from incremental.visit.host_gate import HostGate
from incremental.visit.visit import Fetch

# A site that wants longer pauses than this between two requests is not asked for parts of pages.
LONGEST_DELAY_SECONDS = 2.0


def wants_pauses(rules: RobotsPolicy | None) -> bool:
    """Return whether a site asks for longer pauses than the parts of a page can wait."""
    delay = rules.crawl_delay_seconds if rules is not None else None
    return (delay or 0.0) > LONGEST_DELAY_SECONDS


class PartFetcher:
    """Fetches parts of pages. Thread-safe."""

    def __init__(self, fetch: Fetch, settings: Settings, clock: Clock) -> None:
        """Fetch by *fetch*, as politely as *settings* say."""
        self._gate = HostGate(None, settings)
        self._fetch = fetch
        self._clock = clock

    def of_page(
        self, rules: RobotsPolicy | None, url: str, most: int, *, begun: bool = False
    ) -> Parts:
        """Return a fetcher of at most *most* parts of the page at *url*, with the *rules* of its origin.

        *begun*: the page itself was fetched just now, so that pauses are owed.
        """
        parts = Parts(self._fetch, self._gate, self._clock, (origin(url), rules), most)
        if begun:
            parts.hosts.add(host_name(url))
        return parts


class Parts:
    """Fetches the parts of one page, in one thread."""

    def __init__(
        self,
        fetch: Fetch,
        gate: HostGate,
        clock: Clock,
        own: tuple[str, RobotsPolicy | None],
        most: int,
    ) -> None:
        """*own*: the page's origin and its rules."""
        self._fetch, self._gate, self._clock = fetch, gate, clock
        self._own, self._most = own, most
        self.hosts: set[str] = set()
        """Those that were asked."""
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
        rules = self._own[1] if where == self._own[0] else None

        def sent(one: Request) -> Response:
            response = self._fetch(replace(one, seconds=request.seconds))
            self.requests += 1 + len(response.redirects)
            return response

        answer = self._gate.admit(url, sent, self._clock.now(), rules=rules)
        if answer.refusal is not None:
            return Response(url, answer.refusal, detail=answer.says)
        owed = answer.delay_seconds if host in self.hosts else 0.0
        if owed > LONGEST_DELAY_SECONDS:
            detail = f"robots.txt asks for pauses of {owed:g} s"
            return Response(url, FetchStatus.ROBOTS_DENIED, detail=detail)
        if owed:
            pause(owed)
        self.hosts.add(host)
        response = sent(request)
        # The time that is left for the page says nothing of the host.
        if response.status is not FetchStatus.TIMED_OUT:
            self._gate.release(url, response, self._clock.now())
        self.wait_seconds = max(self.wait_seconds, response.retry_after_seconds or 0.0)
        return self._gate.obey(response, rules)
