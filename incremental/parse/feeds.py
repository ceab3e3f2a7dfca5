"""RSS, Atom and RDF feeds, on feedparser; and feeds in JSON."""

import io
import re
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

from incremental.parse.ampersands import escaped
from incremental.parse.dates import is_day_first, parse_date
from incremental.parse.page import Link, Page, PageKind, ParseLimits
from incremental.parse.references import Resolver
from incremental.parse.text import fold, language_code, plain, read_json, storable, string

_MAX_TITLE_CHARS = 500
_MAX_SUMMARY_CHARS = 300


def parse_json_feed(text: str, url: str, *, limits: ParseLimits) -> Page:
    """Parse the items as links; JSON that is not a feed becomes OTHER with a reason."""
    feed = read_json(text)
    if not isinstance(feed, dict) or not isinstance(feed.get("items"), list):
        return Page(url=url, kind=PageKind.OTHER, problem="JSON, but no JSON Feed")
    resolver = Resolver(url, max_chars=limits.max_url_chars)
    items = feed["items"]
    return Page(
        url=url,
        kind=PageKind.FEED,
        title=plain(string(feed, "title"), _MAX_TITLE_CHARS),
        language=language_code(string(feed, "language")),
        links=_links(
            [_entry(item, resolver) for item in items[: limits.max_feed_entries]], resolver
        ),
        next_url=resolver.resolve(string(feed, "next_url")),
        home_url=resolver.resolve(string(feed, "home_page_url")),
        truncated=len(items) > limits.max_feed_entries,
    )


def _entry(item: Any, resolver: Resolver) -> dict[str, Any]:  # noqa: ANN401 - a value of JSON
    """Return an item under the names that feedparser gives to those of other feeds."""
    if not isinstance(item, dict):
        return {}
    addresses = (string(item, key) for key in ("url", "external_url"))
    return {
        "id": string(item, "id"),
        "link": next(filter(resolver.resolve, addresses), ""),
        "title": string(item, "title"),
        "summary": next(filter(None, (string(item, key) for key in _SUMMARIES)), ""),
        "published": string(item, "date_published"),
        "updated": string(item, "date_modified"),
    }


_SUMMARIES = ("summary", "content_text", "content_html")


_DATES = ("published", "updated", "created")
_MAX_TTL_SECONDS = 31 * 86_400.0
_PERIOD_SECONDS = {
    "hourly": 3_600.0,
    "daily": 86_400.0,
    "weekly": 7 * 86_400.0,
    "monthly": 30 * 86_400.0,
    "yearly": 365 * 86_400.0,
}


def parse_feed(text: str, url: str, *, limits: ParseLimits) -> Page:
    """Parse a feed: title as anchor, summary as context, published or updated as date.

    An entry without a link yields its first enclosure.
    """
    cut, truncated = _cut(text, limits)
    parsed = _parsed(_digestible(escaped(cut)), url)
    if parsed is None:
        return Page(
            url=url, kind=PageKind.FEED, truncated=truncated, problem="unreadable as a feed"
        )
    resolver = Resolver(url, max_chars=limits.max_url_chars)
    feed: dict[str, Any] = parsed.feed
    entries: list[dict[str, Any]] = parsed.entries[: limits.max_feed_entries]
    return Page(
        url=url,
        kind=PageKind.FEED,
        title=plain(string(feed, "title"), _MAX_TITLE_CHARS),
        language=language_code(string(feed, "language")),
        links=_links(entries, resolver),
        next_url=_related(feed, resolver, "next") or _related(feed, resolver, "prev-archive"),
        home_url=resolver.resolve(string(feed, "link")),
        ttl_seconds=_ttl_seconds(feed),
        truncated=truncated or len(parsed.entries) > len(entries),
        problem=_problem(parsed) if not entries else "",
    )


def _links(entries: list[dict[str, Any]], resolver: Resolver) -> tuple[Link, ...]:
    links: list[Link] = []
    day_first = is_day_first(string(entry, key) for entry in entries for key in _DATES)
    for entry in entries:
        targets = _targets(entry, resolver)
        if not targets:
            continue
        links.append(
            Link(
                url=targets[0],
                others=targets[1:],
                anchor=plain(string(entry, "title"), _MAX_TITLE_CHARS),
                context=_summary(entry),
                published_at=_date(entry, day_first),
            ),
        )
    return tuple(links)


def _targets(entry: dict[str, Any], resolver: Resolver) -> tuple[str, ...]:
    """Return the URLs of an entry, likeliest first."""
    canonical_key = string(entry, "id")
    permalink = canonical_key if canonical_key.lower().startswith("http") else ""
    # FeedBurner puts a tracking URL into link and the page's into origLink; other services leave the
    # page's URL in the id at best.
    references = [string(entry, "feedburner_origlink"), string(entry, "link"), permalink]
    found = tuple(dict.fromkeys(_resolved(references, resolver)))
    enclosures = [string(link, "href") for link in dict.get(entry, "links") or ()]
    if not string(entry, "link"):
        # An id may name no page; an enclosure at least exists.
        return tuple(dict.fromkeys((*_resolved(enclosures, resolver), *found)))
    return found or tuple(_resolved(enclosures, resolver))[:1]


def _resolved(references: list[str], resolver: Resolver) -> Iterator[str]:
    return filter(None, map(resolver.resolve, filter(None, references)))


def _summary(entry: dict[str, Any]) -> str:
    contents = dict.get(entry, "content") or ()
    texts = (string(entry, "summary"), *(string(content, "value") for content in contents))
    return next(filter(None, (plain(text, _MAX_SUMMARY_CHARS) for text in texts)), "")


def _date(entry: dict[str, Any], day_first: bool | None) -> float | None:
    """Return an entry's publication time, or None if uncertain."""
    for key in _DATES:
        # feedparser's own reading fills what it does not understand from today's date.
        date = parse_date(string(entry, key), day_first=day_first, needs_day=True)
        if date is not None:
            return date
    return None


def _related(feed: dict[str, Any], resolver: Resolver, rel: str) -> str | None:
    links = (link for link in dict.get(feed, "links") or () if string(link, "rel") == rel)
    return next(filter(None, (resolver.resolve(string(link, "href")) for link in links)), None)


def _ttl_seconds(feed: dict[str, Any]) -> float | None:
    """RSS gives minutes; the syndication module gives updates per period."""
    minutes = _number(string(feed, "ttl"))
    if minutes:
        return min(minutes * 60.0, _MAX_TTL_SECONDS)
    period = _PERIOD_SECONDS.get(string(feed, "sy_updateperiod").strip().lower())
    if period is None:
        return None
    return min(period / (_number(string(feed, "sy_updatefrequency")) or 1), _MAX_TTL_SECONDS)


def _number(text: str) -> int | None:
    text = text.strip()
    return int(text) if re.fullmatch(r"[0-9]{1,6}", text) else None


def _problem(parsed: dict[str, Any]) -> str:
    error = dict.get(parsed, "bozo_exception")
    return storable(fold(f"no entries: {error}", 200)) if error else ""


# feedparser within bounds: it has none, and raises although it promises not to.

_TAG_START = re.compile("<")
# Each nested base lengthens the next: a small feed would take minutes.
_BASE = re.compile(r"\bbase\s*=", re.IGNORECASE)
_MAX_BASES = 4_000
# Elements that make feedparser fail when misplaced.
_FRAGILE = re.compile(r"</?(?:textinput|(?:gml|georss|psc):\w+)\b[^<>]*>", re.IGNORECASE)
# A reference to a code point that does not exist makes feedparser raise.
_CHARACTER = re.compile(r"&#([xX][0-9a-fA-F]{4,4000}|[0-9]{5,4000})")
_SURROGATES = (0xD800, 0xDFFF)
_ENTRY_END = re.compile(r"</(?:\w+:)?(?:item|entry)\s*>", re.IGNORECASE)


def _parsed(text: str, url: str) -> Any:  # noqa: ANN401 - feedparser has no types
    """Return feedparser's result; None = unreadable."""
    # Takes 0.1 s to import, and many commands never need it.
    import feedparser  # noqa: PLC0415

    for source in (text, _FRAGILE.sub("", text)):
        try:
            return feedparser.parse(
                io.BytesIO(source.encode("utf-8", "replace")),
                response_headers={
                    "content-type": "application/xml; charset=utf-8",
                    "content-location": url,
                },
                # Summaries lose their markup anyway; both steps cost more than the parsing.
                sanitize_html=False,
                resolve_relative_uris=False,
            )
        # Fuzzing 6.0 found KeyError for misplaced elements; its handlers of dates, numbers and names can
        # raise the others.
        except (LookupError, ValueError, TypeError, AttributeError, AssertionError):
            continue
    return None


def _cut(text: str, limits: ParseLimits) -> tuple[str, bool]:
    """Truncate a long feed after an entry, before feedparser sees it."""
    size = min(len(text), limits.max_feed_bytes)
    last_tag = next(islice(_TAG_START.finditer(text, 0, size), limits.max_feed_tags, None), None)
    size = last_tag.start() if last_tag else size
    found = islice(_ENTRY_END.finditer(text, 0, size), limits.max_feed_entries + 1)
    ends = [end.end() for end in found]
    if len(ends) > limits.max_feed_entries:
        # The newest entries come first.
        return text[: ends[-2]], True
    if size < len(text):
        return text[: ends[-1] if ends else size], True
    return text, False


def _digestible(text: str) -> str:
    """Remove what makes feedparser fail."""
    # A valid feed has none of it.
    text = _CHARACTER.sub(_sound_character, text)
    return _BASE.sub("no-base=", text) if len(_BASE.findall(text)) > _MAX_BASES else text


def _sound_character(reference: re.Match[str]) -> str:
    digits = reference[1]
    number = int(digits[1:] or "0", 16) if digits[0] in "xX" else int(digits)
    is_surrogate = _SURROGATES[0] <= number <= _SURROGATES[1]
    return "\ufffd" if is_surrogate or number > sys.maxunicode else reference[0]
