"""Main text: the article without the menus, whatever the page is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental.parse.dispatch import parse
from incremental.parse.main_text import MAX_CHARS, main_text

URL = "https://example.org/a.html"
SENTENCE = "The council decided on Monday that the old bridge will be repaired before winter. "
ARTICLE = (
    "<html><body><nav><ul><li><a href='/'>Home page</a><li><a href='/x'>Tenders</a></ul></nav>"
    f"<article><h1>Bridge</h1><p>{SENTENCE * 3}</p><p>{SENTENCE * 2}</p></article>"
    "<footer>All rights reserved</footer></body></html>"
)


def test_menus_and_footers_are_left_out() -> None:
    text = main_text(ARTICLE, URL)
    assert "old bridge" in text
    assert "Tenders" not in text
    assert "rights reserved" not in text


def test_chinese_text_is_kept() -> None:
    text = main_text(f"<html><body><p>{'市政府今天发布了新的公告。' * 20}</p></body></html>", URL)
    assert "发布了新的公告" in text


@pytest.mark.parametrize(
    "html",
    [
        "",
        " \n ",
        "\0",
        "plain words",
        "<!--" * 1000,
        "<div>" * 20_000 + "deep",
        "<?xml version='1.0' encoding='utf-16'?><html><p>hello",
        "<html><body>\ud800<p>lone \udfff surrogates &#xd800; &#0;</body>",
        "<table><tr><td>" * 300 + "nested",
    ],
)
def test_odd_pages_have_some_text_or_none(html: str) -> None:
    text = main_text(html, URL)
    assert "\0" not in text
    text.encode("utf-8")


def test_a_page_too_full_of_tags_gets_the_quick_reader() -> None:
    """The extractor would take seconds for it."""
    text = main_text("<p>one two three</p>" * 31_000, URL)
    assert text.startswith("one two three\none two three")


def test_the_text_is_bounded() -> None:
    assert len(main_text(f"<html><body><p>{'word ' * 300_000}</p></body></html>", URL)) <= MAX_CHARS


@given(st.text(alphabet="<>/ap='\"& \0\ud800bdivtable", max_size=200))
def test_nothing_that_a_site_sends_raises(html: str) -> None:
    assert isinstance(main_text(html, URL), str)


def test_headings_and_description_come_with_the_text_only() -> None:
    html = (
        "<html><head><meta name='description' content='On bridges'>"
        "<meta name='keywords' content='bridge, winter'></head><body><h1>A</h1><h2>B</h2></body>"
    )
    page = parse(html.encode(), URL, want_text=True)
    assert page.headings == ("A", "B")
    assert page.description == "On bridges bridge, winter"
    assert parse(html.encode(), URL).headings == ()
