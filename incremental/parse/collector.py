"""Collects a page's content from libxml2's events, without building a tree.

::

    start / data / end  ->  open elements ─┬─ path of tags, headings above
                                           ├─ blocks  -> contexts of links  (blocks)
                                           ├─ head    -> title, meta, link  (head)
                                           └─ prose   -> main text, when wanted  (prose)
"""

from collections.abc import Mapping
from typing import Self

from incremental.parse.blocks import BLOCK_TAGS, Block, RawLink
from incremental.parse.head import HEAD_TAGS, Head
from incremental.parse.page import LimitReachedError, ParseLimits
from incremental.parse.prose import Prose
from incremental.parse.text import fold

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_SILENT = frozenset({"script", "style"})
_LINK_TAGS = frozenset({"a", "area", "frame"})

_MAX_ANCHOR_CHARS = 500
_MAX_HEADING_CHARS = 120
_MAX_HEADINGS = 200
_MAX_PATH_CHARS = 500
_MAX_CLASSES = 3
_MAX_CLASS_CHARS = 40
_MAX_RELS = 8


class Collector:
    """A parser target for ``lxml.etree.HTMLParser`` that keeps links and metadata."""

    # Events have no depth limit: libxml2 refuses trees deeper than 256 (2,048 with huge_tree), dropping the
    # whole page, but handles ten thousand nested tags as events. Nor is a more tolerant parser needed: on
    # 500 captured pages html5lib finds the same links, apart from its copies of unclosed ones (81 of 73,846,
    # no new URL), and 8 of html5lib's own 1,529 broken documents hide a link here.

    def __init__(self, limits: ParseLimits, prose: Prose | None = None) -> None:
        self.links: list[RawLink] = []
        self.headings: list[str] = []
        self.head = Head()
        self.prose = prose
        self.max_depth = 0
        self._limits = limits
        self._elements = 0
        self._open: list[tuple[str, str]] = []
        self._blocks: list[Block] = [Block()]
        self._outline: list[tuple[int, str]] = []
        self._heading: list[str] | None = None
        self._anchor: list[str] | None = None
        self._anchor_link: RawLink | None = None
        self._silent = 0
        self._script_kind = ""
        self._svg = 0
        self._noscript = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle a start tag."""
        self._count_element()
        path = self._path_to(tag, attributes)
        self._open.append((tag, path))
        if tag in BLOCK_TAGS:
            self._start_block(tag)
        if tag in _LINK_TAGS:
            self._start_link(tag, attributes, path)
        elif tag in {"img", "br"}:
            self._start_inline(attributes)
        elif tag in _SILENT:
            self._silent += 1
            self._script_kind = attributes.get("type", "")
        elif tag == "svg":
            self._svg += 1
        elif tag == "noscript":
            self._noscript += 1
        elif tag in HEAD_TAGS:
            svg, noscript = self._svg > 0, self._noscript > 0
            self.head.start(tag, attributes, path=path, in_svg=svg, in_noscript=noscript)
        if self.prose is not None:
            self.prose.start(tag, attributes)

    def end(self, tag: str) -> None:
        """Handle an end tag; libxml2 adds missing ones."""
        if not self._open:
            return
        self._open.pop()
        if tag == "a":
            self._end_link()
        elif tag in _SILENT:
            self._silent -= 1
        elif tag == "svg":
            self._svg -= 1
        elif tag == "noscript":
            self._noscript -= 1
        elif tag in _HEADINGS:
            self._end_heading(_HEADINGS[tag])
        elif tag == "title":
            self.head.end_title()
        if tag in BLOCK_TAGS:
            self._end_block()
        if self.prose is not None:
            self.prose.end(tag)

    def data(self, text: str) -> None:
        """Handle text, in pieces of any size."""
        if self._silent:
            if self.prose is not None and self._script_kind:
                self.prose.add_script(self._script_kind, text)
            return
        if self.head.open_title is not None:
            self.head.open_title.append(text)
            return
        if self._anchor is not None:
            self._anchor.append(text)
        if self._heading is not None:
            self._heading.append(text)
        self._blocks[-1].add_text(text, in_link=self._anchor is not None)
        if self.prose is not None:
            self.prose.add_text(text)

    def close(self) -> Self:
        """Close open elements and return self."""
        self._end_link()
        while len(self._blocks) > 1:
            self._end_block()
        self._blocks[0].close_into(None)
        return self

    def _count_element(self) -> None:
        self._elements += 1
        too_deep = len(self._open) >= self._limits.max_depth
        if too_deep or self._elements > self._limits.max_elements:
            raise LimitReachedError

    def _path_to(self, tag: str, attributes: Mapping[str, str]) -> str:
        depth = len(self._open)
        if depth >= self.max_depth:
            self.max_depth = depth + 1
        parent = self._open[-1][1] if depth else ""
        if len(parent) > _MAX_PATH_CHARS:
            return parent
        step = tag[:_MAX_CLASS_CHARS]
        if "class" in attributes:
            names = attributes["class"].split(None, _MAX_CLASSES)[:_MAX_CLASSES]
            step = ".".join([step, *(name[:_MAX_CLASS_CHARS] for name in names)])
        return f"{parent}/{step}" if parent else step

    def _start_block(self, tag: str) -> None:
        self._blocks.append(Block())
        self._separate()
        level = _HEADINGS.get(tag)
        if level is not None:
            while self._outline and self._outline[-1][0] >= level:
                self._outline.pop()
            self._heading = []

    def _end_block(self) -> None:
        block = self._blocks.pop()
        block.close_into(self._blocks[-1])
        self._separate()

    def _separate(self) -> None:
        if self._anchor is not None:
            self._anchor.append(" ")

    def _end_heading(self, level: int) -> None:
        text = fold("".join(self._heading or ()), _MAX_HEADING_CHARS)
        self._heading = None
        if text:
            self._outline.append((level, text))
            if len(self.headings) < _MAX_HEADINGS:
                self.headings.append(text)

    def _start_link(self, tag: str, attributes: Mapping[str, str], path: str) -> None:
        self._end_link()
        reference = attributes.get("src" if tag == "frame" else "href")
        if reference is None:
            reference = attributes.get("xlink:href")
        if reference is None:
            return
        if len(self.links) >= self._limits.max_links:
            raise LimitReachedError
        label = attributes.get("title") or attributes.get("aria-label") or ""
        link = RawLink(
            reference=reference,
            path=path,
            heading=self._outline[-1][1] if self._outline else "",
            rel=tuple(attributes.get("rel", "").lower().split()[:_MAX_RELS]),
            label=attributes.get("alt") or label,
        )
        self.links.append(link)
        self._blocks[-1].add_link(link)
        if tag == "a":
            self._anchor, self._anchor_link = [], link
        else:
            link.anchor = fold(link.label, _MAX_ANCHOR_CHARS)

    def _start_inline(self, attributes: Mapping[str, str]) -> None:
        self._separate()
        if self._anchor_link is not None and attributes.get("alt"):
            # An image's alt text says more than a tooltip.
            self._anchor_link.label = attributes["alt"]

    def _end_link(self) -> None:
        link, pieces = self._anchor_link, self._anchor
        if link is None or pieces is None:
            return
        text = fold("".join(pieces), _MAX_ANCHOR_CHARS)
        link.anchor = text or fold(link.label, _MAX_ANCHOR_CHARS)
        self._anchor_link = self._anchor = None
