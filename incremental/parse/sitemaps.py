"""Sitemaps (sitemaps.org 0.9, Google's news and hreflang extensions) and plain lists of URLs."""

from __future__ import annotations

import io
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from lxml import etree

from incremental.parse.ampersands import escaped_pieces
from incremental.parse.dates import parse_date
from incremental.parse.limits import LimitReachedError, ParseLimits
from incremental.parse.page import Link, Page, PageKind
from incremental.parse.references import Resolver
from incremental.parse.text import fold, storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_MAX_TITLE_CHARS = 500
_MAX_FIELD_CHARS = 8_192
_ENTRIES = frozenset({"url", "sitemap"})
# Pictures and videos have their own loc and date.
_FIELDS = {
    ("url", "loc"): "loc",
    ("sitemap", "loc"): "loc",
    ("url", "lastmod"): "lastmod",
    ("sitemap", "lastmod"): "lastmod",
    ("news", "publication_date"): "news",
    ("news", "title"): "title",
}


@dataclass(slots=True)
class _Entry:
    fields: dict[str, str] = field(default_factory=dict)
    alternates: list[str] = field(default_factory=list)


class _Target:
    """Collects entries from libxml2's events."""

    # Without a tree, file size does not matter.

    def __init__(self, url: str, limits: ParseLimits) -> None:
        self.root = ""
        self.links: dict[str, Link] = {}
        self.alternates: dict[str, Link] = {}
        self._resolver = Resolver(url, max_chars=limits.max_url_chars)
        self._max_urls = limits.max_sitemap_urls
        self._tags_left = limits.max_sitemap_tags
        self._entries_left = limits.max_sitemap_urls
        self._open: list[str] = []
        self._entry: _Entry | None = None
        self._field = ""
        self._text: list[str] = []
        self._text_chars = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle a start tag."""
        name = _local(tag)
        parent = self._open[-1] if self._open else ""
        self._open.append(name)
        self.root = self.root or name
        self._tags_left -= 1
        if name in _ENTRIES:
            self._entries_left -= 1
            self._entry = _Entry()
        if min(self._tags_left, self._entries_left) < 0:
            raise LimitReachedError
        if self._entry is None:
            return
        if name == "link" and attributes.get("rel") == "alternate" and attributes.get("href"):
            self._entry.alternates.append(attributes["href"])
        self._field = _FIELDS.get((parent, name), "")
        self._text, self._text_chars = [], 0

    def end(self, tag: str) -> None:
        """Handle an end tag."""
        if self._open:
            self._open.pop()
        if self._entry is None:
            return
        if self._field:
            self._entry.fields.setdefault(self._field, "".join(self._text))
            self._field = ""
        if _local(tag) in _ENTRIES:
            self._keep(self._entry)
            self._entry = None

    def data(self, text: str) -> None:
        """Handle text."""
        if self._field and self._text_chars < _MAX_FIELD_CHARS:
            self._text.append(text)
            self._text_chars += len(text)

    def close(self) -> None:
        """Drop an unfinished entry: its URL may be cut."""

    def _keep(self, entry: _Entry) -> None:
        url = self._resolver.resolve(entry.fields.get("loc", ""))
        source = "news" if "news" in entry.fields else "lastmod"
        published_at = parse_date(entry.fields.get(source, ""))
        context = source if published_at is not None else ""
        declared = Link(url="", context=context, published_at=published_at)
        title = storable(fold(entry.fields.get("title", ""), _MAX_TITLE_CHARS))
        if url is not None:
            self._admit()
            self.links.setdefault(url, replace(declared, url=url, anchor=title))
        for reference in entry.alternates:
            alternate = self._resolver.resolve(reference)
            if alternate is not None and alternate not in self.alternates:
                self._admit()
                self.alternates[alternate] = replace(declared, url=alternate, rel=("alternate",))

    def _admit(self) -> None:
        if len(self.links) + len(self.alternates) >= self._max_urls:
            raise LimitReachedError


def parse_sitemap(pieces: Iterable[bytes], url: str, *, limits: ParseLimits) -> Page:
    """Return the locations of a urlset or index, in file order, without duplicates.

    ``published_at`` is the news date, else lastmod; ``context`` says which. Alternates in other languages
    without an entry follow, with ``rel`` alternate.
    """
    target = _Target(url, limits)
    truncated, problem = False, ""
    # Any: lxml is untyped, and third-party stubs require methods that it does not.
    factory: Any = etree.XMLParser
    # External DTDs and entities are never loaded.
    closed = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}
    parser = factory(target=target, recover=True, **closed)
    size = 0
    try:
        for piece in escaped_pieces(pieces):
            size += len(piece)
            if size > limits.max_sitemap_bytes:
                truncated = True
                break
            parser.feed(piece)
        parser.close()
    except LimitReachedError:
        truncated = True
    except (etree.XMLSyntaxError, UnicodeDecodeError) as error:
        # lxml raises the latter for a reference to a lone surrogate.
        problem = f"broken XML: {fold(str(error), 200)}"
    if not target.links and not truncated and parser.feed_error_log.last_error is not None:
        problem = f"broken XML: {fold(parser.feed_error_log.last_error.message, 200)}"
    is_index = target.root == "sitemapindex"
    return Page(
        url=url,
        kind=PageKind.SITEMAP_INDEX if is_index else PageKind.SITEMAP,
        links=_numbered(target.links, target.alternates),
        truncated=truncated,
        problem=problem,
    )


def parse_url_list(text: str, url: str, *, limits: ParseLimits) -> Page:
    """Parse a plain-text sitemap: one URL per line; other lines are skipped."""
    resolver = Resolver(url, max_chars=limits.max_url_chars)
    found: dict[str, Link] = {}
    truncated = False
    entries = 0
    for number, line in enumerate(io.StringIO(text)):
        if entries >= limits.max_sitemap_urls or number >= limits.max_sitemap_tags:
            truncated = True
            break
        if line.lstrip()[:4].lower() != "http":
            continue
        entries += 1
        if (target := resolver.resolve(line.rstrip("\r\n"))) is not None:
            found.setdefault(target, Link(url=target))
    return Page(url, PageKind.SITEMAP, links=_numbered(found, {}), truncated=truncated)


def _numbered(entries: Mapping[str, Link], others: Mapping[str, Link]) -> tuple[Link, ...]:
    ordered = chain(entries.values(), (link for url, link in others.items() if url not in entries))
    return tuple(replace(link, position=position) for position, link in enumerate(ordered))


def _local(tag: str) -> str:
    return tag.rpartition("}")[2].rpartition(":")[2].lower()
