"""Requests, responses and how a fetch ended: plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class FetchStatus(StrEnum):
    """The outcome of a fetch."""

    FETCHED = "fetched"
    NOT_MODIFIED = "not_modified"
    REDIRECTED = "redirected"
    """To another host, which has its own robots.txt and queue: the caller decides."""
    GONE = "gone"
    """404 or 410."""
    BLOCKED = "blocked"
    """401, 403, 407, 451: the site refuses us or wants a password."""
    RATE_LIMITED = "rate_limited"
    """429, or 503 with Retry-After."""
    SERVER_ERROR = "server_error"
    HTTP_ERROR = "http_error"
    """Any other status code without a page."""
    TIMED_OUT = "timed_out"
    DNS_FAILED = "dns_failed"
    CONNECT_FAILED = "connect_failed"
    TLS_FAILED = "tls_failed"
    TOO_LARGE = "too_large"
    """More decoded bytes than allowed."""
    TOO_MANY_REDIRECTS = "too_many_redirects"
    BAD_REDIRECT = "bad_redirect"
    """The Location is missing, malformed or not http(s)."""
    FORBIDDEN_ADDRESS = "forbidden_address"
    """A non-public address."""
    INVALID_URL = "invalid_url"
    BROKEN_RESPONSE = "broken_response"
    """Bad chunking, a wrong Content-Length, undecodable compression, a malformed header."""
    ROBOTS_DENIED = "robots_denied"
    NO_LIST = "no_list"
    """A hub's body holds no list: it is empty, no page, or a web page where a feed was looked for."""
    PARSE_TIMED_OUT = "parse_timed_out"
    """The body took longer to read than allowed."""
    PARSE_FAILED = "parse_failed"
    """The body took more memory than allowed, or crashed the process that read it."""
    INTERNAL_ERROR = "internal_error"
    """A bug of ours, with details in the log."""
    ROBOTS_UNREACHABLE = "robots_unreachable"
    """robots.txt answers 5xx or not at all: RFC 9309 says to wait."""


# We hold the current page.
HAS_PAGE = frozenset({FetchStatus.FETCHED, FetchStatus.NOT_MODIFIED})
# What was there, or might have been, is not.
ENDED = frozenset({FetchStatus.GONE, FetchStatus.NO_LIST})
# No failure of the site: pages end and move, and obeying a rule is nobody's fault.
HARMLESS = HAS_PAGE | ENDED | {FetchStatus.REDIRECTED, FetchStatus.ROBOTS_DENIED}
# The page exists, but not for us.
UNREADABLE = frozenset({FetchStatus.ROBOTS_DENIED, FetchStatus.BLOCKED})
# Retrying would end the same way: a hub that was only guessed is dropped.
HOPELESS = (
    UNREADABLE
    | ENDED
    | {
        FetchStatus.REDIRECTED,
        FetchStatus.INVALID_URL,
        FetchStatus.BAD_REDIRECT,
        FetchStatus.TOO_MANY_REDIRECTS,
        FetchStatus.FORBIDDEN_ADDRESS,
    }
)
# The whole host is in trouble, so it is backed off from; other failures concern the page alone.
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
# Nothing was sent, so no politeness delay is due.
NOT_SENT = frozenset({FetchStatus.ROBOTS_DENIED, FetchStatus.INVALID_URL})


@dataclass(frozen=True, slots=True)
class Request:
    """One page to fetch."""

    url: str
    etag: str | None = None
    last_modified: str | None = None
    """Validators of our copy, as the server sent them."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Replace the default headers; kept out of ``repr``, as they may hold an API key."""
    seconds: float | None = None
    """Most time for it, if less than the settings allow."""
    most_bytes: int | None = None
    """Most decoded bytes, likewise; a robots.txt has its own limit."""


@dataclass(frozen=True, slots=True)
class Response:
    """The result of a fetch, whatever went wrong.

    *body* has its content encoding removed and is empty unless *status* is FETCHED. For a POST, codes 200 to
    299 are FETCHED. Header names are lower case.
    """

    url: str
    """Of the body, after redirects within the host."""
    status: FetchStatus
    http_code: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    redirects: tuple[str, ...] = ()
    """Redirecting URLs, the requested one first."""
    location: str | None = None
    """For REDIRECTED: the absolute URL on another host."""
    permanent: bool = False
    """Every redirect was permanent (301, 308)."""
    retry_after_seconds: float | None = None
    certificate_until: float | None = None
    """When the server's certificate ends, unix seconds; None = unknown, or without TLS."""
    elapsed_seconds: float = 0.0
    detail: str = ""
    """What went wrong, one line for display, without credentials."""

    @property
    def content_type(self) -> str:
        """The media type in lower case without parameters; may be empty."""
        return self.headers.get("content-type", "").split(";")[0].strip().lower()
