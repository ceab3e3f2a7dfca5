"""Sitemaps, their index and their extensions."""

import gzip
from datetime import UTC, datetime

import pytest

from incremental.parse import Link, Page, PageKind, ParseLimits
from incremental.parse.dispatch import parse

URL = "https://example.org/sitemap.xml"
DAY = datetime(2024, 5, 6, tzinfo=UTC).timestamp()
SPACES = (
    'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
    'xmlns:xhtml="http://www.w3.org/1999/xhtml" '
    'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" '
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
)


def urlset(entries: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?><urlset {SPACES}>{entries}</urlset>'.encode()


def read(
    body: bytes, *, content_type: str = "application/xml", limits: ParseLimits | None = None
) -> Page:
    return parse(body, URL, content_type=content_type, limits=limits or ParseLimits())


def test_a_urlset() -> None:
    page = read(
        urlset("""
        <url><loc> https://example.org/1?a=1&amp;b=2 </loc><lastmod>2024-05-06</lastmod></url>
        <url><lastmod>when?</lastmod><loc><![CDATA[https://example.org/2]]></loc><priority>1</priority></url>
        <url><loc>/3</loc></url><url></url><url><loc>ftp://example.org/4</loc></url>"""),
    )
    assert page.kind is PageKind.SITEMAP
    assert page.links == (
        Link("https://example.org/1?a=1&b=2", context="lastmod", published_at=DAY),
        Link("https://example.org/2"),
        Link("https://example.org/3"),
    )


def test_an_index() -> None:
    page = read(
        b"<sitemapindex><sitemap><loc>https://example.org/a.xml.gz</loc><lastmod>2024-05-06</lastmod>"
        b"</sitemap><sitemap><loc>/b.xml</loc></sitemap></sitemapindex>",
    )
    assert page.kind is PageKind.SITEMAP_INDEX
    assert [link.url for link in page.links] == [
        "https://example.org/a.xml.gz",
        "https://example.org/b.xml",
    ]
    assert page.links[0].published_at == DAY


def test_news_dates_go_before_lastmod() -> None:
    (link,) = read(
        urlset("""<url><loc>/1</loc><lastmod>2024-05-09</lastmod><news:news>
        <news:publication><news:name>N</news:name><news:language>en</news:language></news:publication>
        <news:publication_date>2024-05-06T02:00:00+02:00</news:publication_date>
        <news:title>What &amp; why</news:title></news:news>
        <image:image><image:loc>/i.png</image:loc><image:title>I</image:title></image:image></url>"""),
    ).links
    assert link == Link("https://example.org/1", "What & why", "news", published_at=DAY)


def test_alternates_without_an_entry_of_their_own_follow() -> None:
    alternates = "".join(
        f'<xhtml:link rel="alternate" hreflang="{code}" href="/{code}/"/>'
        for code in ("en", "de", "zh")
    )
    page = read(
        urlset(f"<url><loc>/de/</loc>{alternates}</url><url><loc>/en/</loc>{alternates}</url>")
    )
    assert [(link.url[-4:], link.rel) for link in page.links] == [
        ("/de/", ()),
        ("/en/", ()),
        ("/zh/", ("alternate",)),
    ]


def test_a_url_is_listed_once() -> None:
    assert len(read(urlset("<url><loc>/a</loc></url>" * 5)).links) == 1


@pytest.mark.parametrize("content_type", ["text/html", "text/plain", "application/x-gzip", ""])
def test_a_sitemap_is_one_whatever_the_header_says(content_type: str) -> None:
    body = urlset("<url><loc>/a</loc></url>")
    for form in (body, gzip.compress(body), b"\xef\xbb\xbf" + body, b"\n\n" + body):
        page = read(form, content_type=content_type)
        assert (page.kind, [link.url for link in page.links]) == (
            PageKind.SITEMAP,
            ["https://example.org/a"],
        )


@pytest.mark.parametrize(
    "body",
    [
        b"<urlset><url><loc>/a</loc></url><url><loc>/b",
        b"<urlset><url><loc>/a</loc></url><url><bad></url></urlset>",
        b"<!-- made by x --><urlset xmlns='urn:wrong'><url><loc>/a</loc><lastmod/></url></urlset>",
        b"<s:urlset xmlns:s='urn:x'><s:url><s:loc>/a</s:loc></s:url></s:urlset>",
        b"<?xml-stylesheet href='x.xsl'?><urlset><url><LOC>/a</LOC></url></urlset>",
        "<?xml version='1.0' encoding='utf-16'?><urlset><url><loc>/a</loc></url></urlset>".encode(
            "utf-16"
        ),
    ],
)
def test_a_sloppy_sitemap_is_read(body: bytes) -> None:
    assert [link.url for link in read(body).links] == ["https://example.org/a"]


def test_a_cut_gzip_file_gives_its_beginning() -> None:
    body = urlset("".join(f"<url><loc>/{number * 7919}</loc></url>" for number in range(2_000)))
    links = read(gzip.compress(body)[:4_000]).links
    assert 100 < len(links) < 2_000


def test_the_number_of_urls_is_bounded() -> None:
    limits = ParseLimits(max_sitemap_urls=3)
    body = urlset("".join(f"<url><loc>/{number}</loc></url>" for number in range(9)))
    for form in (body, gzip.compress(body)):
        page = read(form, limits=limits)
        assert (len(page.links), page.truncated) == (3, True)


def test_the_unpacked_size_is_bounded() -> None:
    body = urlset(" " * 900_000 + "<url><loc>/a</loc></url>")
    page = read(gzip.compress(body), limits=ParseLimits(max_sitemap_bytes=100_000))
    assert (page.links, page.truncated) == ((), True)


@pytest.mark.parametrize(
    "body",
    [
        b"<urlset>" + b"<url><loc>https://a.org/</loc></url>" * 1_400_000,
        b"<urlset>" + b"<url>" * 9_900_000,
        b"<urlset>" + b"<x/>" * 9_900_000,
        b"<urlset>" + b"<x>" * 9_900_000,
    ],
    ids=["one URL repeated", "open entries", "other tags", "nested"],
)
def test_a_small_file_of_many_entries_is_cut_however_few_are_different(body: bytes) -> None:
    """300 KB of gzip that took 45 s and a gigabyte: the limits counted only different URLs.

    What was read is counted in tags and not in seconds, so that a slow machine is no failure.
    """
    page = read(gzip.compress(body, compresslevel=1))
    assert page.truncated
    assert len(page.links) <= 1


def test_a_plain_list() -> None:
    page = read(b"https://example.org/1\r\n\r\n https://example.org/2 \nnonsense\nhttps://example.org/1\n",
                content_type="text/plain")  # fmt: skip
    assert page.kind is PageKind.SITEMAP
    assert [link.url for link in page.links] == ["https://example.org/1", "https://example.org/2"]


def test_a_list_of_one_url_repeated_is_cut() -> None:
    page = read(b"https://a.org/\n" * 100_000, content_type="text/plain")
    assert (len(page.links), page.truncated) == (1, True)
