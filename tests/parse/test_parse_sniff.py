"""What a body is, not what its header says."""

import pytest

from incremental.parse.sniff import Form, sniff


@pytest.mark.parametrize(
    ("body", "content_type", "form"),
    [
        (b"<!DOCTYPE html><html>", "text/html", Form.HTML),
        (b"<!doctype html><html>", "application/rss+xml", Form.HTML),
        (b"<?xml version='1.0'?><!DOCTYPE html PUBLIC 'x'><html>", "text/xml", Form.HTML),
        (b'<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN"><html>', "", Form.HTML),
        (b"<p>fragment", "", Form.HTML),
        (b"<!-- c --><div>", "text/plain", Form.HTML),
        (b"words with <b>mark-up</b>", "", Form.HTML),
        (b"words", "text/html", Form.HTML),
        (b"<html>\0\0\0<a href=x>", "text/html", Form.HTML),
        (b"  <rss version='2.0'>", "text/html", Form.XML_FEED),
        (b"\xef\xbb\xbf<?xml version='1.0'?><feed>", "", Form.XML_FEED),
        (b"<!-- x --><?xml-stylesheet href='a'?><rdf:RDF>", "", Form.XML_FEED),
        (b"<atom:feed>", "", Form.XML_FEED),
        (b"<!DOCTYPE rss [<!ENTITY a 'b'>]><rss>", "", Form.XML_FEED),
        (b"<br/>Warning: x in y.php<?xml version='1.0'?><rss>", "application/xml", Form.XML_FEED),
        ("<rss>".encode("utf-16"), "", Form.XML_FEED),
        ("<rss>".encode("utf-16-be"), "", Form.XML_FEED),
        (b"<urlset>", "text/html", Form.SITEMAP),
        (b"<sitemapindex xmlns='x'>", "text/html", Form.SITEMAP),
        (b"<feedback>", "", Form.HTML),
        (b'{"version": "https://jsonfeed.org/version/1.1"', "text/html", Form.JSON_FEED),
        (b"https://example.org/a\nhttps://example.org/b", "text/plain", Form.URL_LIST),
        (b"https://example.org/a is a page", "text/plain", Form.TEXT),
        (b"User-agent: *\nDisallow:", "text/plain", Form.TEXT),
        (b"", "text/html", Form.EMPTY),
        (b" \r\n\t", "text/html", Form.EMPTY),
        (b"%PDF-1.7 ...", "text/html", Form.BINARY),
        (b"\x89PNG\r\n\x1a\n" + bytes(99), "text/html", Form.BINARY),
        (b"PK\x03\x04\x14\0\0\0\x08\0", "", Form.BINARY),
    ],
)
def test_sniff(body: bytes, content_type: str, form: Form) -> None:
    assert sniff(body, content_type) is form
