"""Header fields: dates, waits and targets, right or wrong."""

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental.fetch.headers import (
    LONGEST_WAIT_SECONDS,
    cookies_set,
    fresh_seconds,
    redirect_target,
    retry_after_seconds,
)

NOW = 1_770_000_000.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("120", 120),
        (" 7.9 ", 7),
        ("0", 0),
        ("-5", None),
        ("soon", None),
        ("", None),
        ("9" * 11, LONGEST_WAIT_SECONDS),
        ("9" * 400, None),
        (formatdate(NOW + 90, usegmt=True), 90),
        (formatdate(NOW - 90, usegmt=True), 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", LONGEST_WAIT_SECONDS),
        ("Fri, 99 Dec 2026 99:99:99 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, seconds: float | None) -> None:
    assert retry_after_seconds(value, NOW) == seconds


@given(st.text(max_size=80))
def test_no_retry_after_fails_or_reaches_into_the_past(value: str) -> None:
    wait = retry_after_seconds(value, NOW)
    assert wait is None or 0 <= wait <= LONGEST_WAIT_SECONDS


_SOON = {"expires": formatdate(NOW + 90, usegmt=True), "date": formatdate(NOW, usegmt=True)}


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"cache-control": "public, MAX-AGE=600"}, 600),
        ({"cache-control": 'max-age="600"'}, 600),
        ({"cache-control": "max-age=600", "age": "250"}, 350),
        ({"cache-control": "max-age=600", "age": "700"}, 0),
        ({"cache-control": "max-age=600", **_SOON}, 600),
        ({"cache-control": "public", **_SOON}, 90),
        (_SOON | {"age": "30"}, 60),
        ({"expires": _SOON["expires"]}, 0),
        ({"expires": "0", "date": _SOON["date"]}, 0),
        ({"expires": _SOON["date"], "date": _SOON["expires"]}, 0),
        # For caches that others share, and for none.
        ({"cache-control": "s-maxage=600"}, 0),
        ({"cache-control": "no-cache, max-age=600"}, 0),
        ({"cache-control": "no-store", **_SOON}, 0),
        ({"cache-control": "max-age=-1"}, 0),
        ({"cache-control": "max-age=" + "9" * 12}, LONGEST_WAIT_SECONDS),
        ({"cache-control": "max-age=" + "9" * 400}, 0),
    ],
)
def test_an_answer_is_fresh_for_as_long_as_it_says(headers: dict[str, str], seconds: float) -> None:
    assert fresh_seconds(headers) == seconds


@given(
    st.dictionaries(st.sampled_from(["cache-control", "expires", "date", "age"]), st.text()),
)
def test_no_headers_make_freshness_fail_or_endless(headers: dict[str, str]) -> None:
    assert 0 <= fresh_seconds(headers) <= LONGEST_WAIT_SECONDS


def test_cookies_are_read_without_their_attributes() -> None:
    lines = ["a=1; Path=/; Expires=Mon, 99 Foo 2026", "b= x y ;Secure", "a=2", "c=", "no pair"]
    assert cookies_set([*lines, "bad name=1", "d=\r\n", "é=1", "=1"]) == {
        "a": "2",
        "b": "x y",
        "c": "",
    }
    assert len(cookies_set(f"n{n}=1" for n in range(100))) == 20


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/b", "http://a.example/b"),
        ("c#d", "http://a.example/x/c"),
        ("//b.example/", "http://b.example/"),
        ("../../..", "http://a.example/"),
        (" /b c ", "http://a.example/b%20c"),
        ("/\xe6\x96\xb0", "http://a.example/新"),
        ("/\xe9t\xe9", "http://a.example/été"),
        ("file:///etc", "file:///etc"),
        ("  ", None),
        (None, None),
        ("http://[", None),
    ],
)
def test_a_location_is_read_as_browsers_do(location: str | None, target: str | None) -> None:
    assert redirect_target("http://a.example/x/y", location) == target
