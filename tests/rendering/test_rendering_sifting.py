"""What happens to each request of a page that is drawn, before anything is sent."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental.rendering.frames import Wanted
from incremental.rendering.sifting import Ruling, is_own, is_query, ruling_of

PAGE = "https://news.example/list"


def ruling(url: str, kind: str, **more: object) -> Ruling:
    return ruling_of(Wanted(1, url, kind, **more), PAGE)  # type: ignore[arg-type]  # fields of Wanted


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        (PAGE, "document"),
        ("https://news.example/en/list", "document"),
        ("https://news.example/app.js", "script"),
        ("https://cdn.example/react.js", "script"),
        ("https://news.example/api/list", "xhr"),
        ("https://api.example/list", "fetch"),
    ],
)
def test_what_a_list_needs_is_fetched(url: str, kind: str) -> None:
    assert ruling(url, kind) is Ruling.FETCH


@pytest.mark.parametrize(
    "kind",
    [
        "image",
        "media",
        "font",
        "websocket",
        "eventsource",
        "ping",
        "manifest",
        "texttrack",
        "other",
    ],
)
def test_what_a_list_does_not_need_is_refused(kind: str) -> None:
    assert ruling("https://news.example/x", kind) is Ruling.REFUSE


def test_a_style_sheet_is_empty_so_that_scripts_go_on() -> None:
    assert ruling("https://news.example/a.css", "stylesheet") is Ruling.EMPTY


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://news.example/", "chrome://version"])
def test_another_scheme_is_refused(url: str) -> None:
    assert ruling(url, "fetch") is Ruling.REFUSE


def test_inner_frames_and_pages_of_other_hosts_are_refused() -> None:
    assert ruling(PAGE, "document", main=False) is Ruling.REFUSE
    assert ruling("https://other.example/", "document") is Ruling.REFUSE


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "POST"])
def test_nothing_is_changed_at_a_site(method: str) -> None:
    assert ruling("https://news.example/api", "fetch", method=method) is Ruling.REFUSE


def post(body: object, kind: str = "application/json") -> Wanted:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Wanted(1, "https://news.example/g", "fetch", "POST", content_type=kind, post=text)


@pytest.mark.parametrize(
    "body",
    [
        {"query": "{ posts { slug } }"},
        {"query": "query L { posts { slug } }"},
        [{"query": "{ a }"}],
    ],
)
def test_a_query_only_asks(body: object) -> None:
    assert is_query(post(body))
    assert ruling_of(post(body), PAGE) is Ruling.FETCH


@pytest.mark.parametrize(
    "body",
    [
        {"query": "mutation { drop }"},
        {"query": "query A { a } mutation B { b }"},
        {"query": "subscription { a }"},
        {"name": "x"},
        {"query": 1},
        [],
        [{"query": "{ a }"}, {}],
        b"query=x",
        b"\xff",
    ],
)
def test_what_may_change_something_is_no_query(body: object) -> None:
    assert not is_query(post(body))


def test_a_query_goes_to_the_own_origin_only_and_says_that_it_is_json() -> None:
    elsewhere = post({"query": "{ a }"})
    assert ruling_of(elsewhere, "https://other.example/") is Ruling.REFUSE
    assert not is_query(post({"query": "{ a }"}, "text/plain"))


def test_only_the_host_of_the_page_is_its_own() -> None:
    assert is_own("https://news.example:8443/x", PAGE)
    assert not is_own("https://api.news.example/x", PAGE)
    assert not is_own("http://169.254.169.254/", PAGE)


@given(st.text(max_size=60), st.text(max_size=12), st.text(max_size=6), st.binary(max_size=40))
def test_any_request_is_judged(url: str, kind: str, method: str, body: bytes) -> None:
    wanted = Wanted(1, f"https://{url}", kind, method, content_type="json", post=body)
    assert ruling_of(wanted, PAGE) in Ruling
