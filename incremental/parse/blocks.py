"""The text around a link, gathered while a page streams by.

A link's context is the text of the block element it stands in. Lists of cards often put each link
in a block of its own (``<article><h3><a>title</a></h3><p>summary</p></article>``): a block that
says nothing beyond its links lends from the block around it, as long as that one holds only a few
links.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from incremental.parse.text import fold

_BLOCK_NAMES = """
    address article aside blockquote body caption center dd details dialog div dl dt fieldset
    figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup html legend li main
    menu nav ol p pre section summary table tbody td tfoot th thead tr ul
"""
BLOCK_TAGS = frozenset(_BLOCK_NAMES.split())

_WORD = re.compile(r"\w")
MAX_CONTEXT_CHARS = 300
# How much text before the link a window into a long block begins with.
_EXTERNAL_CANDIDATE_CHARS = 100
# Picture, title, "more" and an author: what a card of a list has.
_MAX_CARD_LINKS = 4


@dataclass(slots=True)
class RawLink:
    """A link as it stands in the page, before its reference is resolved."""

    reference: str
    path: str
    heading: str
    rel: tuple[str, ...]
    label: str
    """What stands in for an anchor without text: title, aria-label or alt."""
    offset: int = 0
    """Where the anchor begins in the text of its block."""
    anchor: str = ""
    context: str = ""


@dataclass(slots=True)
class Block:
    """An open block element: its own text, and the links that wait for their context."""

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    speaks: bool = False
    """Whether there are words outside the links; bullets and brackets are none."""
    ends_in_link: bool = False
    link_count: int = 0
    own: list[RawLink] = field(default_factory=list)
    risen: list[RawLink] = field(default_factory=list)

    def add_text(self, text: str, *, in_link: bool) -> None:
        """Take text that stands directly in this block; indentation counts as one space."""
        if text.isspace():
            text = " "
        elif not (in_link or self.speaks) and _WORD.search(text):
            self.speaks = True
        self.ends_in_link = in_link
        self.pieces.append(text)
        self.length += len(text)

    def add_link(self, link: RawLink) -> None:
        """Let *link* wait for the end of this block."""
        if self.ends_in_link:
            # Links side by side are set apart by style sheets.
            self.add_text(" ", in_link=False)
        link.offset = self.length
        self.own.append(link)
        self.link_count += 1

    def close_into(self, parent: Block | None) -> None:
        """Give the waiting links their context, and the parent what it may need of it."""
        text = "".join(self.pieces)
        summary = fold(text[: 4 * MAX_CONTEXT_CHARS], MAX_CONTEXT_CHARS)
        is_short = len(text) <= MAX_CONTEXT_CHARS
        for link in self.own:
            link.context = summary if is_short else _window(text, link.offset)
        is_card = self.link_count <= _MAX_CARD_LINKS
        if is_card:
            for link in self.risen:
                link.context = summary
        if parent is None:
            return
        parent.link_count += self.link_count
        parent.speaks |= self.speaks
        if is_card and not self.speaks:
            parent.risen += self.own
            parent.risen += self.risen
        if summary:
            parent.pieces.append(f" {summary} ")
            parent.length += len(summary) + 2


def _window(text: str, offset: int) -> str:
    begin = max(0, offset - _EXTERNAL_CANDIDATE_CHARS)
    if begin:
        # Not in the midst of a word; scripts without spaces have none to find.
        space = text.find(" ", begin, offset)
        begin = begin if space < 0 else space
    return fold(text[begin : begin + 2 * MAX_CONTEXT_CHARS], MAX_CONTEXT_CHARS)
