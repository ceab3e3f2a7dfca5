"""The publication date of a page."""

import logging
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from lxml.etree import LxmlError

from incremental.parse.dates import LATEST, day_in_url, find_date, is_numbered, parse_date
from incremental.parse.head import Head
from incremental.parse.prose import Prose
from incremental.parse.text import read_json

# Most exact first; PubDate is mandatory on Chinese government sites.
_META_NAMES = """
    article:published_time og:article:published_time og:published_time datepublished pubdate
    publishdate publish_date publish-date publication_date citation_publication_date dc.date.issued
    dcterms.issued dcterms.created dc.date sailthru.date parsely-pub-date weibo:article:create_at date
"""
_TIME_MARKS = ("datepublished", "pubdate", "published", "entry-date", "post-date", "dt-published")
_LABEL = re.compile(
    r"(?:发布|发表|发稿|更新|刊登)(?:时间|日期)|(?:時間|日期|时间)(?=\s*[:：])"
    r"|\b(?:published|posted|veröffentlicht|publié|publicado|pubblicato)\b",
    re.IGNORECASE,
)
_DAY = 86_400.0
# A declared date this much later than the URL's day is that of a redated post, which keeps its URL.
_REDATED_SECONDS = 3 * _DAY
_MAX_DATE_CHARS = 40
_MAX_UNMARKED = 5
_MAX_NODES = 5_000


def publication_date(head: Head, prose: Prose, url: str, html: str) -> float | None:
    """Return unix seconds, or None.

    In order of trust: meta elements and JSON-LD, unless the URL names an earlier day; the URL; the only
    visible date; htmldate's choice from *html*; the first visible date.
    """
    declared = [head.meta[name] for name in _META_NAMES.split() if name in head.meta]
    declared += _json_ld_dates(prose.structured_data)
    dates = (parse_date(value, needs_day=True) for value in declared)
    best = next((date for date in dates if date is not None), None)
    named = day_in_url(url)
    shown = _shown_dates(head, prose) if best is None else []
    if best is None and named is None:
        return _of_shown(shown, html, url)
    if best is None or (named is not None and best - named > _REDATED_SECONDS):
        # A visible time on that day is more exact.
        return next((moment for moment in shown if named and 0 <= moment - named < _DAY), named)
    return best


def _of_shown(shown: list[float], html: str, url: str) -> float | None:
    """Choose among visible dates, most of which belong to other pages."""
    days = {moment // _DAY for moment in shown}
    if len(days) == 1:
        return shown[0]
    day = _guessed_day(html, url)
    if day is None:
        return shown[0] if shown else None
    # htmldate weighs dates by position and number but returns only a day; a visible time on it is more
    # exact.
    return next((moment for moment in shown if 0 <= moment - day < _DAY), day)


def _shown_dates(head: Head, prose: Prose) -> list[float]:
    """Return the visible dates of the page, surest first."""
    # Dates in asides are those of other pages, unless there are no others.
    usual = [time for time in head.times if not time.aside] or head.times
    marked = [time.moment for time in usual if any(word in time.mark for word in _TIME_MARKS)]
    text = prose.text()
    labelled = (
        find_date(text[label.end() : label.end() + _MAX_DATE_CHARS])
        for label in _LABEL.finditer(text)
    )
    rest = [time.moment for time in usual[:_MAX_UNMARKED]]
    dates = chain(
        labelled, map(parse_date, marked), map(find_date, prose.bylines), map(parse_date, rest)
    )
    return [date for date in dates if date is not None]


def _json_ld_dates(scripts: Iterable[str]) -> list[str]:
    dates: list[str] = []
    for script in scripts:
        if "datePublished" not in script:
            continue
        waiting: list[Any] = [read_json(script) or ()]
        for node in waiting:
            if isinstance(node, dict) and isinstance(node.get("datePublished"), str):
                dates.append(node["datePublished"])
            children = node.values() if isinstance(node, dict) else node
            if len(waiting) < _MAX_NODES:
                waiting += [child for child in children if isinstance(child, dict | list)]
    return dates


# Guesses the publication day of pages without a machine-readable date: htmldate, within bounds.
#
# A search takes 15 to 60 ms, so only pages fetched for their text get one.

# Seen from trafilatura, htmldate and lxml on broken trees and odd numbers; they guard only against
# ``ValueError`` themselves.
READER_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    LxmlError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)

# Passed in, because htmldate would read the clock.
_LATEST_DAY = datetime.fromtimestamp(LATEST, UTC).replace(tzinfo=None)
_MAX_HTML_CHARS = 500_000
# 5,000 hostile paragraphs take 5 s.
_MAX_TAGS = 5_000


def _guessed_day(html: str, url: str) -> float | None:
    """Return midnight (UTC) of a page's publication day, or None. Never raises.

    None for long pages, and if only the year is known.
    """
    if len(html) > _MAX_HTML_CHARS or html.count("<") > _MAX_TAGS:
        return None
    import htmldate  # noqa: PLC0415 - takes a tenth of a second to load

    for name in ("htmldate", "dateparser"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        if is_numbered(url):
            # htmldate takes the number for a day, and finds the address in the page as well (og:url).
            html, url = html.replace(urlsplit(url).path, ""), ""
        declared = htmldate.find_date(html, url=url, original_date=True, max_date=_LATEST_DAY)
        found = datetime.fromisoformat(declared) if declared else None
    except READER_ERRORS:
        return None
    # Of 106 new pages of a documentation site, 51 would be dated 1 January because their footer names the
    # year.
    if found is None or (found.month, found.day) == (1, 1):
        return None
    return found.replace(tzinfo=UTC).timestamp()
