"""What happens to each request of a page that is drawn, before anything is sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental.visit.rendering.frames import Ruling, Wanted, is_own, ruling_of

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


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get"])
def test_nothing_is_changed_at_a_site(method: str) -> None:
    wanted = Wanted(1, "https://news.example/api", "fetch", method)
    assert ruling_of(wanted, PAGE) is Ruling.REFUSE


def test_only_the_host_of_the_page_is_its_own() -> None:
    assert is_own("https://news.example:8443/x", PAGE)
    assert not is_own("https://api.news.example/x", PAGE)
    assert not is_own("http://169.254.169.254/", PAGE)


@given(st.text(max_size=60), st.text(max_size=12), st.text(max_size=6))
def test_any_request_is_judged(url: str, kind: str, method: str) -> None:
    wanted = Wanted(1, f"https://{url}", kind, method)
    assert ruling_of(wanted, PAGE) in Ruling
