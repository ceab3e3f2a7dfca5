"""From a page's text to weighted terms (papers 000 and 002).

::

    PageText -> language -> terms of each position -> {term: sum of position weight * count}

A hub page's text is its anchors, an article's the text without them (paper 000, section on
extract_content); :func:`is_hub_text` decides by the share of anchor text.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from urllib.parse import unquote, urlsplit

from classifier.words.language import language_of
from classifier.words.segmentation import MAX_CHARS, tokens
from classifier.words.values import PageText

# A page with a larger share of anchor text is a hub page (paper 000).
HUB_ANCHOR_SHARE: Final = 0.6
# With MAX_CHARS: five megabytes of anything cost as much as 100,000 characters.
MAX_ANCHORS: Final = 2_000
# Weight of one occurrence at each position (paper 002, formula 3). The paper names the positions
# without numbers; these were chosen on labelled pages.
_TITLE, _HEADINGS, _META, _BODY = 3.0, 2.0, 1.5, 1.0


def anchor_share(page: PageText) -> float:
    """Return the share of anchor text, by characters; 0 for an empty page."""
    anchors = sum(map(len, page.anchors))
    total = anchors + len(page.body)
    return anchors / total if total else 0.0


def is_hub_text(page: PageText) -> bool:
    """Whether the page's text is its anchors (paper 000's rule)."""
    return anchor_share(page) > HUB_ANCHOR_SHARE


def language_of_page(page: PageText) -> str:
    """Return the language of a page by its longest texts and its declaration."""
    anchors = " ".join(page.anchors[:MAX_ANCHORS]) if is_hub_text(page) else ""
    return language_of(f"{page.title} {page.meta} {page.body[:MAX_CHARS]} {anchors}", page.language)


def weighted_terms(page: PageText) -> dict[str, float]:
    """Return the weighted term frequencies of a page; empty if it has no words.

    Reads :data:`MAX_CHARS` characters at each position. The result is cached and must not be changed.
    """
    # Several topics and methods judge the same page.
    return remembered(page)


def _weighted_terms(page: PageText) -> dict[str, float]:
    language = language_of_page(page)
    positions = (
        (page.title, _TITLE),
        (" ".join(page.headings), _HEADINGS),
        (page.meta, _META),
        (" ".join(page.anchors[:MAX_ANCHORS]) if is_hub_text(page) else page.body, _BODY),
    )
    return _summed((tokens(text, language), weight) for text, weight in positions)


@lru_cache(maxsize=20_000)
def url_words(url: str) -> str:
    """Return the words of a URL's path, spaced and percent-decoded."""
    try:
        path = urlsplit(url[:2_000]).path
    except ValueError:
        return ""
    return " ".join(part for part in unquote(path).replace("_", " ").replace("-", " ").split("/"))


def _summed(weighted: Iterable[tuple[list[str], float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for terms, weight in weighted:
        for term in terms:
            total[term] = total.get(term, 0.0) + weight
    return total


# A benchmark, which judges the same pages many times, puts a larger cache in its place.
remembered = lru_cache(maxsize=64)(_weighted_terms)
