"""Durations in seconds, and the moments that people type."""

import re
from datetime import datetime

from incremental.base.errors import InputError
from incremental.base.texts import Text

MINUTE = 60.0
HOUR = 3_600.0
DAY = 86_400.0
# A due time beyond all visits.
NEVER = 9e12

# For page dates: an unstated zone accounts for up to 14 hours, and editors date posts to the next morning.
_MAX_AHEAD = 2 * DAY

_UNITS = {"m": MINUTE, "h": HOUR, "d": DAY, "w": 7 * DAY}
_MOST_DIGITS = 12
_SPAN = re.compile(r"([0-9]+(?:\.[0-9]+)?)([mhdw])")


def believable(published_at: float | None, now: float) -> float | None:
    """Return a page's date, None if it is in the future: events are listed under the day they happen."""
    return published_at if published_at is None or published_at <= now + _MAX_AHEAD else None


def span_seconds(text: str) -> float | None:
    """Return the seconds of a span such as ``3h``; None = it is none."""
    span = _SPAN.fullmatch(text.strip())
    if span is None or len(span[1]) > _MOST_DIGITS:
        return None
    return float(span[1]) * _UNITS[span[2]]


def moment(text: str, at: float) -> float:
    """Return the time of *text*: ``3h`` before *at*, or a date like ``2026-11-01 08:00``.

    Raises:
        InputError: it is neither.
    """
    span = span_seconds(text)
    if span is not None:
        return at - span
    try:
        # Without a zone, the local one.
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError):
        raise InputError("time", text, Text("input.moment")) from None
