"""Every error of the libraries below has a status of ours."""

from __future__ import annotations

import inspect
import socket
import ssl

import pytest
import requests.exceptions
import urllib3.exceptions

from incremental.fetch.failures import EXPECTED_ERRORS, STATUS_BY_ERROR, status_of_error
from incremental.fetch.status import FetchStatus


@pytest.mark.parametrize("module", [requests.exceptions, urllib3.exceptions])
def test_no_error_of_the_libraries_is_without_a_status(module: object) -> None:
    errors = [
        kind
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, Exception) and not issubclass(kind, Warning)
    ]
    assert len(errors) > 20
    own = [kind for kind in errors if kind.__module__.startswith(("requests", "urllib3"))]
    assert [kind for kind in own if kind not in STATUS_BY_ERROR] == []
    assert [kind for kind in own if not issubclass(kind, EXPECTED_ERRORS)] == []


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
