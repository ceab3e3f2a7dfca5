"""What hostile and broken sites send: always a page, never an exception, never without bound."""

import gzip
import zlib

import pytest

from incremental.parse import Page, PageKind, ParseLimits
from incremental.parse.dispatch import parse

URL = "https://example.org/"


def read(body: bytes, content_type: str = "text/html", *, want_text: bool = True) -> Page:
    return parse(body, URL, content_type=content_type, want_text=want_text)


@pytest.mark.parametrize("body", [b"", b"   \r\n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_an_empty_body_says_so(body: bytes) -> None:
    page = read(body)
    assert (page.kind, page.links, page.problem) == (PageKind.OTHER, (), "the body is empty")


@pytest.mark.parametrize("body", [b"\x1b$B", b"\x1b(B", b"~{", b"\x1b$)C", b"\x1b$B\x1b(B"])
@pytest.mark.parametrize("charset", ["iso-2022-jp", "iso-2022-kr", "hz", "utf-7", ""])
def test_escape_sequences_that_stand_for_nothing_are_a_page_without_links(
    body: bytes, charset: str
) -> None:
    """They decode to an empty text, for which libxml2 alone raises an error."""
    assert read(body, f"text/html; charset={charset}").links == ()


@pytest.mark.parametrize(
    "body",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(32)) * 99,
        b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01" + bytes(999),
        b"%PDF-1.4\n%\xe2\xe3\xcf\xd3",
        b"\x7fELF\x02\x01\x01" + bytes(99),
        gzip.compress(bytes(9_999), mtime=0),
        zlib.compress(b"<a href=/x>" * 999),
    ],
)
def test_a_binary_body_is_no_page_whatever_the_header_says(body: bytes) -> None:
    for content_type in ("text/html", "application/rss+xml", ""):
        page = read(body, content_type)
        assert (page.kind, page.links, page.problem) == (PageKind.OTHER, (), "the body is binary")


def test_plain_text_is_no_page() -> None:
    page = read(b"User-agent: *\nDisallow: /\n", "text/plain")
    assert (page.kind, page.problem) == (PageKind.OTHER, "the body is plain text")


def test_of_a_million_links_the_first_are_kept() -> None:
    body = b"<title>Many</title>" + b"<a href=/%d>x</a>\n" * 1_000_000 % tuple(range(1_000_000))
    page = read(body)
    assert (len(page.links), page.truncated, page.title) == (20_000, True, "Many")
    assert page.links[-1].url == "https://example.org/19999"


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("<div>", "</div>"),
        ("<b>", "</b>"),
        ("<span class=x>", "</span>"),
        ("<ul><li>", "</ul>"),
        ("<table><tr><td>", "</table>"),
        ("<h1>", "</h1>"),
        ("<x-y>", "</x-y>"),
    ],
)
def test_ten_thousand_nested_tags_hide_no_link(opening: str, closing: str) -> None:
    deep = f"{opening * 10_000}<a href=/2>b</a>{closing * 10_000}"
    page = read(f"<a href=/1>a</a>{deep}<a href=/3>c</a>".encode())
    assert [link.url[-1] for link in page.links] == ["1", "2", "3"]
    assert not page.truncated


def test_a_hundred_thousand_nested_tags_without_an_end_hide_no_link() -> None:
    page = read(b"<div>" * 100_000 + b"<a href=/1>a</a>")
    assert len(page.links) == 1


def test_end_tags_that_match_nothing_cannot_keep_the_parser_busy() -> None:
    page = read(b"<a href=/1>a</a>" + b"<i>" * 50_000 + b"</b>" * 1_000_000)
    assert (len(page.links), page.truncated) == (1, True)


def test_nul_bytes_hide_nothing() -> None:
    page = read(
        b"<html>\0<title>A\0B</title>\0\0<a href=/1>o\0ne</a><a\0href=/2>two</a><a href=/3>\0</a>"
    )
    assert {"https://example.org/1", "https://example.org/3"} <= {link.url for link in page.links}
    assert "\0" not in repr(page)


def test_a_feed_that_is_html_is_read_as_html_and_says_so() -> None:
    page = read(b"<!DOCTYPE html><title>Not found</title><a href=/>home</a>", "application/rss+xml")
    assert (page.kind, page.title, len(page.links)) == (PageKind.HTML, "Not found", 1)
    assert page.problem == "said to be application/rss+xml, but is HTML"


def test_html_that_is_a_feed_is_read_as_a_feed() -> None:
    page = read(b"<rss><channel><item><link>/1</link></item></channel></rss>", "text/html")
    assert (page.kind, len(page.links), page.problem) == (PageKind.FEED, 1, "")


def laughs(root: str) -> bytes:
    """Return a document whose entities grow to 10^11 characters."""
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    return f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "lol">{entities}]>{root}'.encode()


@pytest.mark.parametrize(
    "root",
    [
        "<urlset><url><loc>https://example.org/&e11;</loc></url></urlset>",
        "<urlset><url><loc>/1</loc><link rel='alternate' href='&e11;'/></url></urlset>",
        "<sitemapindex><sitemap><loc>&e11;</loc></sitemap></sitemapindex>",
        "<rss><channel><item><title>&e11;</title><link>/1</link></item></channel></rss>",
        "<rss><channel><item><title a='&e11;'>x</title></item></channel></rss>",
        "<feed xmlns='http://www.w3.org/2005/Atom'><title>&e11;</title></feed>",
        "<html><a href='/&e11;'>&e11;</a></html>",
    ],
)
def test_an_entity_bomb_does_not_go_off(root: str) -> None:
    assert len(repr(read(laughs(root), "application/xml"))) < 2_000


def test_one_big_entity_used_often_does_not_go_off() -> None:
    entity = f'<!DOCTYPE x [<!ENTITY a "{"x" * 3_000}">]>'
    for root in (
        "<urlset><url><loc>{}</loc></url></urlset>",
        "<rss><channel><title>{}</title></channel></rss>",
    ):
        body = (entity + root.format("&a;" * 100_000)).encode()
        assert len(repr(read(body, "application/xml"))) < 10_000


@pytest.mark.parametrize("scheme", ["file:///etc/passwd", "http://127.0.0.1:9/x"])
def test_an_external_entity_is_not_fetched(scheme: str) -> None:
    doctype = f'<?xml version="1.0"?><!DOCTYPE x SYSTEM "{scheme}" [<!ENTITY a SYSTEM "{scheme}">]>'
    for root in (
        "<urlset><url><loc>https://example.org/&a;</loc></url></urlset>",
        "<rss><channel><item><title>&a;</title><link>/1</link></item></channel></rss>",
    ):
        assert "root:" not in repr(read((doctype + root).encode(), "application/xml"))


@pytest.mark.parametrize(
    "start", [b"<urlset>", b"<html>", b"<rss><channel>", b"https://example.org/\n", b"{"]
)
def test_a_gzip_bomb_is_unpacked_only_so_far(start: bytes) -> None:
    packer = zlib.compressobj(wbits=31)
    spaces = bytes(1_000_000).replace(b"\0", b" ")
    bomb = (
        packer.compress(start)
        + b"".join(packer.compress(spaces) for _ in range(300))
        + packer.flush()
    )
    page = parse(bomb, URL, content_type="application/gzip")
    assert len(bomb) < 400_000
    assert len(page.links) <= 1


def test_a_sitemap_of_half_a_million_urls_is_cut() -> None:
    entry = b"<url><loc>https://example.org/%d</loc></url>"
    body = b"<urlset>" + b"".join(entry % number for number in range(200_000)) + b"</urlset>"
    for form in (body, gzip.compress(body, 1)):
        page = read(form, "text/html")
        assert (page.kind, len(page.links), page.truncated) == (PageKind.SITEMAP, 50_000, True)


@pytest.mark.parametrize(
    "piece",
    [b"<", b"&", b"&#", b"<!--", b"<![CDATA[", b"<?", b"<a ", b'<a b="', b"</", b"<a href=",
     b"<svg>", b"<title>", b"<script>", b"<base href=a/>", b"<meta name=a content=b>", b"<h1>",
     b"<select>", b"\xff", b"\r", "\u00a0".encode()],
)  # fmt: skip
def test_a_megabyte_of_the_same_is_harmless(piece: bytes) -> None:
    body = b"<html><a href=/1>a</a>" + piece * (1_000_000 // len(piece))
    page = read(body)
    assert page.kind is PageKind.HTML
    assert page.links[0].url == "https://example.org/1"


@pytest.mark.parametrize(
    "piece", [b"<a ", b"<item>", b'<a xml:base="c/">', b"&#", b"<![", b'<a b="']
)
def test_a_feed_of_the_same_is_harmless(piece: bytes) -> None:
    head = b"<rss><channel><item><link>/1</link></item><item><description>"
    limits = ParseLimits(max_feed_tags=20_000, max_feed_bytes=200_000)
    page = parse(head + piece * 100_000, URL, limits=limits)
    assert page.kind is PageKind.FEED
    assert page.links[0].url == "https://example.org/1"


@pytest.mark.parametrize("opening", ["<div>", "<ul><li>", "<span><b>"])
def test_millions_of_nested_tags_are_cut(opening: str) -> None:
    """Ten megabytes took 12 s and half a gigabyte: each open element keeps its path."""
    page = read((opening * (10_000_000 // len(opening))).encode())
    assert page.truncated


def test_the_depth_of_a_page_is_bounded() -> None:
    limits = ParseLimits(max_depth=50)
    deep = "<div>" * 60
    page = parse(f"<a href=/1>a</a>{deep}<a href=/2>b</a>".encode(), URL, limits=limits)
    assert [link.url for link in page.links] == ["https://example.org/1"]
