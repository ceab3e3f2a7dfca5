"""Two tables that map foreign errors and HTTP status codes to a fetch status.

Errors are walked from the outermost inwards (requests wraps urllib3, which wraps http.client, ssl and
socket); the innermost one in the table decides.
"""

import http.client
import socket
import ssl
from collections.abc import Iterator

from requests import exceptions as requests_errors
from urllib3 import exceptions as urllib3_errors

from hubwatch.errors import LimitError
from incremental.fetch.guard import ForbiddenAddressError
from incremental.fetch.status import FetchStatus


class TooLargeError(LimitError):
    """A body is, or is announced to be, larger than allowed."""


# What a site can make sending a request and reading the response raise.
EXPECTED_ERRORS: tuple[type[Exception], ...] = (
    OSError,  # sockets, ssl, and all of requests
    ValueError,  # unreadable URLs and responses: http.client converts without checking
    TooLargeError,
    http.client.HTTPException,
    urllib3_errors.HTTPError,
)

# An error that is not here has the status of the nearest base class that is.
_STATUS_BY_ERROR: dict[type[BaseException], FetchStatus] = {
    ForbiddenAddressError: FetchStatus.FORBIDDEN_ADDRESS,
    TooLargeError: FetchStatus.TOO_LARGE,
    socket.gaierror: FetchStatus.DNS_FAILED,
    TimeoutError: FetchStatus.TIMED_OUT,
    ssl.SSLError: FetchStatus.TLS_FAILED,
    OSError: FetchStatus.CONNECT_FAILED,
    ValueError: FetchStatus.BROKEN_RESPONSE,
    http.client.HTTPException: FetchStatus.BROKEN_RESPONSE,
    # requests
    requests_errors.RequestException: FetchStatus.BROKEN_RESPONSE,
    requests_errors.HTTPError: FetchStatus.HTTP_ERROR,
    requests_errors.ConnectionError: FetchStatus.CONNECT_FAILED,
    requests_errors.SSLError: FetchStatus.TLS_FAILED,
    requests_errors.Timeout: FetchStatus.TIMED_OUT,
    requests_errors.ConnectTimeout: FetchStatus.TIMED_OUT,
    requests_errors.URLRequired: FetchStatus.INVALID_URL,
    requests_errors.TooManyRedirects: FetchStatus.TOO_MANY_REDIRECTS,
    requests_errors.MissingSchema: FetchStatus.INVALID_URL,
    requests_errors.InvalidSchema: FetchStatus.INVALID_URL,
    requests_errors.InvalidURL: FetchStatus.INVALID_URL,
    requests_errors.InvalidProxyURL: FetchStatus.CONNECT_FAILED,
    # urllib3
    urllib3_errors.HTTPError: FetchStatus.BROKEN_RESPONSE,
    urllib3_errors.PoolError: FetchStatus.CONNECT_FAILED,
    urllib3_errors.SSLError: FetchStatus.TLS_FAILED,
    urllib3_errors.ProxyError: FetchStatus.CONNECT_FAILED,
    urllib3_errors.HostChangedError: FetchStatus.BAD_REDIRECT,
    urllib3_errors.TimeoutStateError: FetchStatus.TIMED_OUT,
    urllib3_errors.TimeoutError: FetchStatus.TIMED_OUT,
    urllib3_errors.NewConnectionError: FetchStatus.CONNECT_FAILED,
    urllib3_errors.NameResolutionError: FetchStatus.DNS_FAILED,
    urllib3_errors.LocationValueError: FetchStatus.INVALID_URL,
    urllib3_errors.ProxySchemeUnknown: FetchStatus.CONNECT_FAILED,
    urllib3_errors.ProxySchemeUnsupported: FetchStatus.CONNECT_FAILED,
}

_STATUS_BY_CODE: dict[int, FetchStatus] = {
    200: FetchStatus.FETCHED,
    203: FetchStatus.FETCHED,
    301: FetchStatus.REDIRECTED,
    302: FetchStatus.REDIRECTED,
    303: FetchStatus.REDIRECTED,
    307: FetchStatus.REDIRECTED,
    308: FetchStatus.REDIRECTED,
    401: FetchStatus.BLOCKED,
    403: FetchStatus.BLOCKED,
    404: FetchStatus.GONE,
    407: FetchStatus.BLOCKED,
    410: FetchStatus.GONE,
    429: FetchStatus.RATE_LIMITED,
    451: FetchStatus.BLOCKED,
}

_MAX_DEPTH = 12


def status_of_code(code: int, *, conditional: bool, retry_after: bool) -> FetchStatus:
    """Map an HTTP status code.

    *conditional*: validators were sent, so 304 makes sense. *retry_after*: the response names a time.
    """
    if code == http.client.NOT_MODIFIED and conditional:
        return FetchStatus.NOT_MODIFIED
    # A time turns a 503 from an error into a request to wait.
    if code == http.client.SERVICE_UNAVAILABLE and retry_after:
        return FetchStatus.RATE_LIMITED
    if code >= http.client.INTERNAL_SERVER_ERROR:
        return FetchStatus.SERVER_ERROR
    return _STATUS_BY_CODE.get(code, FetchStatus.HTTP_ERROR)


def status_of_error(error: BaseException) -> FetchStatus:
    """Map an error by its innermost known cause."""
    status = FetchStatus.BROKEN_RESPONSE
    if isinstance(error, requests_errors.ChunkedEncodingError):
        # Raised only while reading a body, so a reset is not a failure to connect.
        return status
    for cause in causes(error):
        known = (_STATUS_BY_ERROR[kind] for kind in type(cause).__mro__ if kind in _STATUS_BY_ERROR)
        status = next(known, status)
    return status


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield *error* and what it wraps, outermost first."""
    current: BaseException | None = error
    for _ in range(_MAX_DEPTH):
        if current is None:
            return
        yield current
        inner = [getattr(current, "reason", None), current.__cause__, *reversed(current.args)]
        current = next((item for item in inner if isinstance(item, BaseException)), None)


def was_dropped(error: BaseException) -> bool:
    """Return whether the server closed the connection without a response, as idle ones end."""
    return any(isinstance(cause, urllib3_errors.ProtocolError) for cause in causes(error)) and any(
        isinstance(cause, ConnectionResetError | BrokenPipeError) for cause in causes(error)
    )


def tls_reason(error: BaseException) -> str:
    """Return the TLS library's reason, which holds no secret; empty if none."""
    for cause in causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return str(getattr(cause, "verify_message", ""))
        if isinstance(cause, ssl.SSLError):
            # Set only on errors of the TLS library.
            return str(getattr(cause, "reason", None) or "")
    return ""
