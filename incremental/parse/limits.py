"""How much of a body the parsers read."""

from dataclasses import dataclass

from hubwatch.errors import LimitError


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
