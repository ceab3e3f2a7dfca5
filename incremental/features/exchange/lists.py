"""Lists of sites. Pure: bytes to values; odd entries are reported, not raised.

========  =======================================================================================
format    content read
========  =======================================================================================
``urls``  one address per line; ``#`` begins a comment
``csv``   a column ``url`` (or ``link``, ``address``), or the first with addresses; columns
          ``name`` (or ``title``) and ``folder``, if there are any
``opml``  of Miniflux, FreshRSS and other readers: outlines with ``xmlUrl`` are feeds, whose
          site is ``htmlUrl``; with ``htmlUrl`` only, pages; around them, folders
========  =======================================================================================

Every entry of a file is taken, a problem (it cannot be used), or skipped (there is nothing to do for it):
the last two with their place and the reason.

OPML 2.0 (http://opml.org/spec2.opml): feeds, pages and folders, with what Miniflux and FreshRSS add. Pure.

==============================  ======================================================================
outline                         read as
==============================  ======================================================================
``xmlUrl``                      a feed; ``htmlUrl`` is its site
``xmlUrl``, type HTML+XPath     a page: FreshRSS takes its entries from HTML
``xmlUrl``, another such type   the page ``htmlUrl``, else skipped: no list of links can be read there
``htmlUrl`` alone, type link    a page
outlines inside, no address     a folder
type include, ``opmlUrl``       skipped: another list elsewhere
``isComment``                   skipped, with all that is inside
``category``                    more folders
``disabled``, our ``state``     paused
==============================  ======================================================================
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from incremental.base.errors import InputError
from incremental.base.plain_text import one_line
from incremental.base.urls import normalize
from incremental.parse.ampersands import escaped
from incremental.parse.decoding import decode_body

MAX_FILE_BYTES = 50_000_000
MAX_ENTRIES = 20_000
_URL_COLUMNS = ("url", "link", "address", "xmlurl", "网址")
_NAME_COLUMNS = ("name", "title", "名称")
_FOLDER_COLUMNS = ("folder", "folders", "category", "tag", "tags", "文件夹")
_MOST_DEEP = 50
# FreshRSS's types of what it reads itself; in "JSONFeed" and "rss" others read feeds as well.
_SCRAPED = ("xpath", "dotnotation")
_TRUE = "true"


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry as written."""

    place: str
    """For display."""
    address: str
    feed: bool = False
    home: str = ""
    name: str = ""
    folders: tuple[str, ...] = ()
    paused: bool = False
    skipped: str = ""
    """Why it cannot be watched; empty = it can."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """An address in the file."""

    url: str
    """In fetch form."""
    feed: bool = False
    """The file calls it a feed."""
    home: str | None = None
    """The site's page that the file gives for a feed, in fetch form."""
    name: str = ""
    """What the file calls it, as written."""
    folders: tuple[str, ...] = ()
    """Where the file has it: folders or tags, nested ones as ``A/B``."""
    paused: bool = False
    """The file has it switched off."""


@dataclass(frozen=True, slots=True)
class ReadList:
    """The content of a file."""

    format: str
    wanted: tuple[Wanted, ...]
    problems: tuple[str, ...]
    """Unusable entries with their position, for display."""
    skipped: tuple[str, ...] = ()
    """Entries for which there is nothing to do, with position and reason, for display."""


def read_list(content: bytes, form: str = "auto", *, name: str = "file") -> ReadList:
    """Read at most :data:`MAX_ENTRIES` distinct entries; ``auto`` detects the format.

    Raises:
        InputError: an unknown format, or without usable entries.
    """
    if form not in ("auto", *_READERS):
        raise InputError("format", form, f"must be one of: auto, {', '.join(_READERS)}")
    text, encoding = decode_body(content, "")
    if b"\0" in content and not encoding.startswith("utf-16"):
        raise InputError(name, "", "is no list of addresses")
    form = recognised(text) if form == "auto" else form
    taking = _Taking()
    for entry in _READERS[form](text, name):
        if not taking.take(entry):
            break
    if not taking.found:
        why = next(iter((*taking.problems, *taking.skipped)), "no address found")
        raise InputError(name, form, f"has nothing to watch ({why})")
    wanted = tuple(taking.found.values())
    return ReadList(form, wanted, tuple(taking.problems), tuple(taking.skipped))


class _Taking:
    """Sorts entries into what is wanted, problems and what is skipped."""

    def __init__(self) -> None:
        self.found: dict[str, Wanted] = {}
        self.problems: list[str] = []
        self.skipped: list[str] = []
        self._places: dict[str, str] = {}

    def take(self, entry: Entry) -> bool:
        """Take an entry; False = there are too many."""
        if entry.skipped:
            self.skipped.append(f"{entry.place}: {entry.skipped}")
            return True
        url = _usable(entry.address)
        if url is None:
            self.problems.append(f"{entry.place}: not a web address: {entry.address[:100]!r}")
        elif url in self.found:
            self._again(url, entry)
        elif len(self.found) < MAX_ENTRIES:
            self._places[url] = entry.place
            self.found[url] = self._wanted(url, entry)
        else:
            self.problems.append(
                f"{entry.place}: more than {MAX_ENTRIES} entries; the rest was skipped"
            )
            return False
        return True

    def _wanted(self, url: str, entry: Entry) -> Wanted:
        home = _usable(entry.home) if entry.home else None
        if entry.home and home is None:
            self.problems.append(
                f"{entry.place}: not the address of a site: {entry.home[:100]!r}; only its feed is watched"
            )
        return Wanted(url, entry.feed, home, entry.name, entry.folders, entry.paused)

    def _again(self, url: str, entry: Entry) -> None:
        before = self.found[url]
        folders = tuple(dict.fromkeys((*before.folders, *entry.folders)))
        if folders != before.folders:
            self.found[url] = replace(before, folders=folders)
        else:
            self.skipped.append(f"{entry.place}: same address as {self._places[url]}")


def recognised(text: str) -> str:
    """Guess the format of a text."""
    start = text.lstrip()[:4_000]
    if "<opml" in start.lower():
        return "opml"
    first = start.partition("\n")[0].strip()
    if "," in first or ";" in first or "\t" in first:
        return "csv"
    return "urls"


_Found = Iterator[Entry]


def _urls(text: str, _name: str) -> _Found:
    for number, line in enumerate(text.splitlines(), 1):
        address = line.strip()
        if address and not address.startswith("#"):
            yield Entry(f"line {number}", address.split()[0])


def _csv(text: str, name: str) -> _Found:
    try:
        dialect: Any = csv.Sniffer().sniff(text[:4_000], delimiters=",;\t")
    except csv.Error:
        dialect = csv.excel
    rows = csv.reader(io.StringIO(text, newline=""), dialect)
    try:
        header = next(rows, [])
        names = [cell.strip().lower() for cell in header]
        column = _column(names, _URL_COLUMNS)
        titles, folders = _column(names, _NAME_COLUMNS), _column(names, _FOLDER_COLUMNS)
        if column is None:
            titles = folders = None
            column = next((i for i, cell in enumerate(header) if "://" in cell), 0)
            if any("://" in cell for cell in header):
                yield Entry("line 1", header[column])
        for row in rows:
            address = _cell(row, column)
            if address:
                title, where = _cell(row, titles), _cell(row, folders)
                yield Entry(
                    f"line {rows.line_num}", address, name=title, folders=(where,) if where else ()
                )
            elif any(map(str.strip, row)):
                yield Entry(f"line {rows.line_num}", "", skipped="has no address")
    except csv.Error as error:
        raise InputError(name, f"line {rows.line_num}", f"cannot be read as CSV: {error}") from None


def _column(names: Sequence[str], wanted: Sequence[str]) -> int | None:
    return next((names.index(name) for name in wanted if name in names), None)


def _cell(row: Sequence[str], column: int | None) -> str:
    return row[column].strip() if column is not None and column < len(row) else ""


def _usable(address: str) -> str | None:
    address = address.strip()
    if "://" not in address:
        address = f"https://{address}" if "." in address and " " not in address else ""
    return normalize(address)


def read_outlines(text: str, name: str) -> Iterator[Entry]:
    """Yield what the outlines of a document say, in its order.

    Raises:
        InputError: it is no XML at all, or has entities of its own, which could expand without end. Broken
            XML is read as far as possible.
    """
    if "<!entity" in text.lower():
        raise InputError(name, text[:40], "declares entities, as no list of sites does")
    from lxml import etree  # noqa: PLC0415 - seldom used

    parser = etree.XMLParser(
        encoding="utf-8", recover=True, resolve_entities=False, no_network=True, huge_tree=False
    )
    try:
        root = etree.fromstring(escaped(text).lstrip().encode(), parser)
    except etree.XMLSyntaxError as error:
        raise InputError(name, text[:40], f"cannot be read as XML: {error}") from None
    outlines = root.iter("{*}outline") if root is not None else ()
    places = {one: number for number, one in enumerate(outlines, 1)}
    # A list of its own, because Python's stack is not as deep as a hostile file.
    waiting: list[tuple[Any, tuple[str, ...]]] = [
        (one, ()) for one in reversed(places) if one.getparent() not in places
    ]
    while waiting:
        outline, folder = waiting.pop()
        said = {_local(key): value.strip() for key, value in outline.attrib.items()}
        inside = [one for one in outline if one in places]
        entry = _entry_of(f"outline {places[outline]}", said, folder, has_more=bool(inside))
        if entry is not None:
            yield entry
        if said.get("iscomment", "").lower() == _TRUE:
            continue
        here = folder if _has_address(said) else (*folder, _name_of(said))[:_MOST_DEEP]
        waiting += [(one, here) for one in reversed(inside)]


def _entry_of(
    place: str, said: Mapping[str, str], folder: tuple[str, ...], *, has_more: bool
) -> Entry | None:
    """Return what an outline says; None = it is a folder."""
    kind, name = said.get("type", "").lower(), _name_of(said)
    where = tuple(filter(None, ("/".join(filter(None, folder)), *_categories(said))))
    off = said.get("state") == "paused" or said.get("disabled") == _TRUE
    feed, home = said.get("xmlurl", ""), said.get("htmlurl", "")
    page = home or (said.get("url", "") if kind == "link" else "")
    shown = f" ({one_line(name, 60)})" if name else ""
    if said.get("iscomment", "").lower() == _TRUE:
        return Entry(place, "", skipped=f"is a comment{shown}")
    if said.get("opmlurl") or (kind == "include" and said.get("url")):
        return Entry(place, "", skipped=f"another list, which is not fetched{shown}")
    if feed and any(word in kind for word in _SCRAPED):
        page, feed = (feed if kind.startswith("html") else home), ""
        if not page:
            return Entry(place, "", skipped=f"{kind}: no list of links can be read there{shown}")
    if feed:
        return Entry(place, feed, True, home, name, where, off)
    if page:
        return Entry(place, page, name=name, folders=where, paused=off)
    return None if has_more else Entry(place, "", skipped=f"has no address{shown}")


def _has_address(said: Mapping[str, str]) -> bool:
    return bool(said.get("xmlurl") or said.get("htmlurl"))


def _categories(said: Mapping[str, str]) -> list[str]:
    """Return the attribute ``category``: paths that begin with a slash, and words, between commas."""
    return [one.strip().strip("/") for one in said.get("category", "").split(",") if one.strip()]


def _name_of(said: Mapping[str, str]) -> str:
    return said.get("title") or said.get("text", "")


def _local(key: str) -> str:
    return key.rpartition("}")[2].lower()


_READERS: dict[str, Callable[[str, str], _Found]] = {
    "urls": _urls,
    "csv": _csv,
    "opml": read_outlines,
}
FORMATS = tuple(_READERS)
