"""Reading what a server says about its answer: header fields as plain values."""

from __future__ import annotations

import itertools
import re
from contextlib import suppress
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin

from requests.utils import parse_header_links

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# What a larger Retry-After is read as; how much of it is honoured is for politeness to say.
LONGEST_WAIT_SECONDS = 366 * 86_400.0

_SECONDS = re.compile(r"\s*(\d{1,12})(?:\.\d*)?\s*")
_MAX_COOKIES = 20
# RFC 6265, section 4.1.1, but for blanks and commas within the value, which browsers take too.
_COOKIE = re.compile(r"\s*([!#$%&'*+.^_`|~0-9A-Za-z-]{1,256})\s*=([\x20-\x7e]{0,4096})")


def plain_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return header fields by lower-case name, without the cookies: those are secrets."""
    return {name.lower(): value for name, value in headers.items() if name.lower() != "set-cookie"}


def cookies_set(lines: Iterable[str]) -> dict[str, str]:
    """Return the cookies that ``Set-Cookie`` lines set, by name, at most twenty.

    Their attributes are left out: the cookies live for one fetch of one host. Python's own
    ``http.cookiejar`` answers malformed dates with warnings and stack traces.
    """
    found = {}
    for line in itertools.islice(lines, _MAX_COOKIES):
        if pair := _COOKIE.fullmatch(line.partition(";")[0]):
            found[pair[1]] = pair[2].strip()
    return found


def retry_after_seconds(value: str | None, now: float) -> float | None:
    """Return how long ``Retry-After`` asks to wait (RFC 9110, section 10.2.3), None if unreadable.

    *value* is a number of seconds or an HTTP date; a date that has passed means 0.
    """
    if value is None:
        return None
    if seconds := _SECONDS.fullmatch(value):
        return min(float(seconds[1]), LONGEST_WAIT_SECONDS)
    try:
        moment = parsedate_to_datetime(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return min(max(0.0, moment.timestamp() - now), LONGEST_WAIT_SECONDS)
    except (ValueError, OverflowError):
        return None


def link_targets(base_url: str, value: str | None) -> dict[str, str]:
    """Return what a ``Link`` header names, absolute, by relation in lower case; the first of each.

    RFC 8288: a link may have several relations; one with an ``anchor`` is about another page. *value* is
    the header with all its lines, joined by commas; what cannot be read is left out.
    """
    found: dict[str, str] = {}
    for link in parse_header_links(value or ""):
        target = redirect_target(base_url, link.get("url"))
        if target is None or "anchor" in link:
            continue
        for relation in link.get("rel", "").lower().split():
            found.setdefault(relation, target)
    return found


def redirect_target(base_url: str, location: str | None) -> str | None:
    """Return the absolute URL that ``Location`` names, without fragment; None if it names none.

    Header bytes arrive as Latin-1; what is UTF-8 in truth is read as UTF-8. Blanks are escaped, as
    browsers do.
    """
    if location is None or not location.strip():
        return None
    with suppress(UnicodeError):
        location = location.encode("latin-1").decode("utf-8")
    try:
        return urldefrag(urljoin(base_url, location.strip().replace(" ", "%20"))).url
    except ValueError:
        return None
