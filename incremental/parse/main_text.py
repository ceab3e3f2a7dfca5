"""The main text of an article, without menus: trafilatura, within bounds.

For text that people compare and read; otherwise :mod:`incremental.parse.prose` is enough.
"""

import logging
from itertools import accumulate, islice

from classifier.words.language import SAMPLE_CHARS, language_of
from incremental.parse import Page
from incremental.parse.html import parse_html
from incremental.parse.metadata import READER_ERRORS
from incremental.parse.page import ParseLimits
from incremental.parse.text import storable

# Shorter texts seldom show enough common words; Chinese and Japanese letters count threefold.
MIN_LETTERS = 40
_WIDE = "\u2e80"
_WIDE_WEIGHT = 3
_MAX_LINKS = 400


def language_of_page(page: Page) -> str | None:
    """Return a page's primary language subtag, or None."""
    anchors = dict.fromkeys(link.anchor for link in islice(page.links, _MAX_LINKS))
    # A page parsed as a list has no text; its title and links stand in.
    sample = page.text or "\n".join([page.title, *anchors])
    return language_of(sample, page.language) if _is_enough(sample) else page.language


def _is_enough(sample: str) -> bool:
    weights = (_WIDE_WEIGHT if c >= _WIDE else 1 for c in sample[:SAMPLE_CHARS] if c.isalpha())
    return any(letters >= MIN_LETTERS for letters in accumulate(weights))


# Per text.
MAX_CHARS = 200_000
_MAX_HTML_CHARS = 2_000_000
# 30,000 short paragraphs take trafilatura up to 3 s; such pages go to the quick reader.
_MAX_TAGS = 30_000
# Less is a caption or a cookie notice; the quick reader may find more.
_MIN_CHARS = 80


def main_text(html: str, url: str) -> str:
    """Return the main text, one line per paragraph, at most :data:`MAX_CHARS`. Never raises.

    Pages too long, too full of tags or too odd for the extractor yield the text outside navigation.
    """
    html = html[:_MAX_HTML_CHARS]
    if not html.strip():
        return ""
    if html.count("<") > _MAX_TAGS:
        return _quick_text(html, url)
    text = _extracted(html)
    if len(text) >= _MIN_CHARS:
        return text
    return max(text, _quick_text(html, url), key=len)


def _extracted(html: str) -> str:
    # It wins published comparisons and is maintained.
    import trafilatura  # noqa: PLC0415 - takes a third of a second to load

    # It logs broken pages as errors, but they are routine for a crawler.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    try:
        # The fast mode takes 7 ms for an encyclopedia page and 34 ms for a Chinese blog page of 60 kB,
        # two to three times as long as incremental.parse.prose, and leaves 0.5 % of menus and footers
        # instead of 3 % (lines shared by more than 20 pages of a site, 900 Chinese pages of seven sites).
        # Only what the page itself says: no metadata, no reader comments.
        text = trafilatura.extract(html, fast=True, include_comments=False, with_metadata=False)
    except READER_ERRORS:
        return ""
    return storable(text or "")[:MAX_CHARS].strip()


def _quick_text(html: str, url: str) -> str:
    return parse_html(html, url, want_text=True, limits=ParseLimits()).text
