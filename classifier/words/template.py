"""Site templates: repeated title suffixes, menus and footers, which say nothing about a page's topic.

A piece of text - part of a title, heading, description, line of the text, anchor - counts as template once it
is on two pages of a host and on most of those seen.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import Any, Final
from urllib.parse import urlsplit

from classifier.words.errors import TopicModelError, reading
from classifier.words.values import PageText

# Limits of hosts, and of pieces of a host; the oldest are dropped first.
MAX_HOSTS: Final = 300
MAX_PIECES: Final = 1_500
# Of a page, counted.
_MAX_OF_PAGE: Final = 400
# Pages of a host counted; then all counts are halved, so that a new template is learned.
_MAX_PAGES: Final = 200
_MOST: Final = 0.5
# Longer pieces are paragraphs: a notice on every page is shorter.
_MAX_CHARS: Final = 300
# Separators of a title's segments; an underscore within a Latin name is none.
_PARTING: Final = re.compile(
    r"(?<!\s)\s++(?://|[-\u2013\u2014|\u00b7\u2022:\u00bb<>])\s+|[|\uff5c]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"
)
# A word, or a character of a script that puts a word into about two.
_WORD: Final = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])|[^\W_]+")


class SiteTemplates:
    """Pieces by host. Not thread-safe: only the thread that records pages calls :meth:`observe`."""

    def __init__(self) -> None:
        self._pages: dict[str, int] = {}
        self._counts: dict[str, dict[int, int]] = {}

    def observe(self, page: PageText) -> None:
        """Count the pieces of one fetched page."""
        host = _host(page)
        if not host:
            return
        counts = self._counts.setdefault(host, {})
        self._pages[host] = self._pages.get(host, 0) + 1
        for piece in list(dict.fromkeys(_pieces(page)))[:_MAX_OF_PAGE]:
            counts[piece] = counts.get(piece, 0) + 1
        self._bound(host)

    def _bound(self, host: str) -> None:
        counts = self._counts[host]
        if self._pages[host] > _MAX_PAGES:
            self._pages[host] //= 2
            counts = {piece: count // 2 for piece, count in counts.items() if count > 1}
        if len(counts) > MAX_PIECES:
            ranked = sorted(counts.items(), key=lambda item: -item[1])
            counts = dict(ranked[: MAX_PIECES // 2])
        self._counts[host] = counts
        if len(self._counts) > MAX_HOSTS:
            oldest = next(iter(self._counts))
            del self._counts[oldest], self._pages[oldest]

    def without(self, page: PageText) -> PageText:
        """Return a page without its host's template; unchanged if nothing else is left."""
        host = _host(page)
        pages, counts = self._pages.get(host, 0), self._counts.get(host, {})
        if pages < 2:  # noqa: PLR2004 - nothing stands on most pages of one
            return page
        least = max(2, int(pages * _MOST) + 1)

        def own(pieces: Iterable[str]) -> list[str]:
            return [one for one in pieces if counts.get(_mark(one), 0) < least]

        plain = replace(
            page,
            title=" ".join(own(segments(page.title))),
            headings=tuple(own(page.headings)),
            meta=" ".join(own([page.meta])),
            body="\n".join(own(page.body.splitlines())),
            anchors=tuple(own(page.anchors)),
        )
        left = (plain.title, plain.meta, plain.body, *plain.headings)
        return plain if any(part.strip() for part in left) else page

    def to_json(self) -> dict[str, Any]:
        """Return plain data: pages and counts by host; a piece seen once is left out."""
        return {
            host: [pages, {str(p): n for p, n in self._counts[host].items() if n > 1}]
            for host, pages in self._pages.items()
        }

    def read(self, data: Mapping[str, Any]) -> None:
        """Restore the result of :meth:`to_json`; raises TopicModelError."""
        with reading("templates"):
            for host, (pages, counts) in data.items():
                self._pages[str(host)] = int(pages)
                self._counts[str(host)] = {int(piece): int(n) for piece, n in counts.items()}
        if len(self._pages) > MAX_HOSTS:
            raise TopicModelError("templates", str(len(self._pages)), "hold too many hosts")


def _host(page: PageText) -> str:
    try:
        return urlsplit(page.url).hostname or ""
    except ValueError:
        return ""


def _pieces(page: PageText) -> Iterable[int]:
    texts = (*segments(page.title), *page.headings, page.meta, *page.anchors)
    for text in (*texts, *page.body.splitlines()):
        if text.strip() and len(text) <= _MAX_CHARS:
            yield _mark(text)


def segments(title: str) -> list[str]:
    """Return the parts of a title between separators, such as its suffix."""
    return [part for part in _PARTING.split(title) if part.strip()]


def headline_of(title: str) -> str:
    """Return the part of a title that is its headline: the one with most words.

    For pages of unknown sites. A site's name is last more often than first, so the last part needs twice as
    many words.
    """
    parts = segments(title)
    counts = [_words(part) for part in parts]
    if len(parts) > 1:
        counts[-1] /= 2
    return parts[counts.index(max(counts))].strip() if parts else ""


def _words(text: str) -> float:
    return sum(0.5 if found[1] else 1.0 for found in _WORD.finditer(text))


def _mark(text: str) -> int:
    return int.from_bytes(blake2b(text.strip().encode("utf-8", "ignore"), digest_size=6).digest())
