"""What a body really is; the header is only a hint."""

import re
from enum import Enum, auto

from w3lib.encoding import read_bom

_HEAD_BYTES = 4_096
_MAX_CONTROL_SHARE = 0.1
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


class Form(Enum):
    """Which parser a body needs."""

    HTML = auto()
    XML_FEED = auto()
    JSON_FEED = auto()
    SITEMAP = auto()
    """A urlset or a sitemap index."""
    URL_LIST = auto()
    """A sitemap in plain text."""
    EMPTY = auto()
    BINARY = auto()
    TEXT = auto()
    """Text without links."""


_ROOTS = {
    "rss": Form.XML_FEED,
    "feed": Form.XML_FEED,
    "rdf": Form.XML_FEED,
    "urlset": Form.SITEMAP,
    "sitemapindex": Form.SITEMAP,
}
_PREAMBLE = re.compile(
    r"(?:\s+|<\?[^>]*>|<!--.*?-->|<!(?!doctype\s+html)[a-z][^<>\[]*(?:\[[^\]]*\]\s*)?>)*",
    re.IGNORECASE | re.DOTALL,
)
_ROOT = re.compile(r"<(?:[a-z0-9_.-]+:)?([a-z]+)(?=[\s>/])", re.IGNORECASE)
_HTML_START = re.compile(r"<(?:!doctype\s+html|[a-z][a-z0-9]*(?=[\s>/])|!--)", re.IGNORECASE)
_FEED_INSIDE = re.compile(r"<(rss|feed|rdf:RDF|urlset|sitemapindex)(?=[\s>])")
_URL_LINE = re.compile(r"\s*https?://[^\s<>]+[ \t]*(?:[\r\n]|$)", re.IGNORECASE)
_JSON_FEED = re.compile(r'\s*\{.*?"(?:version|items)"\s*:', re.DOTALL)


def sniff(body: bytes, content_type: str) -> Form:
    """Classify *body* by its first bytes; *content_type* decides where they are ambiguous."""
    head = _head_text(body[:_HEAD_BYTES])
    start = _PREAMBLE.match(head)
    rest = head[start.end() :] if start else head
    if not rest:
        return Form.HTML if head.strip() else Form.EMPTY
    root = _ROOT.match(rest)
    if root and root[1].lower() in _ROOTS:
        return _ROOTS[root[1].lower()]
    claimed = content_type.partition(";")[0].strip().lower()
    if "xml" in claimed and "html" not in claimed:
        # A script's warnings may precede the document.
        inside = _FEED_INSIDE.search(rest)
        if inside:
            return _ROOTS[inside[1].partition(":")[0].lower()]
    if _HTML_START.match(rest):
        return Form.HTML
    return _unmarked(rest, claimed)


def _unmarked(rest: str, claimed: str) -> Form:
    if len(_CONTROL.findall(rest)) > _MAX_CONTROL_SHARE * len(rest):
        return Form.BINARY
    if rest.startswith("%PDF-"):
        return Form.BINARY
    if _JSON_FEED.match(rest):
        return Form.JSON_FEED
    if _URL_LINE.match(rest):
        return Form.URL_LIST
    if "html" in claimed or (not claimed and "<" in rest):
        return Form.HTML
    return Form.TEXT


def _head_text(head: bytes) -> str:
    """Decode just well enough to recognize markup."""
    marked, mark = read_bom(head)
    if marked is not None and mark is not None:
        return head[len(mark) :].decode(marked, "replace")
    if head[:2] == b"<\0":
        return head.decode("utf-16-le", "replace")
    if head[:2] == b"\0<":
        return head.decode("utf-16-be", "replace")
    return head.decode("latin-1")
