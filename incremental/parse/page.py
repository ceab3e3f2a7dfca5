"""What parsing makes of a body: plain values, no network, no store."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class PageKind(StrEnum):
    """What a body turned out to be, whatever its header said."""

    HTML = "html"
    FEED = "feed"
    SITEMAP = "sitemap"
    """A list of pages (urlset)."""
    SITEMAP_INDEX = "sitemap_index"
    """A list of sitemaps."""
    OTHER = "other"
    """Nothing we read links from: binary, plain text, empty."""


@dataclass(frozen=True, slots=True)
class Link:
    """One link, as one page shows it."""

    url: str
    """Absolute, http(s), as written otherwise (not canonical)."""
    anchor: str = ""
    """Visible text, white space folded; the image's alt text or the title attribute if there is
    none."""
    context: str = ""
    """Text of the nearest block around the link, at most 300 characters."""
    tag_path: str = ""
    """Path of tags with classes from the root, e.g. ``html/body/div.main/ul.list/li/a``."""
    heading: str = ""
    """Text of the nearest heading above, at most 120 characters."""
    position: int = 0
    """Running number on the page, from 0."""
    published_at: float | None = None
    """What a feed or a sitemap says of the target; unix seconds, UTC."""
    rel: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    """Further addresses that a feed gives for the same entry, absolute: the link of a counting service
    stands beside the page's own."""


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed body."""

    url: str
    kind: PageKind
    title: str = ""
    canonical_url: str | None = None
    language: str | None = None
    """BCP 47 primary subtag in lower case (``zh``, ``en``), None when not told."""
    published_at: float | None = None
    text: str = ""
    """Visible text of the main part; empty unless asked for."""
    links: tuple[Link, ...] = ()
    feed_urls: tuple[str, ...] = ()
    """Feeds that the page names in link elements (HTML), in order."""
    next_url: str | None = None
    """The next page of a paged list (rel=next, "older", "下一页")."""
    refresh_url: str | None = None
    """Target of a meta refresh of at most 30 s."""
    home_url: str | None = None
    """The web page that a feed says it belongs to."""
    websub_hub_url: str | None = None
    websub_self_url: str | None = None
    """What the page calls itself (rel=self): the topic that a WebSub hub is asked about."""
    ttl_seconds: float | None = None
    """How long a feed asks to be left alone."""
    truncated: bool = False
    """A limit (links, depth, time, size) cut the page short."""
    problem: str = ""
    """Why the body could not be read as what it claims to be, for people."""
    headings: tuple[str, ...] = ()
    """Texts of h1 to h6, in order; empty unless the text was asked for."""
    description: str = ""
    """Description and key words of the head; empty unless the text was asked for."""
