"""A page's metadata: title, meta and link elements, base, refresh."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from incremental.parse.text import fold

HEAD_TAGS = frozenset({"html", "title", "meta", "link", "base", "time", "abbr"})

_MAX_TITLE_CHARS = 500
_MAX_META = 200
_MAX_META_CHARS = 500
_MAX_FEEDS = 50
_MAX_ICONS = 8
_MAX_REFRESH_SECONDS = 30

_RELATIONS = frozenset({"canonical", "next", "apple-touch-icon"})
_FEED_NAMES = """
    application/rss+xml application/atom+xml application/rdf+xml application/feed+json
    application/xml text/xml
"""
_FEED_TYPES = frozenset(_FEED_NAMES.split())
# Classes of body describe the whole page, so they do not count here.
_ASIDE = re.compile(
    r"/(?:aside|nav)(?=[./])|/(?!body)[^/]*(?:sidebar|related|recent|popular|comment)",
    re.IGNORECASE,
)
# What stands between a title and the name of the site.
# Without blanks only signs that no headline has there.
_BETWEEN = r"(?:\s+[-|:·•–—«»/]+\s+|\s*[|｜_]+\s*)"
_BEFORE = r"(?:\s+»\s+|\s*[|｜]+\s*)"
_AFTER_TITLE = re.compile(_BETWEEN)
# HTML standard, "shared declarative refresh steps".
_REFRESH = re.compile(
    r"\s*(?P<seconds>\d+)(?:\.[\d.]*)?(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?(?P<quote>['\"]?)(?P<target>.+)",
    re.IGNORECASE | re.DOTALL,
)


class TimeElement(NamedTuple):
    """A time element, or an abbr as in microformats."""

    mark: str
    """Class and itemprop, in lower case."""
    moment: str
    aside: bool
    """In a sidebar, a menu or a list of other pages."""


@dataclass(slots=True)
class Head:
    """Collects from events; references stay as written, and the first of each counts."""

    title: str = ""
    base: str | None = None
    links: dict[str, str] = field(default_factory=dict)
    """Targets of link elements by relation: canonical, next, apple-touch-icon."""
    refresh: str | None = None
    noscript_refresh: str | None = None
    language: str = ""
    meta: dict[str, str] = field(default_factory=dict)
    """By lower-case name, property, itemprop or http-equiv."""
    feeds: list[str] = field(default_factory=list)
    icons: list[str] = field(default_factory=list)
    times: list[TimeElement] = field(default_factory=list)
    """Those with an attribute that gives their time, in order."""
    open_title: list[str] | None = None
    """Text of a title that is still open."""

    def start(
        self,
        tag: str,
        attributes: Mapping[str, str],
        *,
        path: str,
        in_svg: bool,
        in_noscript: bool,
    ) -> None:
        """Handle a start tag; *path* is that of the enclosing tags."""
        if tag == "meta":
            self._start_meta(attributes, in_noscript=in_noscript)
        elif tag == "link":
            self._start_link(attributes)
        # In an image a title is no raw text: browsers see the links behind one that never ends.
        elif tag == "title" and not in_svg and not self.title:
            self.open_title = []
        elif tag == "base" and self.base is None:
            self.base = attributes.get("href")
        elif tag == "html" and not self.language:
            self.language = attributes.get("lang") or attributes.get("xml:lang") or ""
        elif tag in {"time", "abbr"} and len(self.times) < _MAX_META:
            moment = attributes.get("datetime" if tag == "time" else "title")
            self._start_time(attributes, moment, path)

    def own_title(self) -> str:
        """Return the title without the name of the site, as far as Open Graph gives either."""
        title, own, site = (
            fold(text, _MAX_TITLE_CHARS)
            for text in (
                self.title,
                self.meta.get("og:title", ""),
                self.meta.get("og:site_name", ""),
            )
        )
        if own and title.startswith(own) and _AFTER_TITLE.match(title, len(own)):
            title = own
        name = re.escape(site)
        around = rf"(?:{name}{_BEFORE})?(.+?)(?:{_BETWEEN}{name})?"
        found = re.fullmatch(around, title) if site else None
        return found[1] if found else title or own

    def end_title(self) -> None:
        """Handle the end of a title."""
        if self.open_title is not None:
            self.title = fold("".join(self.open_title), _MAX_TITLE_CHARS)
            self.open_title = None

    def _start_time(self, attributes: Mapping[str, str], moment: str | None, path: str) -> None:
        if moment is not None:
            mark = f"{attributes.get('class', '')} {attributes.get('itemprop', '')}"
            mark += " pubdate" if "pubdate" in attributes else ""
            aside = _ASIDE.search(path) is not None
            self.times.append(TimeElement(mark.lower(), moment, aside))

    def _start_meta(self, attributes: Mapping[str, str], *, in_noscript: bool) -> None:
        content = attributes.get("content")
        if content is None:
            return
        for key in ("name", "property", "itemprop", "http-equiv"):
            name = attributes.get(key)
            if name and len(self.meta) < _MAX_META:
                self.meta.setdefault(name.strip().lower(), content[:_MAX_META_CHARS])
        if attributes.get("http-equiv", "").strip().lower() == "refresh":
            self._take_refresh(content, in_noscript=in_noscript)

    def _take_refresh(self, content: str, *, in_noscript: bool) -> None:
        found = _REFRESH.match(content)
        # Also keeps int() from refusing very long digit strings.
        if found is None or len(found["seconds"]) > len("86400"):
            return
        if int(found["seconds"]) > _MAX_REFRESH_SECONDS:
            return
        target = found["target"]
        if found["quote"]:
            target = target.partition(found["quote"])[0]
        if in_noscript:
            self.noscript_refresh = self.noscript_refresh or target
        else:
            self.refresh = self.refresh or target

    def _start_link(self, attributes: Mapping[str, str]) -> None:
        reference = attributes.get("href")
        rels = attributes.get("rel", "").lower().split()
        if not reference or not rels:
            return
        for rel in _RELATIONS.intersection(rels):
            self.links.setdefault(rel, reference)
        if _names_feed(rels, attributes, reference) and len(self.feeds) < _MAX_FEEDS:
            self.feeds.append(reference)
        if "icon" in rels and len(self.icons) < _MAX_ICONS:
            self.icons.append(reference)


def _names_feed(rels: list[str], attributes: Mapping[str, str], reference: str) -> bool:
    if "alternate" not in rels and "feed" not in rels:
        return False
    kind = attributes.get("type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        # WordPress declares its API with the same type.
        return reference.lower().partition("?")[0].endswith("feed.json")
    return kind in _FEED_TYPES or ("feed" in rels and not kind)
