"""What holds for any body at all."""

import gzip
import json
from dataclasses import fields
from urllib.parse import urlsplit

from hypothesis import example, given, settings
from hypothesis import strategies as st

from incremental.parse import Page, PageKind
from incremental.parse.dispatch import parse

URL = "https://example.org/a/"

TAGS = ["a", "area", "base", "div", "h1", "h2", "html", "img", "li", "link", "main", "meta",
        "noscript", "p", "script", "style", "svg", "table", "td", "template", "time", "title",
        "ul"]  # fmt: skip
NAMES = ["alt", "class", "content", "datetime", "href", "http-equiv", "id", "lang", "name",
         "property", "rel", "title", "type", "xlink:href"]  # fmt: skip
VALUES = ["/x", "//h/x", "http:", "https://e.org:99999/", "next", "refresh", "0;url=/y",
          "canonical", "alternate", "application/rss+xml", "application/ld+json", "javascript:x",
          "2024-02-31", "[", "date", ""]  # fmt: skip

attribute = st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES) | st.text(max_size=8)).map(
    lambda pair: f'{pair[0]}="{pair[1]}"',
)
start_tag = st.tuples(st.sampled_from(TAGS), st.lists(attribute, max_size=3)).map(
    lambda pair: f"<{pair[0]} {' '.join(pair[1])}>",
)
end_tag = st.sampled_from(TAGS).map("</{}>".format)
markup = st.lists(start_tag | end_tag | st.text(max_size=12), max_size=25).map("".join)

xml_piece = st.sampled_from(
    ["<rss>", "<channel>", "<item>", "</item>", "<link>", "</link>", "<feed>", "<entry>",
     "<link href='/a'/>", "<urlset>", "<url>", "<loc>", "</loc>", "</url>", "<lastmod>", "<ttl>",
     "<sitemapindex>", "<sitemap>", "<pubDate>", "</pubDate>", "<title type='html'>", "<gml:pos>",
     "<content type='xhtml'>", "<![CDATA[", "]]>", "&#0;", "&#xD800;", "&#99999999;", "&amp;",
     "<enclosure url='/b'/>", "<textInput>", "<id>", "{", "https://e.org/", "\n"],
)  # fmt: skip
xml = st.lists(xml_piece | st.text(max_size=6), max_size=20).map("".join)

HEADERS = st.sampled_from(
    ["", "text/html", "text/html; charset=gbk", "application/xml", "text/plain"]
)


def check(page: Page) -> None:
    """Assert what every caller relies on."""
    for field in fields(page):
        value = getattr(page, field.name)
        if isinstance(value, str) and field.name != "url":
            assert "\0" not in value
            value.encode()
    urls = [
        page.canonical_url,
        page.next_url,
        page.refresh_url,
        *page.feed_urls,
    ]
    for url in filter(None, [*urls, *(link.url for link in page.links)]):
        parts = urlsplit(url)
        assert parts.scheme in {"http", "https"}
        assert parts.hostname
    for link in page.links:
        "".join(
            [link.url, link.anchor, link.context, link.tag_path, link.heading, *link.rel]
        ).encode()
        assert len(link.context) <= 300
        assert len(link.heading) <= 120
        assert link.anchor == " ".join(link.anchor.split())


@given(markup)
@example('<p><a href="//[">x</a><base href="[">')
@example("<table><a href=/x><td></a>")
@example("<title>&#xD800;</title><a href='/&#xD800;&#0;&#x110000;'>&#xDFFF;&#0;</a>")
@settings(max_examples=200, deadline=None)
def test_any_markup_gives_a_sound_page(text: str) -> None:
    page = parse(f"<html>{text}".encode("utf-8", "replace"), URL, want_text=True)
    assert page.kind is PageKind.HTML
    check(page)


@given(xml, HEADERS)
@settings(max_examples=100, deadline=None)
def test_any_xml_gives_a_sound_page(text: str, content_type: str) -> None:
    check(parse(text.encode("utf-8", "replace"), URL, content_type=content_type, want_text=True))


@given(st.sampled_from(["<rss><channel><item>", "<urlset><url>", "<feed><entry>"]), xml)
@settings(max_examples=100, deadline=None)
def test_any_feed_or_sitemap_gives_a_sound_page(start: str, text: str) -> None:
    page = parse((start + text).encode("utf-8", "replace"), URL)
    assert page.kind in {PageKind.FEED, PageKind.SITEMAP}
    check(page)


@given(st.binary(max_size=300), HEADERS)
@settings(max_examples=200, deadline=None)
def test_any_bytes_give_a_sound_page(body: bytes, content_type: str) -> None:
    check(parse(body, URL, content_type=content_type, want_text=True))
    check(parse(gzip.compress(body)[: len(body)], URL, content_type=content_type))


@given(st.text(max_size=200), st.text(max_size=30))
@settings(deadline=None)
def test_any_text_and_any_address_give_a_sound_page(text: str, url: str) -> None:
    html = f"<a href='{text}'>{text}</a><link rel=next href='{text}'>"
    check(parse(html.encode("utf-8", "replace"), url, content_type="text/html; charset=utf-8"))


json_value = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["items", "url", "id", "title", "hubs", "summary"]), inner, max_size=4
        )
    ),
    max_leaves=15,
)


@given(st.lists(json_value, max_size=4), json_value)
@settings(max_examples=100, deadline=None)
def test_any_json_feed_gives_a_sound_page(items: list[object], hubs: object) -> None:
    check(parse(json.dumps({"version": "1", "items": items, "hubs": hubs}).encode(), URL))
