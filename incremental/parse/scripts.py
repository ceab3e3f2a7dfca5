"""The scripts of a page, and the outline of the page without them. They are read as text and never run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

from incremental.parse.shell import Outline, is_mount
from incremental.parse.text import fold

# One script; the rest of a longer one is not searched.
MOST_SCRIPT_CHARS = 4_000_000
MOST_SCRIPTS = 200
_MOST_LINKS = 50
_MOST_DATA = 20
_MOST_NOSCRIPT_CHARS = 500
_MOST_TEXT_CHARS = 2_000
_CHUNK = 65_536
# "Loading ..." is no content of an element.
_LOADING_CHARS = 40

_DATA_TYPES = frozenset({"application/json", "application/ld+json", "text/json"})
_CODE_TYPES = frozenset({"", "module", "text/javascript", "application/javascript", "text/babel"})
_HIDDEN = frozenset({"script", "style", "noscript", "template", "title", "svg", "head"})
_VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "source", "area", "base", "wbr"})


@dataclass(slots=True)
class Scripts:
    """The scripts of a page, as far as they are kept."""

    outline: Outline = field(default_factory=Outline)
    data: list[tuple[str, str]] = field(default_factory=list)
    """Data scripts: id (else type) and text."""
    code: list[str] = field(default_factory=list)
    """Scripts in the page."""
    files: list[str] = field(default_factory=list)
    """Addresses of script files, as written."""


class _Reader:
    """A parser target that keeps scripts and counts the rest."""

    def __init__(self) -> None:
        self.found = Scripts()
        self._links: set[str] = set()
        self._chars = self._scripts = 0
        self._noscript: list[str] = []
        self._hidden: list[str] = []
        self._script: list[str] | None = None
        self._attributes: Mapping[str, str] = {}
        self._kept = 0
        # Open elements that may be mounts: whether anything was in them.
        self._open: list[bool] = []
        self._mounts: list[int] = []
        self._empty_mount = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "script":
            self._script, self._attributes = [], dict(attributes)
        if tag == "a" and "noscript" not in self._hidden:
            href = attributes.get("href", "").strip()
            if href and href[0] != "#" and not href.lower().startswith("javascript:"):
                if len(self._links) < _MOST_LINKS:
                    self._links.add(href)
                self._filled()
        if tag in _VOID:
            return
        self._open.append(False)
        name = attributes.get("id", "")
        if is_mount(name) or is_mount(tag):
            self._mounts.append(len(self._open) - 1)
        if tag in _HIDDEN:
            self._hidden.append(tag)

    def end(self, tag: str) -> None:
        if tag == "script" and self._script is not None:
            self._end_script("".join(self._script))
            self._script = None
        if tag in _VOID or not self._open:
            return
        filled = self._open.pop()
        if self._mounts and self._mounts[-1] == len(self._open):
            self._mounts.pop()
            self._empty_mount = self._empty_mount or not filled
        if self._hidden and self._hidden[-1] == tag:
            self._hidden.pop()

    def data(self, text: str) -> None:
        if self._script is not None:
            if self._kept < MOST_SCRIPT_CHARS:
                self._script.append(text)
                self._kept += len(text)
        elif "noscript" in self._hidden:
            if len(self._noscript) < _MOST_NOSCRIPT_CHARS:
                self._noscript.append(text)
        elif not self._hidden and (shown := len(fold(text, _MOST_TEXT_CHARS))):
            self._chars += shown
            if shown > 1 and self._chars > _LOADING_CHARS:
                self._filled()

    def _filled(self) -> None:
        for place in range(len(self._open)):
            self._open[place] = True

    def _end_script(self, text: str) -> None:
        kind = self._attributes.get("type", "").partition(";")[0].strip().lower()
        source = self._attributes.get("src", "").strip()
        if kind in _DATA_TYPES:
            if text.strip() and len(self.found.data) < _MOST_DATA:
                self.found.data.append((self._attributes.get("id") or kind, text))
            return
        if kind not in _CODE_TYPES:
            return
        self._scripts += 1
        if source and len(self.found.files) < MOST_SCRIPTS:
            self.found.files.append(source)
        elif text.strip() and len(self.found.code) < MOST_SCRIPTS:
            self.found.code.append(text)

    def close(self) -> Scripts:
        self.found.outline = Outline(
            links=len(self._links),
            text_chars=self._chars,
            scripts=self._scripts,
            script_files=len(self.found.files),
            mount=self._empty_mount or bool(self._mounts and not self._open[self._mounts[-1]]),
            noscript=fold("".join(self._noscript), _MOST_NOSCRIPT_CHARS),
        )
        return self.found


def read_scripts(text: str) -> Scripts:
    """Return the scripts of an HTML page and its outline without them; never raises because of it."""
    reader = _Reader()
    factory: Any = etree.HTMLParser
    parser = factory(target=reader, encoding="utf-8", huge_tree=False)
    body = text.encode("utf-8", "replace")
    try:
        for start in range(0, len(body), _CHUNK):
            parser.feed(body[start : start + _CHUNK])
        return parser.close()  # type: ignore[no-any-return]  # what the target's close() returns
    except etree.XMLSyntaxError:
        return reader.close()
