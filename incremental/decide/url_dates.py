"""The date in a URL, as far as its site shows that it is one. Pure.

Six digits have up to four readings: ``200205`` is May 2002, 5 February 2020 or 20 February 2005. All numbers
of one form of address on one site are of one kind, so one that a reading makes impossible (``190724``: no
month 24) rules it out for all of them, and a page whose own date fits one reading decides for it. What stays
ambiguous is no date::

    2024/05/17  2024-05  20240517      always a date: eight digits with a day have one reading
    202405                             a date by itself: no day and no month is 24
    200205 beside 190724               5 February 2020
    200205 beside 201408               May 2002
    200205 alone                       none
"""

import calendar
import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Self

from incremental.base.times import DAY
from incremental.decide.address_forms import form_of
from incremental.parse.dates import LONE_NUMBER

_URL_DATE = re.compile(
    r"(?<!\d)((?:19|20)\d{2})([/_-]?)(0[1-9]|1[0-2])"
    rf"(?:((?:[_-]|/(?!{LONE_NUMBER}))?)(0[1-9]|[12]\d|3[01]))?(?!\d)"
)
_FOUR_DIGITS = re.compile(r"\d{4}")
_SIX_DIGITS = re.compile(r"(?<!\d)\d{6}(?!\d)")
# Numbers of one form from which days are read, rather than serial numbers.
MIN_RUNS = 8
# No page of the web is older.
_FIRST_YEAR = 1990
# Where year (of four or two digits), month and day stand in six digits.
_READINGS: Mapping[str, tuple[slice, slice, slice | None]] = {
    "yyyymm": (slice(0, 4), slice(4, 6), None),
    "yymmdd": (slice(0, 2), slice(2, 4), slice(4, 6)),
    "ddmmyy": (slice(4, 6), slice(2, 4), slice(0, 2)),
    "mmddyy": (slice(4, 6), slice(0, 2), slice(2, 4)),
}


@dataclass(frozen=True, slots=True)
class UrlDates:
    """How one site writes dates into its addresses."""

    readings: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By form of address: the readings that all its numbers of six digits allow."""
    latest_year: int = 2100
    """No page is of a later year."""

    @classmethod
    def of_site(cls, known: Iterable[tuple[str, float | None]], now: float) -> Self:
        """Learn from URLs and what their own pages or feeds say of their dates (unix seconds)."""
        latest = datetime.fromtimestamp(now, UTC).year + 1
        allowed: dict[str, set[str]] = {}
        runs: dict[str, set[str]] = {}
        for url, published_at in known:
            for run in _SIX_DIGITS.findall(_path(url)):
                possible = _possible(run, latest)
                # What a page says of its date may be the day of its last deployment: then it fits none.
                fits = {one for one, end in possible.items() if _fits(one, end, published_at)}
                form = form_of(url)
                allowed.setdefault(form, set(_READINGS)).intersection_update(fits or possible)
                runs.setdefault(form, set()).add(run)
        # A few serial numbers may all look like days.
        few = {form for form, found in runs.items() if len(found) < MIN_RUNS}
        return cls(
            {
                form: frozenset(found & {"yyyymm"} if form in few and len(found) == 1 else found)
                for form, found in allowed.items()
            },
            latest,
        )

    def of(self, url: str) -> float | None:
        """Return the end of the day (or month) that *url* names, unix seconds UTC; of several the latest."""
        path = _path(url)
        if not _FOUR_DIGITS.search(path):
            return None
        named = [self._six(url, run) for run in _SIX_DIGITS.findall(path)]
        for year, apart, month, apart_too, day in _URL_DATE.findall(path):
            joined = not apart and (not day or apart_too)
            if not joined or self.allowed(url, year + month) == {"yyyymm"}:
                named.append(_end_of(int(year), int(month), int(day) if day else None))
        # The latest, because in January people still write last year: /2018/01/05/2017-01-05-x/ is of 2018.
        return max((one for one in named if one is not None), default=None)

    def allowed(self, url: str, run: str) -> AbstractSet[str]:
        """Return the readings that six digits of *url* may have on this site."""
        possible = _possible(run, self.latest_year)
        return possible.keys() & self.readings.get(form_of(url), possible.keys())

    def _six(self, url: str, run: str) -> float | None:
        """Return the day that six digits name; None if they are a month, ambiguous, or no date."""
        allowed = self.allowed(url, run) if form_of(url) in self.readings else set()
        if len(allowed) != 1 or "yyyymm" in allowed:
            return None
        return _possible(run, self.latest_year)[next(iter(allowed))]


def date_in_url(url: str) -> float | None:
    """Return the date that *url* names whatever its site; see :meth:`UrlDates.of`.

    ``/2024/05/17/``, ``2024-05-17``, ``20240517``, ``202405/``. ``/2024/05/17.html`` names the month only.
    """
    return UrlDates().of(url)


def _path(url: str) -> str:
    return url.split("://", 1)[-1]


def _possible(run: str, latest_year: int) -> dict[str, float]:
    """Return the readings of six digits that are dates, each with the end of its day or month."""
    found = {}
    for name, (year_at, month_at, day_at) in _READINGS.items():
        year = int(run[year_at])
        if day_at is not None:
            year += 2000 if year <= latest_year - 2000 else 1900
        end = _end_of(year, int(run[month_at]), int(run[day_at]) if day_at is not None else None)
        if end is not None and _FIRST_YEAR <= year <= latest_year:
            found[name] = end
    return found


def _fits(reading: str, end: float, published_at: float | None) -> bool:
    """Whether a page's own date agrees with a reading, give or take a day."""
    span = 31 * DAY if reading == "yyyymm" else DAY
    return published_at is not None and end - span - DAY <= published_at <= end + DAY


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
