"""The language of a fetched page: as declared, unless its text is plainly in another. Pure."""

from __future__ import annotations

from itertools import accumulate, islice

from classifier.words.language import SAMPLE_CHARS, language_of
from incremental.parse import Page

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
