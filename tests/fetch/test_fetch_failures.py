"""Every error of the libraries below has a status of ours."""

import inspect
import socket
import ssl
from types import ModuleType

import pytest
import requests.exceptions
import urllib3.exceptions

from incremental.fetch.failures import EXPECTED_ERRORS, status_of_error
from incremental.fetch.status import FetchStatus

# Errors of requests and urllib3 by the status that they mean.
STATUSES: dict[ModuleType, dict[FetchStatus, str]] = {
    requests.exceptions: {
        FetchStatus.BROKEN_RESPONSE: (
            "RequestException InvalidJSONError JSONDecodeError InvalidHeader "
            "ChunkedEncodingError ContentDecodingError StreamConsumedError "
            "RetryError UnrewindableBodyError"
        ),
        FetchStatus.HTTP_ERROR: "HTTPError",
        FetchStatus.CONNECT_FAILED: "ConnectionError ProxyError InvalidProxyURL",
        FetchStatus.TLS_FAILED: "SSLError",
        FetchStatus.TIMED_OUT: "Timeout ConnectTimeout ReadTimeout",
        FetchStatus.INVALID_URL: "URLRequired MissingSchema InvalidSchema InvalidURL",
        FetchStatus.TOO_MANY_REDIRECTS: "TooManyRedirects",
    },
    urllib3.exceptions: {
        FetchStatus.BROKEN_RESPONSE: (
            "HTTPError DecodeError ProtocolError ResponseError ResponseNotChunked "
            "BodyNotHttplibCompatible IncompleteRead InvalidChunkLength "
            "InvalidHeader HeaderParsingError UnrewindableBodyError"
        ),
        FetchStatus.CONNECT_FAILED: (
            "PoolError RequestError ProxyError MaxRetryError NewConnectionError "
            "EmptyPoolError FullPoolError ClosedPoolError ProxySchemeUnknown "
            "ProxySchemeUnsupported"
        ),
        FetchStatus.TLS_FAILED: "SSLError",
        FetchStatus.BAD_REDIRECT: "HostChangedError",
        FetchStatus.TIMED_OUT: (
            "TimeoutStateError TimeoutError ReadTimeoutError ConnectTimeoutError"
        ),
        FetchStatus.DNS_FAILED: "NameResolutionError",
        FetchStatus.INVALID_URL: "LocationValueError LocationParseError URLSchemeUnknown",
    },
}


@pytest.mark.parametrize("module", STATUSES)
def test_each_error_of_the_libraries_has_its_status(module: ModuleType) -> None:
    """A version that brings another error fails here: somebody says what it means."""
    own = {
        kind.__name__: kind
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if kind.__module__ == module.__name__
        and issubclass(kind, Exception)
        and not issubclass(kind, Warning)
    }
    wanted = {name: status for status, names in STATUSES[module].items() for name in names.split()}
    assert own.keys() == wanted.keys()
    found = {name: status_of_error(kind.__new__(kind)) for name, kind in own.items()}
    assert found == wanted
    assert [kind for kind in own.values() if not issubclass(kind, EXPECTED_ERRORS)] == []


def wrapped(cause: Exception) -> Exception:
    """Wrap an error as requests and urllib3 do."""
    reason = urllib3.exceptions.NewConnectionError(None, "failed")  # type: ignore[arg-type] # no pool
    reason.__cause__ = cause
    exhausted = urllib3.exceptions.MaxRetryError(None, "/", reason)  # type: ignore[arg-type] # no pool
    return requests.exceptions.ConnectionError(exhausted)


@pytest.mark.parametrize(
    ("cause", "status"),
    [
        (socket.gaierror(-2, "unknown"), FetchStatus.DNS_FAILED),
        (ConnectionRefusedError(111, "refused"), FetchStatus.CONNECT_FAILED),
        (OSError(113, "no route"), FetchStatus.CONNECT_FAILED),
        (TimeoutError("slow"), FetchStatus.TIMED_OUT),
        (ssl.SSLCertVerificationError(1, "expired"), FetchStatus.TLS_FAILED),
        (RuntimeError("not in the table"), FetchStatus.CONNECT_FAILED),
    ],
)
def test_the_innermost_known_cause_decides(cause: Exception, status: FetchStatus) -> None:
    assert status_of_error(wrapped(cause)) is status


def test_a_reset_while_reading_is_a_broken_answer_not_a_failure_to_connect() -> None:
    reset = urllib3.exceptions.ProtocolError("broken", ConnectionResetError(104, "reset"))
    reading = requests.exceptions.ChunkedEncodingError(reset)
    assert status_of_error(reading) is FetchStatus.BROKEN_RESPONSE
    assert status_of_error(requests.exceptions.ConnectionError(reset)) is FetchStatus.CONNECT_FAILED


def test_errors_that_hold_each_other_are_followed_to_an_end() -> None:
    first, second = OSError("a"), OSError("b")
    first.__cause__, second.__cause__ = second, first
    assert status_of_error(first) is FetchStatus.CONNECT_FAILED
