"""Chooses the parser of a body; the entry point of this package."""

import zlib
from collections.abc import Iterator
from dataclasses import replace

from incremental.parse.decoding import decode_body
from incremental.parse.feeds import parse_feed, parse_json_feed
from incremental.parse.html import parse_html
from incremental.parse.page import Page, PageKind, ParseLimits
from incremental.parse.sitemaps import parse_sitemap, parse_url_list
from incremental.parse.sniff import Form, sniff

_MAGIC = b"\x1f\x8b"
_CHUNK_BYTES = 65_536
_GZIP_WINDOW = 16 + zlib.MAX_WBITS  # zlib: 16 selects the gzip format


def is_gzip(body: bytes) -> bool:
    """Return whether *body* starts like a gzip file."""
    return body.startswith(_MAGIC)


def pieces(body: bytes) -> Iterator[bytes]:
    """Yield *body* in pieces of at most 64 KiB, unpacking gzip only as far as the reader asks.

    A truncated or broken file yields its beginning.
    """
    if not is_gzip(body):
        for start in range(0, len(body), _CHUNK_BYTES):
            yield body[start : start + _CHUNK_BYTES]
        return
    unpacker = zlib.decompressobj(_GZIP_WINDOW)
    waiting = body
    while waiting and not unpacker.eof:
        try:
            piece = unpacker.decompress(waiting, _CHUNK_BYTES)
        except zlib.error:
            return
        if piece:
            yield piece
        waiting = unpacker.unconsumed_tail


def unpacked(body: bytes, max_bytes: int) -> bytes:
    """Return at most *max_bytes* of *body*, unpacked if it is gzip."""
    if not is_gzip(body):
        return body[:max_bytes]
    whole = bytearray()
    for piece in pieces(body):
        whole += piece
        if len(whole) >= max_bytes:
            break
    return bytes(whole[:max_bytes])


_PROBLEMS = {
    Form.EMPTY: "the body is empty",
    Form.BINARY: "the body is binary",
    Form.TEXT: "the body is plain text",
}
_TEXT_READERS = {
    Form.XML_FEED: parse_feed,
    Form.JSON_FEED: parse_json_feed,
    Form.URL_LIST: parse_url_list,
}
_FEED_WORDS = ("rss", "atom", "rdf", "feed")
_DEFAULTS = ParseLimits()


def parse(
    body: bytes,
    url: str,
    *,
    content_type: str = "",
    want_text: bool = False,
    limits: ParseLimits = _DEFAULTS,
) -> Page:
    """Parse *body*, found at *url*. Never raises because of its content.

    *content_type* is the whole header, a hint. *want_text* adds main text and publication date. Links are
    absolute and http(s), in page order, duplicates included.
    """
    form = sniff(next(pieces(body), b""), content_type)
    if form in _PROBLEMS:
        return Page(url=url, kind=PageKind.OTHER, problem=_PROBLEMS[form])
    if form is Form.SITEMAP:
        return parse_sitemap(pieces(body), url, limits=limits)
    text, charset = decode_body(unpacked(body, limits.max_bytes + 1), content_type)
    if form in _TEXT_READERS:
        return _TEXT_READERS[form](text, url, limits=limits)
    page = parse_html(text, url, charset=charset, want_text=want_text, limits=limits)
    return replace(page, problem=_broken_promise(content_type))


def _broken_promise(content_type: str) -> str:
    """Return a problem if HTML came as a feed type."""
    claimed = content_type.partition(";")[0].strip().lower()
    if "html" in claimed or not any(word in claimed for word in _FEED_WORDS):
        return ""
    # Mostly an error page with status 200.
    return f"said to be {claimed}, but is HTML"
