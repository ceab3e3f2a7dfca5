"""Dates as written on the web, to unix seconds."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from email.utils import parsedate_to_datetime
from zoneinfo import ZoneInfo

_HALF_DAY = re.compile(
    r"(?<!\d)(?P<hour>1[0-2]|0?\d)(?P<rest>:[0-5]\d(?::[0-5]\d)?)\s*(?P<half>[ap])\.?m\b\.?",
    re.IGNORECASE,
)
# Only after a time; lower-case words ("Uhr", "h") are no zones.
_ZONE_NAME = re.compile(
    r"(?<=:\d\d)(?<![+-]\d\d:\d\d)(?:[.,]\d+)?\s*"
    r"\(?([A-Z][A-Za-z_]*/[A-Za-z_/+-]+|[A-Z]{2,5})\)?\s*$"
)
# Mail (RFC 822) defines North American names; hand-written feeds use others. CST and EST are American as
# in RFC 822; BST is British as in feeds. Ambiguous names (IST is India, Ireland and Israel) are missing.
_MINUTES = {
    name: minutes
    for minutes, names in {
        -600: "HST",
        -540: "AKST",
        -480: "PST AKDT",
        -420: "MST PDT",
        -360: "CST MDT",
        -300: "EST CDT",
        -240: "AST EDT",
        -210: "NST",
        -180: "ADT BRT ART",
        -150: "NDT",
        0: "UTC GMT UT WET",
        60: "CET MEZ MET WEST BST WAT",
        120: "CEST MESZ MEST EET SAST CAT",
        180: "EEST MSK EAT TRT",
        300: "PKT",
        345: "NPT",
        420: "WIB ICT",
        480: "HKT SGT AWST PHT WITA",
        540: "JST KST WIT",
        570: "ACST",
        600: "AEST",
        630: "ACDT",
        660: "AEDT",
        720: "NZST",
        780: "NZDT",
    }.items()
    for name in names.split()
}


def _in_24_hours(text: str) -> str:
    """Rewrite ``10:20 PM`` as ``22:20``."""

    def rewritten(found: re.Match[str]) -> str:
        hour = int(found["hour"]) % 12 + (12 if found["half"] in "pP" else 0)
        return f"{hour:02}{found['rest']}"

    return _HALF_DAY.sub(rewritten, text) if ":" in text else text


def _without_zone(text: str) -> tuple[str, tzinfo] | None:
    """Take ``CET`` or ``Europe/Brussels`` from the end; None if the name is unknown or ambiguous."""
    found = _ZONE_NAME.search(text)
    # UTC where no zone is given: pages seldom give one, and a wrong guess is no better.
    if found is None:
        return text, UTC
    name = found[1]
    try:
        zone = ZoneInfo(name) if "/" in name else timezone(timedelta(minutes=_MINUTES[name]))
    except (OSError, ValueError, KeyError):
        return None
    return text[: found.start()], zone


# The proposal of the web: earlier dates are default values (0001-01-01, 1970-01-01).
EARLIEST = datetime(1989, 3, 1, tzinfo=UTC).timestamp()
# Later dates are typing errors. Dates in the near future are for callers with a clock to judge.
LATEST = datetime(2100, 1, 1, tzinfo=UTC).timestamp()

_MONTHS_A_YEAR = 12
_MAX_CHARS = 60
# W3C date and time (sitemaps), ISO 8601, and Chinese and Korean forms: 2024年5月6日 10:20, 2024년 5월 6일.
_ISO_LIKE = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)"
    r"(?:[-/.年년]\s?(?P<month>1[0-2]|0?[1-9])(?:[-/.月월]\s?(?P<day>3[01]|[12]\d|0?[1-9])(?!\d)[日일]?)?[月월]?)?"
    r"(?:[T\s]+(?:-\s+)?(?P<hour>2[0-3]|[01]?\d)[:时](?P<minute>[0-5]\d)(?:[:分](?P<second>[0-5]\d))?"
    r"(?:[.,]\d+)?秒?)?"
    r"\s*(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d)?",
    re.IGNORECASE,
)
# "Mon, " before a date of numbers.
_WEEKDAY = re.compile(r"[^\W\d_]{2,12}\.?,?\s+(?=\d{1,4}[-/.]\s?\d)")
_UNIX = re.compile(r"(1\d{9})(?:\d{3})?")
# Basic ISO 8601: 20240506T102000Z.
_COMPACT = re.compile(
    r"(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d)"
    r"(?:T?(?P<hour>2[0-3]|[01]\d):?(?P<minute>[0-5]\d)(?::?(?P<second>[0-5]\d))?)?"
    r"\s*(?P<zone>Z|[+-]\d\d:?\d\d)?",
    re.IGNORECASE,
)
_TIME = (
    r"(?P<hour>2[0-3]|[01]?\d)[:.](?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?:[.,]\d+)?"
    r"\s*(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d)?"
)
# 22.11.2026 starts with the day everywhere; with other separators it is ambiguous.
_NUMERIC = re.compile(
    rf"\s*(\d{{1,2}})([-/.])\s?(\d{{1,2}})\2\s?((?:19|20)\d\d)(?!\d)(?:[T,\s]+(?:-\s+)?{_TIME})?"
)
_TIME_OF_DAY = re.compile(rf"(?<!\d){_TIME}")
# 6 May 2024, 6. Mai 2024, May 6th, 2024, 2024 May 6, 06.05.2024; with slashes day and month are ambiguous.
_NAMED = re.compile(
    r"(?<!\d)(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th|\.|º)?[\s-]+(?:de\s+)?(?P<name>[^\W\d_]{3,11})\.?,?"
    r"[\s-]+(?:de\s+)?(?P<year>(?:19|20)\d\d)"
    r"|(?P<name2>[^\W\d_]{3,11})\.?\s+(?P<day2>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?,?\s+(?P<year2>(?:19|20)\d\d)"
    r"|(?<!\d)(?P<year4>(?:19|20)\d\d),?[\s-]+(?P<name4>[^\W\d_]{3,11})\.?[\s-]+(?P<day4>3[01]|[12]\d|0?[1-9])(?!\d)"
    r"|(?<!\d)(?P<day3>3[01]|[12]\d|0?[1-9])\.\s?(?P<month>1[0-2]|0?[1-9])\.\s?(?P<year3>(?:19|20)\d\d)",
    re.IGNORECASE,
)
_MONTHS = {
    month: number
    for number, months in enumerate(
        (
            "jan ene gen ιαν янв",
            "feb fév fev φεβ фев",
            "mar mär mrz már μαρ μάρ мар",
            "apr abr avr ápr απρ апр",
            "may mai mag mei máj μαι μαϊ μάι мая май",
            "jun giu juin jún ιουν ιούν июн",
            "jul lug juil júl ιουλ ιούλ июл",
            "aug ago aoû aou αυγ αύγ авг",
            "sep set sze σεπ сен",
            "oct okt ott οκτ окт",
            "nov νοε νοέ ноя",
            "dec dez dic déc δεκ дек",
        ),
        1,
    )
    for month in months.split()
}
# The end of an address whose last part is a number and an extension. After a month such a number is as
# likely a serial as a day: Blogger names posts by the Latin characters of their titles, /2021/03/14.html.
LONE_NUMBER = r"\d+\.[A-Za-z]\w{0,5}(?:[?#]|$)"
_NUMBERED = re.compile(rf"/20\d\d[-/]?(?:1[0-2]|0?[1-9])/(?={LONE_NUMBER})")
_URL_DATE = re.compile(
    rf"/(20\d\d)(?:[-/]?(1[0-2]|0[1-9])(?:-|/(?!{LONE_NUMBER}))?(3[01]|[12]\d|0[1-9])(?=[/_.-]|$)"
    r"|/([1-9]|1[0-2])/([1-9]|[12]\d|3[01])(?=/|$))"
)


def parse_date(
    text: str, *, day_first: bool | None = None, needs_day: bool = False
) -> float | None:
    """Return the time that *text* names, unix seconds, or None.

    Defaults: midnight, and UTC. None for an
    unknown or ambiguous zone and outside :data:`EARLIEST` to :data:`LATEST`. *day_first* decides
    ``05-11-2026`` (None = ambiguous); with *needs_day* a mere month or year is None.
    """
    parted = _without_zone(_in_24_hours(text.strip()[:_MAX_CHARS]))
    if parted is None:
        return None
    readable, zone = parted
    moment = _read(readable, day_first=day_first, needs_day=needs_day)
    if zone is not UTC and moment is not None:
        moment = datetime.fromtimestamp(moment, UTC).replace(tzinfo=zone).timestamp()
    return moment if moment is not None and EARLIEST <= moment < LATEST else None


def _read(text: str, *, day_first: bool | None, needs_day: bool) -> float | None:
    if unix := _UNIX.fullmatch(text):
        return float(unix[1])
    weekday = _WEEKDAY.match(text)
    numbers = text[weekday.end() :] if weekday else text
    found = _ISO_LIKE.match(numbers)
    if found and (found["day"] or found.end() == len(numbers)):
        return None if needs_day and not found["day"] else _moment(found)
    compact = _COMPACT.fullmatch(text)
    if compact:
        return _moment(compact)
    numeric = _NUMERIC.match(numbers)
    if numeric:
        return _numeric_moment(numeric, day_first)
    moment = _mail_date(text)
    return _worded(text) if moment is None else moment


def is_day_first(texts: Iterable[str]) -> bool | None:
    """Return the order of day and month in dates like ``22-11-2026`` of one author; None = unknown."""
    found = (_NUMERIC.search(text, 0, _MAX_CHARS) for text in texts)
    pairs = [(int(one[1]), int(one[3])) for one in found if one]
    first = any(one > _MONTHS_A_YEAR for one, _ in pairs)
    second = any(two > _MONTHS_A_YEAR for _, two in pairs)
    # A first number above 12 is a day, a second one makes the first a month; a mix is inconclusive.
    return None if first == second else first


def find_date(text: str) -> float | None:
    """Return the first full date in *text*, or None."""
    for found in _ISO_LIKE.finditer(text):
        if found["day"]:
            return _moment(found)
    for found in _NAMED.finditer(text):
        year, month, day = _named_parts(found)
        if month:
            return _midnight(year, month, day)
    return None


def day_in_url(url: str) -> float | None:
    """Return midnight of the day in a path (``/2024/05/06/``, ``/2024/5/6/``, ``/20240506/``), or None.

    ``/2024/05/6.html`` and ``/2024/05/06.html`` name none.
    """
    found = _URL_DATE.search(url)
    if found is None:
        return None
    return _midnight(int(found[1]), int(found[2] or found[4]), int(found[3] or found[5]))


def is_numbered(url: str) -> bool:
    """Return whether a URL ends in year, month and a number that is no day: ``/2024/05/6.html``."""
    return _NUMBERED.search(url) is not None


def _named_parts(found: re.Match[str]) -> tuple[int, int, int]:
    year = int(found["year"] or found["year2"] or found["year3"] or found["year4"])
    day = int(found["day"] or found["day2"] or found["day3"] or found["day4"])
    name = (found["name"] or found["name2"] or found["name4"] or "").lower()
    month = int(found["month"] or 0) or _MONTHS.get(name[:4]) or _MONTHS.get(name[:3]) or 0
    return year, month, day


def _numeric_moment(found: re.Match[str], day_first: bool | None) -> float | None:
    """Return the time of two numbers and a year; None if day and month are ambiguous."""
    one, two = int(found[1]), int(found[3])
    if found[2] == "." or one == two:
        day_first = True
    elif max(one, two) > _MONTHS_A_YEAR:
        # A number above 12 is the day, whatever the feed's other dates say.
        day_first = one > two
    # Rather unknown than wrong: an unknown date never makes an item old.
    if day_first is None:
        return None
    day, month = (one, two) if day_first else (two, one)
    return _at(_midnight(int(found[4]), month, day), found)


def _worded(text: str) -> float | None:
    """Parse forms that mail never uses: ``Nov 22, 2026``, ``22 de noviembre de 2026 10:20``."""
    for found in _NAMED.finditer(text):
        year, month, day = _named_parts(found)
        if month:
            return _at(_midnight(year, month, day), _TIME_OF_DAY.search(text, found.end()))
    return None


def _at(midnight: float | None, found: re.Match[str] | None) -> float | None:
    if midnight is None or found is None:
        return midnight
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    return midnight + hour * 3600 + minute * 60 + second - _offset_seconds(found["zone"] or "")


def _midnight(year: int, month: int, day: int) -> float | None:
    try:
        return datetime(year, month, day, tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _moment(found: re.Match[str]) -> float | None:
    year, month, day = (int(found[name] or 1) for name in ("year", "month", "day"))
    return _at(_midnight(year, month, day), found)


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
