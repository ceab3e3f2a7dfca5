"""Parsed bodies as plain values, and how much of a body the parsers read."""

from dataclasses import dataclass
from enum import StrEnum

from hubwatch.errors import LimitError


class PageKind(StrEnum):
    """What a body is, whatever its header says."""

    HTML = "html"
    FEED = "feed"
    SITEMAP = "sitemap"
    """A list of pages (urlset)."""
    SITEMAP_INDEX = "sitemap_index"
    """A list of sitemaps."""
    OTHER = "other"
    """No source of links: binary, plain text, empty."""


@dataclass(frozen=True, slots=True)
class Link:
    """One link, as one page shows it."""

    url: str
    """Absolute, http(s), otherwise as written (not canonical)."""
    anchor: str = ""
    """Visible text, white space folded; else the image's alt text or the title attribute."""
    context: str = ""
    """Text of the block around the link, at most 300 characters."""
    tag_path: str = ""
    """Tags with classes from the root, such as ``html/body/div.main/ul.list/li/a``."""
    heading: str = ""
    """Text of the nearest heading above, at most 120 characters."""
    published_at: float | None = None
    """The target's date in a feed or sitemap; unix seconds, UTC."""
    rel: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    """Other absolute URLs of a feed entry, such as a page's own beside a tracking URL."""


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed body."""

    url: str
    kind: PageKind
    title: str = ""
    canonical_url: str | None = None
    language: str | None = None
    """BCP 47 primary subtag in lower case (``zh``, ``en``); None if not declared."""
    published_at: float | None = None
    text: str = ""
    """Main text; empty unless requested."""
    links: tuple[Link, ...] = ()
    feed_urls: tuple[str, ...] = ()
    """Feeds in link elements (HTML), in order."""
    icon_urls: tuple[str, ...] = ()
    """Icons of the site in link elements, those for home screens last."""
    next_url: str | None = None
    """Next page of a paged list (rel=next, "older", "下一页")."""
    refresh_url: str | None = None
    """Target of a meta refresh of at most 30 s."""
    home_url: str | None = None
    """The web page a feed belongs to."""
    ttl_seconds: float | None = None
    """How long a feed asks not to be fetched."""
    truncated: bool = False
    """A limit (links, depth, time, size) cut the page."""
    problem: str = ""
    """Why the body is not what it claims to be, for display."""
    headings: tuple[str, ...] = ()
    """Texts of h1 to h6, in order; empty unless text was requested."""
    description: str = ""
    """Description and key words from the head; empty unless text was requested."""


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """Bounds of one ``parse`` call; what exceeds them is cut and the page marked ``truncated``."""

    max_bytes: int = 10_000_000
    """Of an HTML page; the rest is not read."""
    max_links: int = 20_000
    """Of an HTML page."""
    # A substitute for a time limit: about 3 s on a slow machine.
    max_elements: int = 1_000_000
    """Start tags of an HTML page."""
    # Each keeps its path: a million would take half a gigabyte.
    max_depth: int = 150_000
    """Open elements of an HTML page."""
    # libxml2 searches all open elements for an unmatched end tag, 2 ns each.
    max_nesting_work: int = 500_000_000
    """End tags times depth."""
    max_text_chars: int = 200_000
    """Of the main text."""
    max_feed_bytes: int = 2_000_000
    # feedparser takes about 3 s for these.
    max_feed_tags: int = 200_000
    max_feed_entries: int = 2_000
    # sitemaps.org allows 50 MiB.
    max_sitemap_bytes: int = 50_000_000
    """Decompressed."""
    # As in sitemaps.org; alternates and duplicates count, because each costs the same.
    max_sitemap_urls: int = 50_000
    """Entries, with hreflang alternates and duplicates."""
    # Thirty per entry of a full sitemap.
    max_sitemap_tags: int = 1_500_000
    """Start tags."""
    max_url_chars: int = 4_096
    """Longer links are dropped."""


class LimitReachedError(LimitError):
    """Ends a parser inside an event; what was gathered stays. Never leaves this package."""
