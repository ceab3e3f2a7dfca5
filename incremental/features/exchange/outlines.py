"""OPML 2.0 (http://opml.org/spec2.opml): feeds, pages and folders, with what Miniflux and FreshRSS add. Pure.

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

from collections.abc import Iterator, Mapping
from typing import Any

from incremental.base.plain_text import one_line
from incremental.features.exchange.entry import Entry, ListError

_MOST_DEEP = 50
# FreshRSS's types of what it reads itself; in "JSONFeed" and "rss" others read feeds as well.
_SCRAPED = ("xpath", "dotnotation")
_TRUE = "true"


def read_outlines(text: str) -> Iterator[Entry]:
    """Yield what the outlines of a document say, in its order.

    Raises:
        ListError: it is no XML at all, or has entities of its own, which could expand without end. Broken
            XML is read as far as possible.
    """
    if "<!entity" in text.lower():
        raise ListError("declares entities, as no list of sites does")
    from lxml import etree  # noqa: PLC0415 - seldom used

    parser = etree.XMLParser(
        encoding="utf-8", recover=True, resolve_entities=False, no_network=True, huge_tree=False
    )
    try:
        root = etree.fromstring(text.lstrip().encode(), parser)
    except etree.XMLSyntaxError as error:
        raise ListError(f"cannot be read as XML: {error}") from None
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
