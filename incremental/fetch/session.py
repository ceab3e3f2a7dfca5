"""The one egress: every outgoing request goes through ``Fetcher.fetch``.

::

    Request -> valid URL? -> literal address allowed? -> headers, credentials of this origin
            -> transport (guarded, metered) -> status code -> decoded body, up to the limit
            -> redirect? same host: repeat; another host: the caller decides
            -> Response, always
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from contextlib import AbstractContextManager, closing
from copy import copy
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

import requests
from requests.adapters import BaseAdapter
from urllib3 import HTTPHeaderDict, HTTPResponse

from incremental.base.clock import Clock
from incremental.base.errors import SettingsError
from incremental.base.texts import named
from incremental.fetch.failures import (
    EXPECTED_ERRORS,
    TooLargeError,
    status_of_code,
    status_of_error,
    tls_reason,
    was_dropped,
)
from incremental.fetch.guard import AddressGuard, ForbiddenAddressError, Resolver
from incremental.fetch.headers import (
    cookies_set,
    plain_headers,
    redirect_target,
    retry_after_seconds,
)
from incremental.fetch.options import (
    ROBOTS_MAX_BYTES,
    FetchSettings,
    SiteAccess,
    host_name,
    origin,
)
from incremental.fetch.outgoing import (
    ascii_url,
    is_robots_url,
    prepare,
    url_problem,
    without_userinfo,
)
from incremental.fetch.status import HAS_PAGE, FetchStatus, Request, Response
from incremental.fetch.transport import Allowance, GuardedAdapter

_CHUNK_BYTES = 64 * 1024
# Of all headers of an answer together: twice as much as browsers and servers commonly accept.
_MAX_HEADER_BYTES = 64 * 1024
_WIRE_RESERVE_BYTES = 1024 * 1024
_NO_ACCESS = SiteAccess()
_PERMANENT = frozenset({301, 308})


@dataclass(slots=True)
class Journey:
    """The redirects and cookies of one fetch."""

    url: str
    passed: list[str] = field(default_factory=list)
    permanent: bool = True
    cookies: dict[str, str] = field(default_factory=dict)
    _seen: set[tuple[str, frozenset[tuple[str, str]]]] = field(default_factory=set)

    def pass_by(self, redirect: Response) -> None:
        """Record that the current URL redirects."""
        self.passed.append(self.url)
        self.permanent = self.permanent and redirect.http_code in _PERMANENT

    def go_on(self, url: str) -> bool:
        """Move on to *url*; False if it was visited with the same cookies."""
        self._seen.add((self.passed[-1], frozenset()))
        # Cookies do not go from https to http.
        if self.url.startswith("https:") and url.startswith("http:"):
            self.cookies.clear()
        # Redirecting to itself until a cookie is set is no loop.
        cookies = frozenset(self.cookies.items())
        if (url, cookies) in self._seen:
            return False
        self._seen.add((url, cookies))
        self.url = url
        return True


class Fetcher:
    """Fetches pages; thread-safe.

    *adapter* replaces the transport below requests (replays, tests): no names are resolved and no sockets
    opened. *sites* maps an origin (``https://example.org``) to its credentials, which never reach another
    origin, not even another scheme or port of the host. *resolver* replaces name resolution.
    """

    def __init__(
        self,
        settings: FetchSettings,
        *,
        clock: Clock,
        adapter: BaseAdapter | None = None,
        sites: Mapping[str, SiteAccess] | None = None,
        resolver: Resolver | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._allowance = Allowance(clock)
        self._guard = AddressGuard(settings.allowed_hosts, settings.allowed_networks, resolver)
        self._adapter = adapter or GuardedAdapter(self._guard, self._allowance, settings.ca_file)
        self._sites = _by_origin(sites or {})
        # Chunked framing in pieces of a few bytes may double the content; headers come on top.
        self._wire_bytes = 2 * settings.max_body_bytes + _WIRE_RESERVE_BYTES

    def fetch(self, request: Request) -> Response:
        """Fetch one page; never raises because of the site.

        Redirects within the host are followed. ``/robots.txt`` is requested without credentials and,
        if long, truncated rather than refused (RFC 9309, section 2.5).
        """
        started = self._clock.monotonic()
        most = self._settings.total_timeout_seconds
        seconds = most if request.seconds is None else min(most, request.seconds)
        self._allowance.start(seconds, self._wire_bytes)
        journey = Journey(request.url)
        while True:
            response = self._exchange(journey, request)
            if response.status is not FetchStatus.REDIRECTED:
                break
            journey.pass_by(response)
            stop = self._stop_at_redirect(journey, response)
            if stop is not None:
                response = stop
                break
        return replace(
            response,
            redirects=tuple(journey.passed),
            permanent=bool(journey.passed) and journey.permanent,
            elapsed_seconds=self._clock.monotonic() - started,
        )

    def with_sites(self, sites: Mapping[str, SiteAccess]) -> Fetcher:
        """Return a fetcher on the same connections with the credentials of *sites* alone."""
        other = copy(self)
        other._sites = _by_origin(sites)  # noqa: SLF001 - our own
        return other

    def until(self, last_at: float) -> AbstractContextManager[None]:
        """Let this thread's fetches end by *last_at* (monotonic): what begins later sends nothing."""
        return self._allowance.until(last_at)

    def close(self) -> None:
        """Close the pooled connections."""
        self._adapter.close()

    def _stop_at_redirect(self, journey: Journey, response: Response) -> Response | None:
        """Return the result if this redirect ends the fetch, else None."""
        target = response.location
        problem = "the redirect has no target" if target is None else url_problem(target)
        if target is None or problem:
            return replace(response, status=FetchStatus.BAD_REDIRECT, location=None, detail=problem)
        try:
            self._guard.check_literal(host_name(target), urlsplit(target).port or 0)
        except ForbiddenAddressError as error:
            return replace(_failure(response.url, error), http_code=response.http_code)
        if host_name(target) != host_name(response.url):
            return response
        if len(journey.passed) > self._settings.max_redirects or not journey.go_on(target):
            detail = f"still redirected after {len(journey.passed)} redirects"
            return replace(response, status=FetchStatus.TOO_MANY_REDIRECTS, detail=detail)
        return None

    def _exchange(self, journey: Journey, request: Request) -> Response:
        problem = url_problem(journey.url)
        if problem:
            url = without_userinfo(journey.url)
            return Response(url=url, status=FetchStatus.INVALID_URL, detail=problem)
        try:
            with closing(self._send(journey, request)) as answer:
                response = self._read(answer, journey, request)
                # Of an answer without a body nothing is read that would give its connection back.
                if isinstance(answer.raw, HTTPResponse) and answer.raw.length_remaining == 0:
                    answer.raw.drain_conn()
                return response
        except EXPECTED_ERRORS as error:
            return _failure(journey.url, error)

    def _send(self, journey: Journey, request: Request) -> requests.Response:
        # A connection that was kept open would carry a request after the end.
        self._allowance.remaining_seconds()
        url = ascii_url(journey.url)
        parts = urlsplit(url)
        self._guard.check_literal(host_name(url), parts.port or 0)
        access = self._sites.get(origin(url), _NO_ACCESS)
        shown = replace(_NO_ACCESS, proxy=access.proxy) if is_robots_url(url) else access
        prepared = prepare(url, request, self._settings, shown, journey.cookies)
        proxies = {parts.scheme: shown.proxy} if shown.proxy else None
        try:
            return self._transmit(prepared, proxies)
        except requests.ConnectionError as error:
            # A server may close an idle connection just as we use it (RFC 9112, section 9.3.1); a fresh
            # one shows whether it was that.
            if not was_dropped(error):
                raise
            return self._transmit(prepared, proxies)

    def _transmit(
        self, prepared: requests.PreparedRequest, proxies: dict[str, str] | None
    ) -> requests.Response:
        settings = self._settings
        timeouts = (settings.connect_timeout_seconds, settings.read_timeout_seconds)
        # Without requests.Session, which would keep cookies between sites, follow redirects itself and
        # read proxies and passwords from the environment.
        return self._adapter.send(
            prepared, stream=True, timeout=timeouts, verify=True, proxies=proxies
        )

    def _read(self, answer: requests.Response, journey: Journey, request: Request) -> Response:
        """Build a Response from status line, headers and, if wanted, the body."""
        size = sum(len(name) + len(value) for name, value in answer.headers.items())
        if size > _MAX_HEADER_BYTES:
            detail = "the headers are larger than allowed"
            return Response(journey.url, FetchStatus.BROKEN_RESPONSE, detail=detail)
        headers = plain_headers(answer.headers)
        wait = retry_after_seconds(headers.get("retry-after"), self._clock.now())
        conditional = bool(request.etag or request.last_modified)
        code = answer.status_code
        status = status_of_code(code, conditional=conditional, retry_after=wait is not None)
        response = Response(
            url=journey.url,
            status=status,
            http_code=code,
            headers=headers,
            retry_after_seconds=wait,
            certificate_until=_certificate_until(answer),
            detail="" if status in HAS_PAGE or status is FetchStatus.REDIRECTED else f"HTTP {code}",
        )
        if status is FetchStatus.REDIRECTED:
            journey.cookies.update(cookies_set(_set_cookie_lines(answer)))
            target = redirect_target(journey.url, headers.get("location"))
            return replace(response, location=target)
        if status is FetchStatus.FETCHED:
            return replace(response, body=self._body(answer, journey.url, request.most_bytes))
        return response

    def _body(self, answer: requests.Response, url: str, most: int | None) -> bytes:
        """Return the decoded body; raises TooLargeError or TimeoutError."""
        cut = is_robots_url(url)
        allowed = self._settings.max_body_bytes
        limit = ROBOTS_MAX_BYTES if cut else min(allowed, most or allowed)
        announced = answer.headers.get("content-length", "")
        if not cut and announced.isdecimal() and int(announced[:20]) > limit:
            raise TooLargeError
        body = bytearray()
        for chunk in answer.iter_content(_CHUNK_BYTES):
            body += chunk
            if len(body) > limit:
                break
            self._allowance.remaining_seconds()
        if len(body) > limit and not cut:
            raise TooLargeError
        return bytes(body[:limit])


def _certificate_until(answer: requests.Response) -> float | None:
    connection = getattr(answer.raw, "connection", None)
    sock = getattr(connection, "sock", None)
    # Through a proxy it is the site's as well, except where the proxy itself is asked over TLS.
    ends = (sock.getpeercert() or {}).get("notAfter") if isinstance(sock, ssl.SSLSocket) else None
    return float(ssl.cert_time_to_seconds(ends)) if isinstance(ends, str) else None


def _set_cookie_lines(answer: requests.Response) -> list[str]:
    # requests joins equal headers by commas, which dates contain; urllib3 keeps them apart.
    fields = getattr(answer.raw, "headers", None)
    return fields.getlist("set-cookie") if isinstance(fields, HTTPHeaderDict) else []


def _failure(url: str, error: Exception) -> Response:
    """Build a Response from an error."""
    status = status_of_error(error)
    # The error is not quoted: it may hold secrets.
    detail = named("detail", status.value)
    reason = tls_reason(error) if status is FetchStatus.TLS_FAILED else ""
    return Response(
        without_userinfo(url), status, detail=f"{detail}: {reason}" if reason else detail
    )


def _by_origin(sites: Mapping[str, SiteAccess]) -> dict[str, SiteAccess]:
    try:
        return {origin(url): access for url, access in sites.items()}
    except ValueError as error:
        way_out = "give scheme and host of each site, like https://example.org"
        raise SettingsError("sites", ", ".join(map(without_userinfo, sites)), way_out) from error
