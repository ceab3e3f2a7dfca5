"""Sitemaps (sitemaps.org 0.9, Google's news and hreflang extensions) and plain lists of URLs."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import Any

from lxml import etree

from incremental.parse.ampersands import escaped_pieces
from incremental.parse.dates import parse_date
from incremental.parse.page import LimitReachedError, Link, Page, PageKind, ParseLimits
from incremental.parse.references import Resolver
from incremental.parse.text import fold, storable

_MAX_TITLE_CHARS = 500
_ROOTS = ("{*}urlset", "{*}sitemapindex")
_ENTRIES = ("{*}url", "{*}sitemap")
# Pictures and videos have their own loc and date.
_FIELDS = {
    ("url", "loc"): "loc",
    ("sitemap", "loc"): "loc",
    ("url", "lastmod"): "lastmod",
    ("sitemap", "lastmod"): "lastmod",
    ("news", "publication_date"): "news",
    ("news", "title"): "title",
}


def parse_sitemap(pieces: Iterable[bytes], url: str, *, limits: ParseLimits) -> Page:
    """Return the locations of a urlset or index, in file order, without duplicates.

    ``published_at`` is the news date, else lastmod; ``context`` says which. Alternates in other languages
    without an entry follow, with ``rel`` alternate. An unfinished entry is dropped: its URL may be cut.
    """
    found = _Locations(url, limits)
    truncated, problem = False, ""
    # External DTDs and entities are never loaded.
    closed = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}
    parser = etree.XMLPullParser(("start", "end"), tag=[*_ROOTS, *_ENTRIES], recover=True, **closed)
    try:
        for piece in escaped_pieces(pieces):
            found.count(piece)
            parser.feed(piece)
            for event, element in parser.read_events():
                found.take(event, element)
            found.forget_read()
    except LimitReachedError:
        truncated = True
    except (etree.XMLSyntaxError, UnicodeDecodeError) as error:
        # lxml raises the latter for a reference to a lone surrogate.
        problem = f"broken XML: {fold(str(error), 200)}"
    if not found.links and not truncated and parser.feed_error_log.last_error is not None:
        problem = f"broken XML: {fold(parser.feed_error_log.last_error.message, 200)}"
    others = (link for url, link in found.alternates.items() if url not in found.links)
    return Page(
        url=url,
        kind=PageKind.SITEMAP_INDEX if found.is_index else PageKind.SITEMAP,
        links=(*found.links.values(), *others),
        truncated=truncated,
        problem=problem,
    )


class _Locations:
    """What the entries of a sitemap name, within its limits."""

    def __init__(self, url: str, limits: ParseLimits) -> None:
        self.links: dict[str, Link] = {}
        self.alternates: dict[str, Link] = {}
        self.is_index = False
        self._resolver = Resolver(url, max_chars=limits.max_url_chars)
        self._max_urls = self._entries_left = limits.max_sitemap_urls
        self._bytes_left, self._tags_left = limits.max_sitemap_bytes, limits.max_sitemap_tags
        self._root: Any = None

    def count(self, piece: bytes) -> None:
        """Count what comes next; raises LimitReachedError."""
        self._bytes_left -= len(piece)
        self._tags_left -= piece.count(b"<") - piece.count(b"</")
        if min(self._bytes_left, self._tags_left) < 0:
            raise LimitReachedError

    def take(self, event: str, element: Any) -> None:  # noqa: ANN401 - lxml is untyped
        """Take in an entry at its end."""
        if event == "start":
            if self._root is None:
                self._root, self.is_index = element, _local(element.tag) == "sitemapindex"
        elif element is not self._root:
            self._entries_left -= 1
            if self._entries_left < 0:
                raise LimitReachedError
            self._keep(element)

    def forget_read(self) -> None:
        """Free the elements already read; the last may continue in the next chunk."""
        if self._root is not None:
            del self._root[:-1]

    def _keep(self, entry: Any) -> None:  # noqa: ANN401 - likewise
        fields: dict[str, str] = {}
        alternates = list[str]()
        for node in entry.iter("*"):
            name = _local(node.tag)
            kind = _FIELDS.get((_local(node.getparent().tag), name))
            if kind is not None:
                fields.setdefault(kind, node.xpath("string()") if len(node) else node.text or "")
            elif name == "link" and node.get("rel") == "alternate":
                alternates.append(node.get("href", ""))
        url = self._resolver.resolve(fields.get("loc", ""))
        source = "news" if "news" in fields else "lastmod"
        published_at = parse_date(fields.get(source, ""))
        context = source if published_at is not None else ""
        declared = Link(url="", context=context, published_at=published_at)
        title = storable(fold(fields.get("title", ""), _MAX_TITLE_CHARS))
        if url is not None:
            self._admit()
            self.links.setdefault(url, replace(declared, url=url, anchor=title))
        for reference in alternates:
            alternate = self._resolver.resolve(reference)
            if alternate is not None and alternate not in self.alternates:
                self._admit()
                self.alternates[alternate] = replace(declared, url=alternate, rel=("alternate",))

    def _admit(self) -> None:
        if len(self.links) + len(self.alternates) >= self._max_urls:
            raise LimitReachedError


def parse_url_list(text: str, url: str, *, limits: ParseLimits) -> Page:
    """Parse a plain-text sitemap: one URL per line; other lines are skipped."""
    resolver = Resolver(url, max_chars=limits.max_url_chars)
    found: dict[str, Link] = {}
    lines = (line for line in text.splitlines() if line.lstrip()[:4].lower() == "http")
    for line in islice(lines, limits.max_sitemap_urls):
        if (target := resolver.resolve(line)) is not None:
            found.setdefault(target, Link(url=target))
    truncated = next(lines, None) is not None
    return Page(url, PageKind.SITEMAP, links=tuple(found.values()), truncated=truncated)


def _local(tag: str) -> str:
    return tag.rpartition("}")[2].rpartition(":")[2].lower()
