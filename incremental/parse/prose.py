"""The visible text of a page's main part, and its structured data. Simple and fast.

The content of ``main`` or ``article`` if there is enough of it, else everything outside navigation.
"""

import re
from collections.abc import Mapping

from incremental.parse.blocks import BLOCK_TAGS
from incremental.parse.text import fold

_MAIN = frozenset({"main", "article"})
_BOILERPLATE = frozenset(
    {"nav", "footer", "aside", "form", "button", "select", "svg", "template"},
)
_BREAKS = BLOCK_TAGS | {"br", "hr"}
# Where pages show their date.
_BYLINE = re.compile(r"date|time|publi[sc]|posted|byline|meta|info|source|fbsj", re.IGNORECASE)
_CONTAINERS = frozenset({"html", "body", "main", "article", "section", "script", "style"})
_MAX_BYLINES = 50
_MAX_BYLINE_CHARS = 200
_MAX_SCRIPT_CHARS = 200_000
# A shorter main part is a teaser or a search box.
_MIN_MAIN_CHARS = 140


class Prose:
    """Collects text from events; *bylines* are short pieces that may hold the publication date."""

    def __init__(self, max_chars: int) -> None:
        self.structured_data: list[str] = []
        self.bylines: list[str] = []
        self._max_chars = max_chars
        self._main: list[str] = []
        self._other: list[str] = []
        self._length = 0
        self._script_length = 0
        self._in_main = 0
        self._in_boilerplate = 0
        self._byline: list[str] = []
        self._byline_depth = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle a start tag."""
        if tag in _MAIN:
            self._in_main += 1
        elif tag in _BOILERPLATE:
            self._in_boilerplate += 1
        elif tag == "script":
            self.structured_data.append("")
        if tag in _BREAKS:
            self._break()
        if self._byline_depth:
            self._byline_depth += 1
        elif tag not in _CONTAINERS and len(self.bylines) < _MAX_BYLINES:
            mark = attributes.get("class") or attributes.get("id")
            if mark and _BYLINE.search(mark):
                self._byline, self._byline_depth = [], 1

    def end(self, tag: str) -> None:
        """Handle an end tag."""
        if tag in _MAIN:
            self._in_main -= 1
        elif tag in _BOILERPLATE:
            self._in_boilerplate -= 1
        if tag in _BREAKS:
            self._break()
        if self._byline_depth:
            self._byline_depth -= 1
            if not self._byline_depth:
                self.bylines.append(fold("".join(self._byline)))

    def add_text(self, text: str) -> None:
        """Add visible text up to the limit."""
        if self._byline_depth:
            self._add_byline(text)
        if self._in_boilerplate or self._length > self._max_chars:
            return
        self._length += len(text)
        # Line ends in the source are spaces; only our own marks break lines.
        text = " " if text.isspace() else text.replace("\n", " ")
        (self._main if self._in_main else self._other).append(text)

    def _add_byline(self, text: str) -> None:
        self._byline.append(text)
        if sum(map(len, map(str.strip, self._byline))) > _MAX_BYLINE_CHARS:
            # Too long for a byline: a box, whose inner elements may still be one.
            self._byline_depth = 0

    def add_script(self, kind: str, text: str) -> None:
        """Handle a script: JSON-LD is kept."""
        if "ld+json" not in kind.lower() or not self.structured_data:
            return
        self._script_length += len(text)
        if self._script_length <= _MAX_SCRIPT_CHARS:
            self.structured_data[-1] += text

    def text(self) -> str:
        """Return the main text, one line per block."""
        main = _lines(self._main)
        if len(main) >= _MIN_MAIN_CHARS:
            return main[: self._max_chars]
        return _lines([*self._main, "\n", *self._other])[: self._max_chars]

    def _break(self) -> None:
        pieces = self._main if self._in_main else self._other
        if pieces and pieces[-1] != "\n":
            pieces.append("\n")


def _lines(pieces: list[str]) -> str:
    return "\n".join(filter(None, map(fold, "".join(pieces).split("\n"))))
