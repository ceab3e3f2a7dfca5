"""Which URLs belong to a watched site, and which are traps. Pure rules on URLs.

``Scope.rule(url)`` returns the deciding rule, which ``hubwatch check URL`` shows.
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Protocol
from urllib.parse import unquote, urlsplit

from incremental.base.errors import InputError
from incremental.base.texts import Text
from incremental.base.urls import domain_of, host_of, registered_domain, split_fetched
from store.values import SiteRow

# Against endless URL spaces (calendars, loops of relative links, sort orders) that show in the URL alone;
# hubs per template are limited in incremental.decide.hubs.
MAX_DEPTH = 16
MAX_QUERY_PARAMETERS = 12
MAX_SEGMENT_REPEATS = 3
# Memory of one compiled regular expression: 1 MB holds any that a person writes.
_MOST_PATTERN_BYTES = 1 << 20
_NO_PATTERN = "not a regular expression, or one that looks around or back and could take for ever"

# Never a page. Documents (pdf, doc, xls, zip of a tender) may be news, so they are not listed.
_ASSET = re.compile(
    r"\.(?:css|js|mjs|json|map|ico|png|jpe?g|gif|webp|avif|svg|bmp|tiff?|woff2?|ttf|eot|otf|mp[34]|m4[av]"
    r"|webm|ogg|og[av]|wav|flac|avi|mov|wmv|flv|swf|exe|dmg|apk|iso|rpm|deb|jar|wasm|txt|asc|sha\d+)$",
    re.IGNORECASE,
)
# A whole folder or file name, with at most a word before or a date after it: a headline such as
# "school-calendar-changes" is no calendar.
_CALENDAR_NAME = re.compile(
    r"/(?:[a-z]+[_-])?(?:calendar|kalender|calendrier|rili|cal)(?:[_-][\d_-]+)?(?:\.\w+)?(?:/|$)",
    re.IGNORECASE,
)
_EXTENSION = re.compile(r"\.[a-z][a-z0-9]{1,4}$", re.IGNORECASE)
_DATED = re.compile(r"\d{4}[/_-]?\d{1,2}|date=|month=")
_CALENDAR_PARAMETERS = {"year", "month", "day", "date", "week", "cal_date", "tribe-bar-date"}
_ACTION = re.compile(
    r"(?:^|/)(?:logout|logoff|signout|login|signin|register|cart|checkout|wp-login\.php|wp-admin"
    r"|cdn-cgi|print|mailto:|share(?=[^/]*$))(?:[/.?]|$)",
    re.IGNORECASE,
)


class Pattern(Protocol):
    """A compiled pattern."""

    def search(self, text: str, /) -> object | None:
        """Return a match anywhere in *text*, or None."""


class Reach(StrEnum):
    """How far a site reaches from its seed."""

    HOST = "host"
    """The seed's host name, with and without a leading ``www.``."""
    DOMAIN = "domain"
    """Every host of the seed's registered domain."""
    PREFIX = "prefix"
    """The seed's host, and paths below the seed's folder."""
    ANYWHERE = "anywhere"


@dataclass(frozen=True)
class Scope:
    """The scope of one site. Patterns are globs over the whole URL, or ``re:`` and a regular expression.

    Exclude patterns outrank include patterns; if there are include patterns, one must match in addition
    to the reach.
    """

    seed_url: str
    reach: Reach = Reach.HOST
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    open_feeds: tuple[str, ...] = ()
    """Canonical keys of given feeds whose entries count on any host."""
    _compiled: dict[str, Pattern] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @classmethod
    def from_rules(cls, seed_url: str, rules: str) -> Scope:
        """Return the scope from the JSON object in the store."""
        given = json.loads(rules)
        return cls(
            seed_url=given.get("home") or seed_url,
            reach=Reach(given.get("reach", Reach.HOST)),
            include=tuple(given.get("include", ())),
            exclude=tuple(given.get("exclude", ())),
            open_feeds=tuple(given.get("open_feeds", ())),
        )

    def __post_init__(self) -> None:
        for pattern in (*self.include, *self.exclude):
            self._compiled[pattern] = compile_pattern(pattern)

    def holds(self, url: str) -> bool:
        """Return whether *url*, in fetch form, is in scope."""
        return self._decided(url)[0]

    def rule(self, url: str) -> str:
        """Return the rule by which it is or is not, which takes longer to word than to find."""
        _, rule, named = self._decided(url)
        return Text(f"scope.{rule}", **named)

    def _decided(self, url: str) -> tuple[bool, str, dict[str, str]]:
        for pattern in self.exclude:
            if self._compiled[pattern].search(url):
                return False, "exclude", {"pattern": pattern}
        if not self._reaches(url):
            return False, f"outside_{self.reach.value}", {"seed": self.seed_url}
        if not self.include:
            return True, f"of_{self.reach.value}", {"seed": self.seed_url}
        for pattern in self.include:
            if self._compiled[pattern].search(url):
                return True, "include", {"pattern": pattern}
        return False, "no_include", {}

    @property
    def domain(self) -> str:
        """The registered domain that everything inside is on; empty = any."""
        return "" if self.reach is Reach.ANYWHERE else domain_of(self.seed_url)

    def beyond(self, feed: str) -> Scope | None:
        """Return where else entries of a feed (a canonical key) may be; None = nowhere."""
        if feed not in self.open_feeds:
            return None
        return Scope(self.seed_url, Reach.ANYWHERE, self.include, self.exclude)

    @cached_property
    def _seed_host(self) -> str:
        return host_of(self.seed_url).removeprefix("www.")

    @cached_property
    def _seed_starts(self) -> tuple[str, ...]:
        """How most URLs of the seed's host begin."""
        port = urlsplit(self.seed_url).port
        place = self._seed_host if port is None else f"{self._seed_host}:{port}"
        return tuple(
            f"{scheme}://{www}{place}/" for scheme in ("http", "https") for www in ("", "www.")
        )

    @cached_property
    def _seed_folder(self) -> str:
        folder, _, last = urlsplit(self.seed_url).path.rpartition("/")
        # A name with an extension is a file; ``/news`` is a folder without its slash.
        return f"{folder}/" if not last or _EXTENSION.search(last) else f"{folder}/{last}/"

    def _reaches(self, url: str) -> bool:
        if self.reach is Reach.ANYWHERE:
            return True
        if self.reach is Reach.HOST and url.startswith(self._seed_starts):
            return True
        host = host_of(url).removeprefix("www.")
        if self.reach is Reach.DOMAIN:
            return registered_domain(host) == registered_domain(self._seed_host)
        same_host = host == self._seed_host and urlsplit(url).port == urlsplit(self.seed_url).port
        if self.reach is Reach.HOST:
            return same_host
        return same_host and (urlsplit(url).path + "/").startswith(self._seed_folder)


def compile_pattern(pattern: str) -> Pattern:
    """Compile a glob or ``re:`` pattern; both match in time linear in the length of a URL.

    A glob matches the whole URL, scheme included; ``*`` crosses slashes. Regular expressions are RE2's.

    Raises:
        InputError: not a regular expression, or not one for RE2.
    """
    if not pattern.startswith("re:"):
        # fnmatch translates stars so that none is retried once the text after it has matched.
        return re.compile(r"\A" + fnmatch.translate(pattern))
    # Python's take exponential time for some patterns, and the links come from strangers. RE2 has no
    # back-references and no lookaround, which cannot be linear.
    import re2  # noqa: PLC0415 - rarely needed

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MOST_PATTERN_BYTES
    try:
        compiled: Pattern = re2.compile(pattern[3:].encode(), options)
    except (re2.error, UnicodeEncodeError) as error:
        why = error.args[0] if error.args else error
        text = why.decode("utf-8", "replace") if isinstance(why, bytes) else str(why)
        raise InputError("pattern", pattern, f"{_NO_PATTERN}: {text}") from None
    return _OnBytes(compiled)


class _OnBytes:
    """An RE2 pattern that matches text as bytes."""

    # URLs are ASCII, and bytes need no offset table.

    def __init__(self, compiled: Pattern) -> None:
        self._compiled = compiled

    def search(self, text: str) -> object | None:
        """Return a match anywhere in *text*, or None."""
        return self._compiled.search(text.encode("utf-8", "replace"))  # type: ignore[arg-type]  # as it was compiled


def trap(url: str) -> str | None:
    """Return why *url*, in fetch form, looks like a trap or an asset; None = it may be a page."""
    _, path, query = split_fetched(url)
    path = unquote(path) if "%" in path else path
    segments = [segment for segment in path.split("/") if segment]
    if _ASSET.search(path):
        return Text("trap.asset")
    if _ACTION.search(path):
        return Text("trap.action")
    if len(segments) > MAX_DEPTH:
        return Text("trap.deep", most=MAX_DEPTH)
    if len(segments) >= MAX_SEGMENT_REPEATS:
        # Numbers do not count: they page and date lists (``/list/0/0/0/1.html``).
        repeats = max(Counter(s for s in segments if not s.isdigit()).values(), default=0)
        if repeats >= MAX_SEGMENT_REPEATS:
            return Text("trap.repeated", n=repeats)
    if query.count("&") >= MAX_QUERY_PARAMETERS:
        return Text("trap.parameters")
    return Text("trap.calendar") if _is_calendar(path, query) else None


def _is_calendar(path: str, query: str) -> bool:
    if query:
        pairs = (pair.partition("=") for pair in query.split("&"))
        names = {name.lower() for name, _, value in pairs if value}
        if len(names & _CALENDAR_PARAMETERS) >= 2 or "tribe-bar-date" in names:  # noqa: PLR2004 - "two"
            return True
    return bool(_CALENDAR_NAME.search(path) and _DATED.search(f"{path}?{query}"))


_PAGE_NUMBER = re.compile(
    r"(?:/page/|/paged?/|/seite/|/(?:index|list|default|node)_"
    r"|[?&](?:page|paged|pg|pn|pageno|page_no|pageindex|curpage|currentpage)="
    # ``/?p=1234`` is an article of a blog; ``/list.asp?p=3`` is a page of a list.
    r"|(?<=[^/])\?p=)(\d{1,3})(?:\D|$)",
    re.IGNORECASE,
)


def page_number(url: str) -> int | None:
    """Return the page number of a list in a URL (``/news/page/3/``, ``?page=3``), or None."""
    match = _PAGE_NUMBER.search(url)
    return int(match[1]) if match else None


_DIGITS = re.compile(r"\d+")
_HEX = re.compile(r"^[0-9a-f]{12,}$")


@lru_cache(maxsize=2_048)
def template(url: str) -> str:
    """Return the form of a URL: host and folders with numbers, hashes and slugs blanked.

    ``https://a.org/news/2024/05/some-title.html`` -> ``a.org/news/0/0/*.html``.
    """
    parts = urlsplit(url)
    segments = parts.path.split("/")[1:]
    shapes = [_shape(segment) for segment in segments[:-1]]
    last = segments[-1] if segments else ""
    stem, dot, extension = last.rpartition(".")
    if not dot or len(extension) > 5:  # noqa: PLR2004 - ".shtml" is the longest in use
        stem, extension = last, ""
    shapes.append((_leaf(stem) + (f".{extension}" if extension else "")) if last else "")
    names = sorted(pair.partition("=")[0] for pair in parts.query.split("&") if pair)
    return f"{parts.netloc}/{'/'.join(shapes)}{'?' + '&'.join(names) if names else ''}"


def _shape(segment: str) -> str:
    if _HEX.match(segment):
        return "#"
    blanked = _DIGITS.sub("0", segment)
    return "*" if len(blanked) > 24 or blanked.count("-") > 2 else blanked  # noqa: PLR2004 - a slug


def _leaf(stem: str) -> str:
    blanked = _DIGITS.sub("0", stem)
    return "0" if blanked == "0" else "*" if stem else ""


def read_scope(row: SiteRow) -> Scope:
    """Read the JSON column of a site's row."""
    return Scope.from_rules(row.seed_url, row.scope)
