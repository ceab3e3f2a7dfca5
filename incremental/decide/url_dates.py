"""The date in a URL. Pure."""

from __future__ import annotations

import calendar
import re
from datetime import date

from incremental.parse.dates import LONE_NUMBER
from incremental.times import DAY

_URL_DATE = re.compile(
    r"(?<!\d)((?:19|20)\d{2})[/_-]?(0[1-9]|1[0-2])"
    rf"(?:(?:[_-]|/(?!{LONE_NUMBER}))?(0[1-9]|[12]\d|3[01]))?(?!\d)"
)


def date_in_url(url: str) -> float | None:
    """Return the end of the day (or month) that a URL names, unix seconds UTC; of several the latest.

    ``/2024/05/17/``, ``2024-05-17``, ``20240517``, ``202405/``. ``/2024/05/17.html`` names the month only.
    """
    named = (
        _end_of(int(year), int(month), int(day) if day else None)
        for year, month, day in _URL_DATE.findall(url.split("://", 1)[-1])
    )
    # The latest, because in January people still write last year: /2018/01/05/2017-01-05-x/ is of 2018.
    return max((date for date in named if date is not None), default=None)


def _end_of(year: int, month: int, day: int | None) -> float | None:
    """Return the end of a day or month; None for 31 February."""
    try:
        if day is not None:
            last = date(year, month, day)
        else:
            last = date(year, month, calendar.monthrange(year, month)[1])
    except ValueError:
        return None
    return (last - date(1970, 1, 1)).days * DAY + DAY
