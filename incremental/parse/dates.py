"""Dates as the web writes them, to unix seconds."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_MAX_CHARS = 60
# W3C date and time (sitemaps), ISO 8601, and the forms of Chinese pages: 2024年5月6日 10:20.
_ISO_LIKE = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)"
    r"(?:[-/.年](?P<month>1[0-2]|0?[1-9])(?:[-/.月](?P<day>3[01]|[12]\d|0?[1-9])日?)?月?)?"
    r"(?:[T\s]+(?P<hour>2[0-3]|[01]?\d)[:时](?P<minute>[0-5]\d)(?:[:分](?P<second>[0-5]\d))?"
    r"(?:[.,]\d+)?秒?)?"
    r"\s*(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d)?",
    re.IGNORECASE,
)
# 6 May 2024, 6. Mai 2024, May 6th, 2024, 06.05.2024; with slashes nobody knows which is the month.
_NAMED = re.compile(
    r"(?<!\d)(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th|\.|º)?\s+(?:de\s+)?(?P<name>[a-zäéû]{3,10})\.?,?"
    r"\s+(?:de\s+)?(?P<year>20\d\d)"
    r"|(?P<name2>[a-zäéû]{3,10})\.?\s+(?P<day2>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?,?\s+(?P<year2>20\d\d)"
    r"|(?<!\d)(?P<day3>3[01]|[12]\d|0?[1-9])\.\s?(?P<month>1[0-2]|0?[1-9])\.\s?(?P<year3>20\d\d)",
    re.IGNORECASE,
)
_MONTHS = {
    month: number
    for number, months in enumerate(
        (
            "jan ene gen",
            "feb fév fev",
            "mar mär mrz",
            "apr abr avr",
            "may mai mag mei",
            "jun giu juin",
            "jul lug juil",
            "aug ago aoû aou",
            "sep set",
            "oct okt ott",
            "nov",
            "dec dez dic déc",
        ),
        1,
    )
    for month in months.split()
}
_URL_DATE = re.compile(r"/(20\d\d)[-/]?(1[0-2]|0[1-9])[-/]?(3[01]|[12]\d|0[1-9])(?=[/_.-]|$)")


def parse_date(text: str) -> float | None:
    """Return the moment *text* names, unix seconds, or None.

    A date without a time is its midnight; without a zone it is taken for UTC, because a page seldom
    tells its zone and a wrong guess is no better than at most 14 hours off.
    """
    text = text.strip()[:_MAX_CHARS]
    found = _ISO_LIKE.fullmatch(text) or _ISO_LIKE.match(text)
    if found and (found.end() == len(text) or found["day"]):
        return _moment(found)
    return _mail_date(text)


def find_date(text: str) -> float | None:
    """Return the first date that stands in *text* with year, month and day, or None."""
    for found in _ISO_LIKE.finditer(text):
        if found["day"]:
            return _moment(found)
    for found in _NAMED.finditer(text):
        year, month, day = _named_parts(found)
        if month:
            return _midnight(year, month, day)
    return None


def date_in_url(url: str) -> float | None:
    """Return the day that a URL's path names (``/2024/05/06/``, ``/20240506/``), midnight UTC."""
    found = _URL_DATE.search(url)
    if found is None:
        return None
    return _midnight(int(found[1]), int(found[2]), int(found[3]))


def _named_parts(found: re.Match[str]) -> tuple[int, int, int]:
    """Return year, month and day; month 0 for a word that is no month."""
    year = int(found["year"] or found["year2"] or found["year3"])
    day = int(found["day"] or found["day2"] or found["day3"])
    name = (found["name"] or found["name2"] or "").lower()
    month = int(found["month"] or 0) or _MONTHS.get(name[:4]) or _MONTHS.get(name[:3]) or 0
    return year, month, day


def _midnight(year: int, month: int, day: int) -> float | None:
    try:
        return datetime(year, month, day, tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _moment(found: re.Match[str]) -> float | None:
    numbers = [int(found[name] or 1) for name in ("year", "month", "day")]
    numbers += [int(found[name] or 0) for name in ("hour", "minute", "second")]
    try:
        naive = datetime(*numbers, tzinfo=UTC)  # type: ignore[misc, arg-type]  # six numbers
    except ValueError:
        return None
    return naive.timestamp() - _offset_seconds(found["zone"] or "")


def _offset_seconds(zone: str) -> int:
    digits = zone[1:].replace(":", "")
    if not digits.isdigit():
        return 0
    seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -seconds if zone[0] == "-" else seconds


def _mail_date(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
