"""From a page's text to weighted terms (papers 000 and 002).

::

    PageText -> language -> terms of each position -> {term: sum of position weight * count}

Of a hub page the anchors are the text, of a topic page the text without them (paper 000, section
on extract_content): :func:`is_hub_text` decides by the share of anchor text.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

from classifier.topic.language import FALLBACK_LANGUAGE, language_of
from classifier.topic.segmentation import MAX_CHARS, add_words, tokens, written_words
from classifier.topic.values import LinkContext, PageText

__all__ = [
    "FALLBACK_LANGUAGE",
    "HUB_ANCHOR_SHARE",
    "MAX_CHARS",
    "POSITION_WEIGHTS",
    "PositionWeights",
    "add_words",
    "anchor_share",
    "is_hub_text",
    "language_of",
    "language_of_page",
    "link_terms",
    "remember",
    "tokens",
    "weighted_terms",
    "written_words",
]

HUB_ANCHOR_SHARE: Final = 0.6
"""A page with a larger share of anchor text is a hub page (paper 000)."""
MAX_ANCHORS: Final = 2_000
"""Anchors of a page that are read."""


@dataclass(frozen=True, slots=True)
class PositionWeights:
    """What one occurrence of a term counts at each position (paper 002, formula 3).

    The paper names the positions and gives no numbers; these were chosen on labelled pages.
    """

    title: float = 3.0
    headings: float = 2.0
    meta: float = 1.5
    body: float = 1.0
    anchors: float = 0.0
    """Of a topic page; on a hub page the anchors take the body's place and weight."""


POSITION_WEIGHTS: Final = PositionWeights()


def anchor_share(page: PageText) -> float:
    """Return the share of anchor text in all text, by characters; 0 for an empty page.

    The body is taken to hold no link lists; links within its sentences count twice, which moves
    the share by little.
    """
    anchors = sum(map(len, page.anchors))
    total = anchors + len(page.body)
    return anchors / total if total else 0.0


def is_hub_text(page: PageText) -> bool:
    """Whether the page's text is its anchors (paper 000's rule)."""
    return anchor_share(page) > HUB_ANCHOR_SHARE


def language_of_page(page: PageText) -> str:
    """Return the language of a page by its longest texts and what it told."""
    anchors = " ".join(page.anchors[:MAX_ANCHORS]) if is_hub_text(page) else ""
    return language_of(f"{page.title} {page.meta} {page.body[:MAX_CHARS]} {anchors}", page.language)


def weighted_terms(page: PageText, weights: PositionWeights = POSITION_WEIGHTS) -> dict[str, float]:
    """Return the weighted term frequencies of a page; empty when it holds no word.

    At most :data:`MAX_CHARS` characters are read at each position. The result is remembered (several
    topics and methods judge the same page) and must not be changed.
    """
    return _REMEMBERED_PAGES.of((page, weights), lambda: _weighted_terms(page, weights))


def _weighted_terms(page: PageText, weights: PositionWeights) -> dict[str, float]:
    language = language_of_page(page)
    anchors = " ".join(page.anchors[:MAX_ANCHORS])
    hub = is_hub_text(page)
    positions = (
        (page.title, weights.title),
        (" ".join(page.headings), weights.headings),
        (page.meta, weights.meta),
        ("" if hub else page.body, weights.body),
        (anchors, weights.body if hub else weights.anchors),
    )
    return _summed((tokens(text, language), weight) for text, weight in positions if weight)


def link_terms(link: LinkContext, language: str) -> dict[str, float]:
    """Return the weighted terms of a link: anchor, surrounding text, heading above, URL words.

    *language* is that of the page that shows it: a link is too short to tell. The result is
    remembered and must not be changed.
    """
    return _REMEMBERED_LINKS.of(
        (link.url, link.anchor, link.heading, link.around, language),
        lambda: _link_terms(link, language),
    )


def _link_terms(link: LinkContext, language: str) -> dict[str, float]:
    positions = (
        (link.anchor, 3.0),
        (link.heading, 1.0),
        (link.around, 1.0),
        (url_words(link.url), 1.0),
    )
    return _summed((tokens(text, language), weight) for text, weight in positions)


@lru_cache(maxsize=20_000)
def url_words(url: str) -> str:
    """Return the words of a URL's path, spaced; percent escapes are decoded."""
    from urllib.parse import unquote, urlsplit  # noqa: PLC0415 - links are judged in one place

    try:
        path = urlsplit(url[:2_000]).path
    except ValueError:
        return ""
    return " ".join(part for part in unquote(path).replace("_", " ").replace("-", " ").split("/"))


class _Remembered:
    """The last results of a function, up to a limit."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._found: dict[Hashable, dict[str, float]] = {}

    def of(self, key: Hashable, make: Callable[[], dict[str, float]]) -> dict[str, float]:
        """Return what was made for *key*, or make it; the oldest are forgotten."""
        found = self._found.get(key)
        if found is None:
            found = make()
            # Two threads may both be here: whoever comes second changes nothing.
            for oldest in list(islice(self._found, max(len(self._found) - self.limit, 0) + 1)):
                if len(self._found) >= self.limit:
                    self._found.pop(oldest, None)
            self._found[key] = found
        return found


_REMEMBERED_PAGES: Final = _Remembered(64)
_REMEMBERED_LINKS: Final = _Remembered(4_000)


def remember(pages: int, links: int) -> None:
    """Set how many pages and links are remembered: a benchmark goes through the same ones again."""
    _REMEMBERED_PAGES.limit = pages
    _REMEMBERED_LINKS.limit = links


def _summed(weighted: Iterable[tuple[list[str], float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for terms, weight in weighted:
        for term in terms:
            total[term] = total.get(term, 0.0) + weight
    return total
