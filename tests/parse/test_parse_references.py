"""References resolve as in a browser."""

from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incremental.parse.references import Resolver

BASE = "https://example.org/news/list.html?page=2#top"


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("a.html", "https://example.org/news/a.html"),
        ("./a.html", "https://example.org/news/a.html"),
        ("../a.html", "https://example.org/a.html"),
        ("/../../a.html", "https://example.org/a.html"),
        ("/a.html", "https://example.org/a.html"),
        ("?page=3", "https://example.org/news/list.html?page=3"),
        ("//cdn.example.net/a", "https://cdn.example.net/a"),
        ("///cdn.example.net/a", "https://cdn.example.net/a"),
        ("http://other.example/a", "http://other.example/a"),
        ("HTTP://Other.example/A", "http://Other.example/A"),
        ("https:a.html", "https://example.org/news/a.html"),
        ("https:/a.html", "https://example.org/a.html"),
        ("http:/other.example/a", "http://other.example/a"),
        ("http:other.example/a", "http://other.example/a"),
        ("https:///other.example/a", "https://other.example/a"),
        ("  /a.html\n", "https://example.org/a.html"),
        ("/a\t/b\r\n/c", "https://example.org/a/b/c"),
        ("\x00\x1f/a", "https://example.org/a"),
        ("\\a\\b", "https://example.org/a/b"),
        ("\\\\cdn.example.net\\a", "https://cdn.example.net/a"),
        ("/a?b=c\\d#e\\f", "https://example.org/a?b=c\\d#e\\f"),
        ("/a b.html", "https://example.org/a%20b.html"),
        ("/a?x=1&amp;y=2", "https://example.org/a?x=1&amp;y=2"),
        ("/新闻/1", "https://example.org/新闻/1"),
        ("/a#part", "https://example.org/a#part"),
        ("#/route", "https://example.org/news/list.html?page=2#/route"),
        ("#!route", "https://example.org/news/list.html?page=2#!route"),
        ("http://example.net:8080/a", "http://example.net:8080/a"),
        ("http://[2001:db8::1]/a", "http://[2001:db8::1]/a"),
    ],
)
def test_a_reference_becomes_absolute(reference: str, expected: str) -> None:
    assert Resolver(BASE).resolve(reference) == expected


@pytest.mark.parametrize(
    "reference",
    [
        "",
        "   ",
        "#",
        "#top",
        "javascript:void(0)",
        "java\nscript:alert(1)",
        " JavaScript:x",
        "mailto:a@example.org",
        "tel:+31",
        "data:text/html,x",
        "ftp://example.org/a",
        "file:///etc/passwd",
        "about:blank",
        "http://",
        "http:///",
        "http://[::1",
        "http://a b/",
        "http://example.org:99999/",
        "http://example.org:port/",
        "http://%zz/",
        "https:",
        "/" + "x" * 5_000,
    ],
)
def test_what_leads_nowhere_is_none(reference: str) -> None:
    assert Resolver(BASE).resolve(reference) is None


def test_a_query_is_encoded_in_the_charset_of_its_page() -> None:
    resolver = Resolver(BASE, charset="gb18030")
    assert resolver.resolve("/搜索?q=新&n=%41#新") == "https://example.org/搜索?q=%D0%C2&n=%41#新"


def test_nothing_resolves_against_a_base_that_is_no_url() -> None:
    for base in ("", "not a url", "file:///tmp/x", "http://[", "mailto:a@example.org"):
        assert Resolver(base).resolve("/a") is None
        assert Resolver(base).resolve("http://example.org/a") == "http://example.org/a"


@given(st.text(max_size=60), st.sampled_from([BASE, "http://e.org", "http://e.org/a/b/;c?d", "x"]))
@settings(deadline=None)
def test_what_resolves_is_http_with_a_host_that_urllib_takes(reference: str, base: str) -> None:
    url = Resolver(base).resolve(reference)
    if url is not None:
        parts = urlsplit(url)
        assert parts.scheme in {"http", "https"}
        assert parts.hostname
        assert parts.port is None or parts.port >= 0
        assert not set(url) & set(" \t\r\n\0")


@given(st.from_regex(r"(https?:)?[/\\]{0,4}[a-z\[\]@:%.# ?]{0,20}", fullmatch=True))
@settings(deadline=None)
def test_resolving_again_changes_nothing(reference: str) -> None:
    resolver = Resolver(BASE)
    url = resolver.resolve(reference)
    assert url is None or resolver.resolve(url) == url
