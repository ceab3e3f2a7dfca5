"""Which language a page that was read is in: what it says, unless its text is plainly in another. Pure."""

from __future__ import annotations

from itertools import islice

from classifier.topic.language import SAMPLE_CHARS, language_of
from incremental.parse import Page

# With fewer the common words of a language seldom tell it; letters of Chinese and Japanese count
# threefold.
MIN_LETTERS = 40
_WIDE = "\u2e80"
_WIDE_WEIGHT = 3
_MAX_LINKS = 400


def language_of_page(page: Page) -> str | None:
    """Return the primary language subtag of a page, None where it neither says nor shows one.

    A page that was read as a list has no text: its title and its links stand for it.
    """
    sample = page.text or _listed(page)
    letters = sum(_WIDE_WEIGHT if c >= _WIDE else 1 for c in sample[:SAMPLE_CHARS] if c.isalpha())
    if letters < MIN_LETTERS:
        return page.language
    return language_of(sample, page.language)


def _listed(page: Page) -> str:
    anchors = (link.anchor for link in islice(page.links, _MAX_LINKS))
    return "\n".join([page.title, *dict.fromkeys(anchors)])
