"""Write Atom (RFC 4287), JSON Feed 1.1 and OPML 2.0. Pure.

An entry's id depends on the page's URL only, so it is the same in every feed and after a restart.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any

from lxml import etree

from incremental.base.plain_text import clean, one_line

_ATOM = "http://www.w3.org/2005/Atom"
_SPACES: Any = {None: _ATOM}
_TITLE, _SUMMARY = 500, 1_000
# Characters that XML 1.0 does not allow: control characters, lone surrogates, U+FFFE and U+FFFF.
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Entry:
    """A feed entry. Times are unix seconds, UTC."""

    id: str
    url: str
    title: str
    site: str
    found_at: float
    published_at: float | None = None
    summary: str = ""
    language: str | None = None
    tags: tuple[str, ...] = ()
    content: tuple[str, ...] = ()
    """The paragraphs of the whole text; empty = the summary alone."""


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed and its URLs."""

    id: str
    title: str
    home: str
    """The web page with the same content."""
    address: str
    """The URL of the feed itself."""
    entries: Sequence[Entry] = ()
    updated_at: float = 0.0


def atom(feed: Feed) -> bytes:
    """Write *feed* as Atom, UTF-8."""
    root = etree.Element(f"{{{_ATOM}}}feed", nsmap=_SPACES)
    _add(root, "title", feed.title)
    _add(root, "id", feed.id)
    _add(root, "updated", _iso(feed.updated_at))
    _add(root, "link", rel="self", type="application/atom+xml", href=feed.address)
    _add(root, "link", rel="alternate", type="text/html", href=feed.home)
    _add(root, "generator", "Hubwatch")
    _add(_add(root, "author"), "name", "Hubwatch")
    for entry in feed.entries:
        _add_entry(root, entry)
    return _xml(root)


def _add_entry(root: Any, entry: Entry) -> None:  # noqa: ANN401 - lxml has no types
    node = _add(root, "entry")
    _add(node, "title", _title(entry))
    _add(node, "id", entry.id)
    _add(node, "link", rel="alternate", href=entry.url)
    _add(node, "updated", _iso(entry.found_at))
    _add(node, "published", _iso(entry.published_at or entry.found_at))
    _add(_add(node, "author"), "name", one_line(entry.site, _TITLE))
    for tag in entry.tags:
        _add(node, "category", term=one_line(tag, _TITLE))
    if summary := one_line(entry.summary, _SUMMARY):
        _add(node, "summary", summary, type="text")
    if entry.content:
        _add(node, "content", _html(entry), type="html")


def json_feed(feed: Feed) -> bytes:
    """Write *feed* as JSON Feed 1.1, UTF-8."""
    items = []
    for entry in feed.entries:
        summary = one_line(entry.summary, _SUMMARY)
        item: dict[str, Any] = {
            "id": entry.id,
            "url": entry.url,
            "title": _title(entry),
            "date_published": _iso(entry.published_at or entry.found_at),
            "date_modified": _iso(entry.found_at),
            "authors": [{"name": one_line(entry.site, _TITLE)}],
        }
        if entry.content:
            item |= {"content_html": _html(entry), "summary": summary}
        else:
            item["content_text"] = summary or _title(entry)
        if entry.language:
            item["language"] = entry.language
        if entry.tags:
            item["tags"] = [one_line(tag, _TITLE) for tag in entry.tags]
        items.append(item)
    fields = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": feed.title,
        "home_page_url": feed.home,
        "feed_url": feed.address,
        "items": items,
    }
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace")


def opml(
    title: str, outlines: Iterable[tuple[str, Mapping[str, str]]], spaces: Mapping[str, str]
) -> bytes:
    """Write outlines, each with its folder (``A/B``; empty = none) and its attributes, as OPML 2.0.

    *spaces* are the namespaces of attributes by their prefix.
    """
    root = etree.Element("opml", version="2.0", nsmap=dict(spaces))
    head = _add(root, "head")
    _add(head, "title", title)
    folders: dict[str, Any] = {"": _add(root, "body")}
    for path, said in outlines:
        attributes = {name: clean(value) for name, value in said.items()}
        _add(_folder(folders, path), "outline", **attributes)
    return _xml(root)


def _folder(folders: dict[str, Any], path: str) -> Any:  # noqa: ANN401 - lxml has no types
    """Return the outline of a folder, made within its own if it is new."""
    if path not in folders:
        above, _, name = path.rpartition("/")
        shown = one_line(name, _TITLE) or "/"
        folders[path] = _add(_folder(folders, above), "outline", text=shown, title=shown)
    return folders[path]


def _add(parent: Any, tag: str, content: str = "", **attributes: str) -> Any:  # noqa: ANN401 - lxml has no types
    space = parent.nsmap.get(None)
    plain = {name: _NOT_XML.sub("", value) for name, value in attributes.items()}
    node = etree.SubElement(parent, f"{{{space}}}{tag}" if space else tag, plain)
    if content:
        node.text = _NOT_XML.sub("", content)
    return node


def _xml(root: Any) -> bytes:  # noqa: ANN401 - lxml has no types
    done: bytes = etree.tostring(root, encoding="utf-8", xml_declaration=True, pretty_print=True)
    return done


def _title(entry: Entry) -> str:
    """Return the title, or the URL if the title is empty."""
    return one_line(entry.title, _TITLE) or entry.url


def _html(entry: Entry) -> str:
    return "".join(f"<p>{escape(line, quote=False)}</p>" for line in entry.content)


def _iso(at: float) -> str:
    # Sites claim any date: clamp to what a feed can express.
    date = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=min(max(at, 0.0), 2.5e11))
    return f"{date:%Y-%m-%dT%H:%M:%SZ}"
