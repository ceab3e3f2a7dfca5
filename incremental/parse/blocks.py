"""The text around a link, gathered while a page streams by.

A link's context is the text of its block element.
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
# Characters before the link at which the context window of a long block starts.
_LEAD_IN_CHARS = 100
# A card of a list has a picture, a title, "more" and an author.
_MAX_CARD_LINKS = 4


@dataclass(slots=True)
class RawLink:
    """A link before its reference is resolved."""

    reference: str
    path: str
    heading: str
    rel: tuple[str, ...]
    label: str
    """Substitute for an empty anchor: title, aria-label or alt."""
    offset: int = 0
    """Start of the anchor in its block's text."""
    anchor: str = ""
    context: str = ""


@dataclass(slots=True)
class Block:
    """An open block element: its text, and links that wait for their context."""

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    speaks: bool = False
    """It has words outside links; bullets and brackets do not count."""
    ends_in_link: bool = False
    link_count: int = 0
    own: list[RawLink] = field(default_factory=list)
    risen: list[RawLink] = field(default_factory=list)

    def add_text(self, text: str, *, in_link: bool) -> None:
        """Add text directly in this block; indentation counts as one space."""
        if text.isspace():
            text = " "
        elif not (in_link or self.speaks) and _WORD.search(text):
            self.speaks = True
        self.ends_in_link = in_link
        self.pieces.append(text)
        self.length += len(text)

    def add_link(self, link: RawLink) -> None:
        """Hold *link* until this block ends."""
        if self.ends_in_link:
            # Adjacent links are separated by style sheets only.
            self.add_text(" ", in_link=False)
        link.offset = self.length
        self.own.append(link)
        self.link_count += 1

    def close_into(self, parent: Block | None) -> None:
        """Set the context of waiting links, and pass on to the parent what it may need."""
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
        # Lists of cards often put each link in its own block
        # (<article><h3><a>title</a></h3><p>summary</p></article>), so a block without words outside links
        # borrows the context of its parent.
        if is_card and not self.speaks:
            parent.risen += self.own
            parent.risen += self.risen
        if summary:
            parent.pieces.append(f" {summary} ")
            parent.length += len(summary) + 2


def _window(text: str, offset: int) -> str:
    begin = max(0, offset - _LEAD_IN_CHARS)
    if begin:
        # Start at a word, in scripts that have spaces.
        space = text.find(" ", begin, offset)
        begin = begin if space < 0 else space
    return fold(text[begin : begin + 2 * MAX_CONTEXT_CHARS], MAX_CONTEXT_CHARS)
