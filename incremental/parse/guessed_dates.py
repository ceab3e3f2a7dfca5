"""Guesses the publication day of pages without a machine-readable date: htmldate, within bounds.

A search takes 15 to 60 ms, so only pages fetched for their text get one.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from incremental.parse.dates import LATEST, is_numbered
from incremental.parse.reader_errors import READER_ERRORS

if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_HTML_CHARS = 500_000
# 5,000 hostile paragraphs take 5 s.
_MAX_TAGS = 5_000


def guessed_day(html: str, url: str) -> float | None:
    """Return midnight (UTC) of a page's publication day, or None. Never raises.

    None for long pages, and if only the year is known.
    """
    if len(html) > _MAX_HTML_CHARS or html.count("<") > _MAX_TAGS:
        return None
    try:
        if is_numbered(url):
            # htmldate takes the number for a day, and finds the address in the page as well (og:url).
            html, url = html.replace(urlsplit(url).path, ""), ""
        found = _finder()(html, url)
    except READER_ERRORS:
        return None
    # Of 106 new pages of a documentation site, 51 would be dated 1 January because their footer names the
    # year.
    if found is None or (found.month, found.day) == (1, 1):
        return None
    return found.replace(tzinfo=UTC).timestamp()


@cache
def _finder() -> Callable[[str, str], datetime | None]:
    from htmldate import find_date  # noqa: PLC0415 - takes a tenth of a second to load

    for name in ("htmldate", "dateparser"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # Passed in, because htmldate would read the clock.
    latest = datetime.fromtimestamp(LATEST, UTC).replace(tzinfo=None)

    def find(html: str, url: str) -> datetime | None:
        declared = find_date(html, url=url, original_date=True, max_date=latest)
        return None if declared is None else datetime.fromisoformat(declared)

    return find
