"""Response headers as plain values."""

import itertools
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC
from email.utils import parsedate_to_datetime
from urllib.parse import urldefrag, urljoin

# Larger Retry-After values are read as this; politeness decides how much of it to honour.
LONGEST_WAIT_SECONDS = 366 * 86_400.0

_SECONDS = re.compile(r"\s*(\d{1,12})(?:\.\d*)?\s*")
_MAX_COOKIES = 20
# RFC 6265, section 4.1.1, plus blanks and commas in the value, which browsers accept.
_COOKIE = re.compile(r"\s*([!#$%&'*+.^_`|~0-9A-Za-z-]{1,256})\s*=([\x20-\x7e]{0,4096})")
# In Cache-Control; not ``s-maxage``, which is for shared caches.
_FRESH_FOR = re.compile(r'(?:^|[,\s])max-age\s*=\s*"?(\d{1,12})(?!\d)', re.IGNORECASE)
_NOT_KEPT = re.compile(r"(?:^|[,\s])no-(?:cache|store)(?![\w-])", re.IGNORECASE)


def plain_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return headers by lower-case name, without cookies, which are secrets."""
    return {name.lower(): value for name, value in headers.items() if name.lower() != "set-cookie"}


def cookies_set(lines: Iterable[str]) -> dict[str, str]:
    """Return the cookies of ``Set-Cookie`` lines by name, at most twenty."""
    found = {}
    for line in itertools.islice(lines, _MAX_COOKIES):
        # Attributes are ignored, as cookies live for one fetch of one host. Not http.cookiejar, which
        # answers malformed dates with warnings and stack traces.
        if pair := _COOKIE.fullmatch(line.partition(";")[0]):
            found[pair[1]] = pair[2].strip()
    return found


def retry_after_seconds(value: str | None, now: float) -> float | None:
    """Return the wait that ``Retry-After`` asks for (RFC 9110, section 10.2.3), or None if unreadable.

    *value* is a number of seconds or an HTTP date; past dates mean 0.
    """
    if value is None:
        return None
    if seconds := _SECONDS.fullmatch(value):
        return min(float(seconds[1]), LONGEST_WAIT_SECONDS)
    try:
        return min(max(0.0, _http_date(value) - now), LONGEST_WAIT_SECONDS)
    except (ValueError, OverflowError):
        return None


def cache_seconds(headers: Mapping[str, str]) -> float:
    """Return how long a body may be used again, at most a day; an hour if it does not say, 0 = it may not."""
    if "cache-control" not in headers and "expires" not in headers:
        return 3_600.0
    return min(fresh_seconds(headers), 86_400.0)


def redirect_target(base_url: str, location: str | None) -> str | None:
    """Return the absolute URL in ``Location``, without fragment, or None."""
    if location is None or not location.strip():
        return None
    # Header bytes arrive as Latin-1.
    with suppress(UnicodeError):
        location = location.encode("latin-1").decode("utf-8")
    try:
        # Blanks are escaped, as in browsers.
        return urldefrag(urljoin(base_url, location.strip().replace(" ", "%20"))).url
    except ValueError:
        return None


def fresh_seconds(headers: Mapping[str, str]) -> float:
    """Return how long an answer stays fresh by what it says itself; 0 if it does not say.

    ``max-age`` of Cache-Control, or else Expires less Date, less the Age that it has already (RFC 9111,
    sections 4.2.1 and 4.2.3). Names are in lower case.
    """
    control = headers.get("cache-control", "")
    if _NOT_KEPT.search(control):
        return 0.0
    if said := _FRESH_FOR.search(control):
        lifetime = float(said[1])
    else:
        try:
            lifetime = _http_date(headers.get("expires", "")) - _http_date(headers.get("date", ""))
        except (ValueError, OverflowError):
            return 0.0
    age = _SECONDS.fullmatch(headers.get("age", ""))
    return min(max(0.0, lifetime - (float(age[1]) if age else 0.0)), LONGEST_WAIT_SECONDS)


def _http_date(value: str) -> float:
    """Return unix seconds; ValueError or OverflowError if *value* is no date."""
    moment = parsedate_to_datetime(value)
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
