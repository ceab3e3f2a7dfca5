"""How a fetch ended, and what came back: plain values, no network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class FetchStatus(StrEnum):
    """What came of one fetch. Never a bare HTTP number."""

    FETCHED = "fetched"
    NOT_MODIFIED = "not_modified"
    REDIRECTED = "redirected"
    """To another host: the caller decides, because that host has its own robots.txt and queue."""
    GONE = "gone"
    """404 or 410."""
    BLOCKED = "blocked"
    """401, 403, 407, 451: the site does not want us, or wants a password."""
    RATE_LIMITED = "rate_limited"
    """429, or 503 with Retry-After."""
    SERVER_ERROR = "server_error"
    HTTP_ERROR = "http_error"
    """Any other status code that brings no page."""
    TIMED_OUT = "timed_out"
    DNS_FAILED = "dns_failed"
    CONNECT_FAILED = "connect_failed"
    TLS_FAILED = "tls_failed"
    TOO_LARGE = "too_large"
    """More decoded bytes than allowed, decompression bombs included."""
    TOO_MANY_REDIRECTS = "too_many_redirects"
    BAD_REDIRECT = "bad_redirect"
    """A Location that is missing, malformed or not http(s)."""
    FORBIDDEN_ADDRESS = "forbidden_address"
    """A private, loopback or otherwise not public address."""
    INVALID_URL = "invalid_url"
    BROKEN_RESPONSE = "broken_response"
    """Bad chunking, a wrong Content-Length, undecodable compression, a malformed header."""
    ROBOTS_DENIED = "robots_denied"
    INTERNAL_ERROR = "internal_error"
    """A bug of ours met this page; the log has it."""
    ROBOTS_UNREACHABLE = "robots_unreachable"
    """robots.txt answers 5xx or not at all: RFC 9309 says wait."""


# We hold the page as it is now.
HAS_PAGE = frozenset({FetchStatus.FETCHED, FetchStatus.NOT_MODIFIED})
# Says nothing against a site: pages end and move, and a rule that is kept is nobody's failure.
HARMLESS = HAS_PAGE | {FetchStatus.REDIRECTED, FetchStatus.GONE, FetchStatus.ROBOTS_DENIED}
# The page is there, and not for us.
UNREADABLE = frozenset({FetchStatus.ROBOTS_DENIED, FetchStatus.BLOCKED})
# Trying the same address again would end the same way: a hub that was only guessed is dropped.
HOPELESS = UNREADABLE | {
    FetchStatus.GONE,
    FetchStatus.REDIRECTED,
    FetchStatus.INVALID_URL,
    FetchStatus.BAD_REDIRECT,
    FetchStatus.TOO_MANY_REDIRECTS,
    FetchStatus.FORBIDDEN_ADDRESS,
}
# Speaks of the host as a whole, which is then backed off from; other failures are the page's own.
HOST_TROUBLE = frozenset(
    {
        FetchStatus.RATE_LIMITED,
        FetchStatus.SERVER_ERROR,
        FetchStatus.TIMED_OUT,
        FetchStatus.DNS_FAILED,
        FetchStatus.CONNECT_FAILED,
        FetchStatus.TLS_FAILED,
        FetchStatus.ROBOTS_UNREACHABLE,
    }
)
# Nothing was sent, so the host is owed nothing.
NOT_SENT = frozenset({FetchStatus.ROBOTS_DENIED, FetchStatus.INVALID_URL})


@dataclass(frozen=True, slots=True)
class Request:
    """One page to fetch, or one message to deliver."""

    url: str
    etag: str | None = None
    last_modified: str | None = None
    """Validators of the copy we hold, as the server gave them."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Of our own, over the usual ones; an API key among them stays out of ``repr``."""
    post: bytes | None = field(default=None, repr=False)
    """Body of a POST; None = GET. A POST is sent once: no redirect is followed, nothing repeated."""


@dataclass(frozen=True, slots=True)
class Response:
    """What a fetch brought: always a value, whatever went wrong.

    *body* is decoded from gzip/deflate/br/zstd and otherwise as the server sent it; it is empty
    unless *status* is FETCHED. To a POST any code from 200 to 299 is FETCHED. Header names are lower
    case.
    """

    url: str
    """Where the body came from, after redirects within the host."""
    status: FetchStatus
    requested_url: str = ""
    http_code: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    redirects: tuple[str, ...] = ()
    """URLs passed through, the requested one first."""
    location: str | None = None
    """For REDIRECTED: the absolute URL on the other host."""
    permanent: bool = False
    """Whether every redirect passed was permanent (301, 308)."""
    retry_after_seconds: float | None = None
    elapsed_seconds: float = 0.0
    detail: str = ""
    """One line for people: what went wrong, without credentials."""

    @property
    def content_type(self) -> str:
        """The media type in lower case, without parameters; empty when not told."""
        return self.headers.get("content-type", "").split(";")[0].strip().lower()
