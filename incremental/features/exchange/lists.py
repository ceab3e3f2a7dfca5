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
``category``                    more folders
``disabled``, our ``state``     paused
==============================  ======================================================================
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
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
# An address that more columns follow. Commas and semicolons may be part of its path: "/a,b.html".
_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_COLUMNS = re.compile(
    r"https?://(?:[^/\s]*[,;]|\S*?(?:\t|/[,;]|[,;](?=[\s\"]|$|https?://)|;(?![\w.-]+=)))",
    re.IGNORECASE,
)
# FreshRSS's types of what it reads itself; in "JSONFeed" and "rss" others read feeds as well.
_SCRAPED = ("xpath", "dotnotation")


@dataclass(frozen=True, slots=True)
class Wanted:
    """An address in the file: as written, then in fetch form."""

    url: str
    feed: bool = False
    """The file calls it a feed."""
    home: str | None = None
    """The site's page that the file gives for a feed."""
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


def read_list(content: bytes) -> ReadList:
    """Read at most :data:`MAX_ENTRIES` distinct entries, in the format that the content shows.

    Raises:
        InputError: no list, or without usable entries.
    """
    text, encoding = decode_body(content, "")
    if b"\0" in content and not encoding.startswith("utf-16"):
        raise InputError("file", "", "is no list of addresses")
    form = recognised(text)
    found, places = dict[str, Wanted](), dict[str, str]()
    problems, skipped = list[str](), list[str]()
    for place, one in _READERS[form](text):
        if isinstance(one, str):
            skipped.append(f"{place}: {one}")
        elif (url := _usable(one.url)) is None:
            problems.append(f"{place}: not a web address: {one.url[:100]!r}")
        elif (before := found.get(url)) is not None:
            folders = tuple(dict.fromkeys((*before.folders, *one.folders)))
            found[url] = replace(before, folders=folders)
            if folders == before.folders:
                skipped.append(f"{place}: same address as {places[url]}")
        elif len(found) == MAX_ENTRIES:
            problems.append(f"{place}: more than {MAX_ENTRIES} entries; the rest was skipped")
            break
        else:
            home = _usable(one.home or "")
            if one.home and home is None:
                problems.append(
                    f"{place}: not the address of a site: {one.home[:100]!r}; only its feed is watched"
                )
            places[url], found[url] = place, replace(one, url=url, home=home)
    if not found:
        why = next(iter((*problems, *skipped)), "no address found")
        raise InputError("file", form, f"has nothing to watch ({why})")
    return ReadList(form, tuple(found.values()), tuple(problems), tuple(skipped))


def recognised(text: str) -> str:
    """Guess the format of a text."""
    start = text.lstrip()[:4_000]
    if "<opml" in start.lower():
        return "opml"
    first = start.partition("\n")[0].strip()
    if _ADDRESS.match(first):
        return "csv" if _COLUMNS.match(first) else "urls"
    if any(sign in first for sign in ",;\t") or first.lower() in _URL_COLUMNS:
        return "csv"
    return "urls"


_Found = Iterator[tuple[str, Wanted | str]]
"""Places, and what stands there; a text says why it cannot be watched."""


def _urls(text: str) -> _Found:
    for number, line in enumerate(text.splitlines(), 1):
        address = line.strip()
        if address and not address.startswith("#"):
            yield f"line {number}", Wanted(address.split()[0])


def _csv(text: str) -> _Found:
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
                yield "line 1", Wanted(header[column])
        for row in rows:
            place, address = f"line {rows.line_num}", _cell(row, column)
            if address:
                where = filter(None, (_cell(row, folders),))
                yield place, Wanted(address, name=_cell(row, titles), folders=tuple(where))
            elif any(map(str.strip, row)):
                yield place, "has no address"
    except csv.Error as error:
        raise InputError(
            "file", f"line {rows.line_num}", f"cannot be read as CSV: {error}"
        ) from None


def _column(names: Sequence[str], wanted: Sequence[str]) -> int | None:
    return next((names.index(name) for name in wanted if name in names), None)


def _cell(row: Sequence[str], column: int | None) -> str:
    return row[column].strip() if column is not None and column < len(row) else ""


def _usable(address: str) -> str | None:
    address = address.strip()
    if "://" not in address:
        address = f"https://{address}" if "." in address and " " not in address else ""
    return normalize(address)


def _outlines(text: str) -> _Found:
    """Yield what the outlines of a document say, in its order.

    Raises:
        InputError: it is no XML at all, or has entities of its own, which could expand without end. Broken
            XML is read as far as possible.
    """
    if "<!entity" in text.lower():
        raise InputError("file", text[:40], "declares entities, as no list of sites does")
    from lxml import etree  # noqa: PLC0415 - seldom used

    parser = etree.XMLParser(
        encoding="utf-8", recover=True, resolve_entities=False, no_network=True, huge_tree=False
    )
    try:
        root = etree.fromstring(escaped(text).lstrip().encode(), parser)
    except etree.XMLSyntaxError as error:
        raise InputError("file", text[:40], f"cannot be read as XML: {error}") from None
    for number, outline in enumerate(root.iter("{*}outline") if root is not None else (), 1):
        above = [_attributes(one) for one in outline.iterancestors("{*}outline")]
        names = [_name_of(one) for one in reversed(above) if not _has_address(one)]
        folder = "/".join(filter(None, names))
        is_folder = next(outline.iterchildren("{*}outline"), None) is not None
        found = _wanted_of(_attributes(outline), folder, is_folder=is_folder)
        if found is not None:
            yield f"outline {number}", found


def _wanted_of(said: Mapping[str, str], folder: str, *, is_folder: bool) -> Wanted | str | None:
    """Return what an outline says, or why it cannot be watched; None = it is a folder."""
    kind, name = said.get("type", "").lower(), _name_of(said)
    folders = tuple(filter(None, (folder, *_categories(said))))
    off = said.get("state") == "paused" or said.get("disabled") == "true"
    feed, home = said.get("xmlurl", ""), said.get("htmlurl", "")
    page = home or (said.get("url", "") if kind == "link" else "")
    shown = f" ({one_line(name, 60)})" if name else ""
    if said.get("opmlurl") or (kind == "include" and said.get("url")):
        return f"another list, which is not fetched{shown}"
    if feed and any(word in kind for word in _SCRAPED):
        page, feed = (feed if kind.startswith("html") else home), ""
        if not page:
            return f"{kind}: no list of links can be read there{shown}"
    if feed:
        return Wanted(feed, True, home, name, folders, off)
    if page:
        return Wanted(page, name=name, folders=folders, paused=off)
    return None if is_folder else f"has no address{shown}"


def _has_address(said: Mapping[str, str]) -> bool:
    return bool(said.get("xmlurl") or said.get("htmlurl"))


def _categories(said: Mapping[str, str]) -> list[str]:
    """Return the attribute ``category``: paths that begin with a slash, and words, between commas."""
    return [one.strip().strip("/") for one in said.get("category", "").split(",") if one.strip()]


def _name_of(said: Mapping[str, str]) -> str:
    return said.get("title") or said.get("text", "")


def _attributes(outline: Any) -> dict[str, str]:  # noqa: ANN401 - lxml has no types
    return {key.rpartition("}")[2].lower(): value.strip() for key, value in outline.attrib.items()}


_READERS = {"urls": _urls, "csv": _csv, "opml": _outlines}
