"""The language of a request: that of its cookie, the setting, or the browser."""

from __future__ import annotations

from incremental.base.texts import LANGUAGES

LANGUAGE_COOKIE = "hubwatch_language"
_MOST_RANGES = 20


def choose(cookie: str, setting: str, accepted: str) -> str:
    """Return the language of the cookie, the setting or the browser, else English."""
    for name in (cookie, setting, *_by_preference(accepted)):
        if name in LANGUAGES:
            return name
    return "en"


def _by_preference(accepted: str) -> list[str]:
    """Return the languages of an Accept-Language header, most preferred first (RFC 9110, 12.5.4)."""
    ranges = []
    for number, part in enumerate(accepted.split(",")[:_MOST_RANGES]):
        tag, _, parameter = part.partition(";")
        weight = _weight(parameter.strip())
        if weight > 0:
            ranges.append((-weight, number, tag.strip().lower().split("-")[0]))
    return [tag for _, _, tag in sorted(ranges)]


def _weight(parameter: str) -> float:
    if not parameter:
        return 1.0
    try:
        return float(parameter.removeprefix("q="))
    except ValueError:
        return 0.0
