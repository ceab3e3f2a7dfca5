"""One walk over a page's tree: counts text and link text, and locates links."""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from lxml import etree, html

# Of a page, parsed.
BYTE_LIMIT = 4_000_000
# Tree events, walked.
_NODE_LIMIT = 200_000

_HIDDEN = frozenset(
    ["script", "style", "noscript", "template", "svg", "iframe", "select", "option", "textarea"]
)
_HEADINGS = frozenset(["h1", "h2", "h3", "h4"])
_SPACE = re.compile(r"\s+")
_PUNCTUATION = re.compile(r"[，。、；：！？“”.,;:!?]")
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_DATE = re.compile(
    r"(?:19|20)[0-9]{2}[-/.年](?:0?[1-9]|1[0-2])[-/.月][0-9]{1,2}"
    rf"|[0-9]{{1,2}}[ .](?:{_MONTHS})|(?:{_MONTHS})[a-z]* [0-9]{{1,2}}|ago\b|小时前|天前",
    re.IGNORECASE,
)
# A list's dates are short texts; a date in a long one is part of prose.
_DATE_TEXT_LIMIT = 80

# The last three steps of the path to a link, shared by the links of one list.
Place = tuple[str, ...]


@dataclass
class PageCounts:
    """The walk's counts; lengths are characters after folding white space."""

    characters: int = 0
    link_characters: int = 0
    punctuation: int = 0
    """Punctuation marks outside links."""
    dates: int = 0
    heading_links: int = 0
    paragraphs: list[int] = field(default_factory=list)
    """Characters of each ``p``, outside links."""
    links: list[int] = field(default_factory=list)
    """Characters of each link."""
    groups: dict[Place, list[int]] = field(default_factory=dict)
    """Characters of the links at each place."""
    tags: Counter[str] = field(default_factory=Counter)
    class_names: Counter[str] = field(default_factory=Counter)


def parse_page(page: str | bytes, encoding: str | None = None) -> html.HtmlElement | None:
    """Parse a page; None if nothing can be parsed. ``encoding`` is for bytes."""
    if isinstance(page, str):
        page, encoding = page.encode("utf-8", "replace"), "utf-8"
    try:
        parser = html.HTMLParser(encoding=encoding)
    except LookupError:
        parser = html.HTMLParser()
    try:
        root = html.document_fromstring(page[:BYTE_LIMIT], parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return None
    return root if isinstance(root, html.HtmlElement) else None


def fold_space(text: str) -> str:
    """Fold white space to single blanks."""
    return _SPACE.sub(" ", text).strip()


def read_text(body: html.HtmlElement) -> PageCounts:
    """Walk a body once and count."""
    walk = _Walk()
    events = etree.iterwalk(body, events=("start", "end", "comment", "pi"))
    for count, (event, element) in enumerate(events):
        if count > _NODE_LIMIT:
            break
        if event == "start":
            walk.enter(element)
        elif event == "end":
            walk.leave(element)
            walk.take(element.tail)
        else:
            walk.take(element.tail)
    return walk.found


class _Walk:
    """The state of a walk: the elements that are open."""

    def __init__(self) -> None:
        self.found = PageCounts()
        self._path: list[str] = []
        self._hidden = 0
        self._headings = 0
        self._open_links: list[tuple[int, Place]] = []
        self._open_paragraphs: list[int] = []

    def enter(self, element: Any) -> None:  # noqa: ANN401 - lxml's iterwalk has no types
        tag = element.tag
        self._hidden += tag in _HIDDEN
        self.found.tags[tag] += 1
        classes = element.get("class", "")
        if not self._hidden:
            self.found.class_names.update(classes.lower().split()[:6])
            self._open(tag, is_link=tag == "a" and bool(element.get("href")))
        self._path.append(f"{tag}.{classes.split(' ', 1)[0]}")
        self.take(element.text)

    def _open(self, tag: str, *, is_link: bool) -> None:
        if is_link:
            self._open_links.append((self.found.link_characters, tuple(self._path[-3:])))
        elif tag in _HEADINGS:
            self._headings += 1
        elif tag == "p":
            self._open_paragraphs.append(0)

    def leave(self, element: Any) -> None:  # noqa: ANN401 - as above
        tag = element.tag
        self._path.pop()
        if self._hidden:
            self._hidden -= tag in _HIDDEN
            return
        if tag == "a" and self._open_links and element.get("href"):
            self._close_link()
        elif tag in _HEADINGS and self._headings:
            self._headings -= 1
        elif tag == "p" and self._open_paragraphs:
            self.found.paragraphs.append(self._open_paragraphs.pop())

    def _close_link(self) -> None:
        before, place = self._open_links.pop()
        size = self.found.link_characters - before
        self.found.links.append(size)
        self.found.groups.setdefault(place, []).append(size)
        self.found.heading_links += self._headings > 0

    def take(self, text: str | None) -> None:
        """Count a text node at the current place."""
        if not text or self._hidden or not (text := fold_space(text)):
            return
        size = len(text)
        self.found.characters += size
        if self._open_links:
            self.found.link_characters += size
            return
        self.found.punctuation += len(_PUNCTUATION.findall(text))
        self.found.dates += size < _DATE_TEXT_LIMIT and _DATE.search(text) is not None
        if self._open_paragraphs:
            self._open_paragraphs[-1] += size
