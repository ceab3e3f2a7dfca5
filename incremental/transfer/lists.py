"""Site lists of other programs. Pure: text to values; odd entries are reported, not raised.

===================  ==========================================================================
format               content read
===================  ==========================================================================
``urls``             one address per line; ``#`` begins a comment
``csv``              a column ``url`` (or ``link``, ``address``), or the first with addresses
``opml``             outlines with ``xmlUrl``: feeds, whose site is ``htmlUrl``; with ``htmlUrl`` only:
                     pages
``changedetection``  the JSON of changedetection.io (``url-watches.json``, or its API)
``urlwatch``         ``urls.yaml`` of urlwatch: each job's ``url`` or ``navigate``
===================  ==========================================================================
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from incremental.errors import InputError
from incremental.urls import normalize

MAX_FILE_BYTES = 50_000_000
MAX_ENTRIES = 20_000
# Removed from OPML, which has none: its entities could expand without end.
_DOCTYPE = re.compile(r"<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL | re.IGNORECASE)
_URL_COLUMNS = ("url", "link", "address", "xmlurl", "网址")


@dataclass(frozen=True, slots=True)
class Wanted:
    """An address in the file."""

    url: str
    """In fetch form."""
    feed: bool = False
    """The file calls it a feed."""
    home: str | None = None
    """The site's page that the file gives for a feed, in fetch form."""


@dataclass(frozen=True, slots=True)
class ReadList:
    """The content of a file."""

    format: str
    wanted: tuple[Wanted, ...]
    problems: tuple[str, ...]
    """Unusable entries with their position, for display."""


def read_list(content: bytes, form: str = "auto", *, name: str = "file") -> ReadList:
    """Read at most :data:`MAX_ENTRIES` distinct entries; ``auto`` detects the format.

    Raises:
        InputError: too large, not UTF-8, an unknown format, or without usable entries.
    """
    if len(content) > MAX_FILE_BYTES:
        raise InputError(name, f"{len(content)} bytes", f"at most {MAX_FILE_BYTES} bytes are read")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(name, f"byte {error.start}", "is not UTF-8 text") from None
    form = recognised(text) if form == "auto" else form
    if form not in _READERS:
        raise InputError("format", form, f"must be one of: auto, {', '.join(_READERS)}")
    found: dict[str, Wanted] = {}
    problems: list[str] = []
    for place, address, feed, home in _READERS[form](text, name):
        url = _usable(address)
        if url is None:
            problems.append(f"{place}: not a web address: {address[:100]!r}")
        elif len(found) < MAX_ENTRIES:
            found.setdefault(url, Wanted(url, feed, _usable(home) if home else None))
        else:
            problems.append(f"{place}: more than {MAX_ENTRIES} entries; the rest was skipped")
            break
    if not found:
        why = problems[0] if problems else "no address found"
        raise InputError(name, form, f"has nothing to watch ({why})")
    return ReadList(form, tuple(found.values()), tuple(problems))


def recognised(text: str) -> str:
    """Guess the format of a text."""
    start = text.lstrip()[:4_000]
    lowered = start.lower()
    if start.startswith(("{", "[")):
        return "changedetection"
    if "<opml" in lowered:
        return "opml"
    first = start.partition("\n")[0].strip().lower()
    if any(f"\n{key}:" in f"\n{lowered}" for key in ("url", "navigate", "kind", "name")) or (
        first == "---"
    ):
        return "urlwatch"
    if "," in first or ";" in first or "\t" in first:
        return "csv"
    return "urls"


_Found = Iterator[tuple[str, str, bool, str]]
"""Position for display, address as written, whether it is a feed, its site's page as written."""


def _urls(text: str, _name: str) -> _Found:
    for number, line in enumerate(text.splitlines(), 1):
        address = line.strip()
        if address and not address.startswith("#"):
            yield f"line {number}", address.split()[0], False, ""


def _csv(text: str, name: str) -> _Found:
    try:
        dialect: Any = csv.Sniffer().sniff(text[:4_000], delimiters=",;\t")
    except csv.Error:
        dialect = csv.excel
    rows = csv.reader(io.StringIO(text, newline=""), dialect)
    try:
        header = next(rows, [])
        names = [cell.strip().lower() for cell in header]
        column = next((names.index(name) for name in _URL_COLUMNS if name in names), None)
        if column is None:
            column = next((i for i, cell in enumerate(header) if "://" in cell), 0)
            if any("://" in cell for cell in header):
                yield "line 1", header[column], False, ""
        for row in rows:
            if column < len(row) and row[column].strip():
                yield f"line {rows.line_num}", row[column].strip(), False, ""
    except csv.Error as error:
        raise InputError(name, f"line {rows.line_num}", f"cannot be read as CSV: {error}") from None


def _opml(text: str, name: str) -> _Found:
    from lxml import etree  # noqa: PLC0415 - seldom used

    parser = etree.XMLParser(
        encoding="utf-8", recover=True, resolve_entities=False, no_network=True, huge_tree=False
    )
    try:
        root = etree.fromstring(_DOCTYPE.sub("", text.lstrip(), count=1).encode(), parser)
    except etree.XMLSyntaxError as error:
        raise InputError(name, text[:40], f"cannot be read as XML: {error}") from None
    outlines = root.iter("{*}outline") if root is not None else ()
    for number, outline in enumerate(outlines, 1):
        said = {name.lower(): value.strip() for name, value in outline.attrib.items()}
        feed, home = said.get("xmlurl", ""), said.get("htmlurl", "")
        page = home or (said.get("url", "") if said.get("type", "").lower() == "link" else "")
        if feed:
            yield f"outline {number}", feed, True, home
        elif page:
            yield f"outline {number}", page, False, ""


def _changedetection(text: str, name: str) -> _Found:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(name, text[:40], f"cannot be read as JSON: {error}") from None
    if isinstance(found, Mapping):
        found = found.get("watching", found)
        found = list(found.values()) if isinstance(found, Mapping) else found
    for number, watch in enumerate(found if isinstance(found, list) else [], 1):
        if isinstance(watch, Mapping) and isinstance(watch.get("url"), str):
            yield f"watch {number}", watch["url"], False, ""


def _urlwatch(text: str, name: str) -> _Found:
    from incremental.transfer.jobs import JobsError, read_jobs  # noqa: PLC0415 - seldom used

    try:
        for number, job in enumerate(read_jobs(text), 1):
            if address := job.get("url") or job.get("navigate"):
                yield f"job {number}", address, False, ""
    except JobsError as error:
        raise InputError(name, text[:40], f"cannot be read as YAML: {error}") from None


_READERS: dict[str, Callable[[str, str], _Found]] = {
    "urls": _urls,
    "csv": _csv,
    "opml": _opml,
    "changedetection": _changedetection,
    "urlwatch": _urlwatch,
}
FORMATS = tuple(_READERS)


def _usable(address: str) -> str | None:
    address = address.strip()
    if "://" not in address:
        address = f"https://{address}" if "." in address and " " not in address else ""
    return normalize(address)
