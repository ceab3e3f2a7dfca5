"""Rewrites time zone names and 12-hour times as numbers."""

from __future__ import annotations

import re
from zoneinfo import ZoneInfo

_HALF_DAY = re.compile(
    r"(?<!\d)(?P<hour>1[0-2]|0?\d)(?P<rest>:[0-5]\d(?::[0-5]\d)?)\s*(?P<half>[ap])\.?m\b\.?",
    re.IGNORECASE,
)
# Only after a time; lower-case words ("Uhr", "h") are no zones.
_NAME = re.compile(
    r"(?<=:\d\d)(?P<fraction>[.,]\d+)?\s*\(?(?P<name>[A-Z][A-Za-z]*/[A-Za-z_/+-]+|[A-Z]{2,5})\)?\s*$"
)
_PLACE = re.compile(r"(?<=:\d\d)\s*\(?([A-Z][A-Za-z_]+/[A-Za-z_/+-]+)\)?\s*$")
_UNIVERSAL = frozenset({"UTC", "GMT", "UT", "WET"})
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


def in_24_hours(text: str) -> str:
    """Rewrite ``10:20 PM`` as ``22:20``."""
    return _HALF_DAY.sub(_in_24_hours, text) if ":" in text else text


def _in_24_hours(found: re.Match[str]) -> str:
    hour = int(found["hour"]) % 12 + (12 if found["half"] in "pP" else 0)
    return f"{hour:02}{found['rest']}"


def without_place(text: str) -> tuple[str, ZoneInfo | None]:
    """Take ``Europe/Brussels`` from the end; one that this machine does not know stays there."""
    found = _PLACE.search(text)
    try:
        return (text[: found.start()], ZoneInfo(found[1])) if found else (text, None)
    except (OSError, ValueError, KeyError):
        return text, None


def with_offset(text: str) -> str | None:
    """Replace a zone name after the time by its offset; None if the name is unknown or ambiguous."""
    found = _NAME.search(text)
    if found is None:
        return text
    name = found["name"]
    minutes = 0 if name in _UNIVERSAL else _MINUTES.get(name)
    if minutes is None:
        return None
    hours, rest = divmod(abs(minutes), 60)
    sign = "-" if minutes < 0 else "+"
    return f"{text[: found.start()]}{found['fraction'] or ''} {sign}{hours:02}{rest:02}"
