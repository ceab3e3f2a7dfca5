"""feedparser within bounds: it has none, and raises although it promises not to."""

from __future__ import annotations

import io
import re
import sys
from itertools import islice
from typing import TYPE_CHECKING, Any

from incremental.parse.ampersands import escaped

if TYPE_CHECKING:
    from incremental.parse.limits import ParseLimits

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


def read_feed(text: str, url: str, limits: ParseLimits) -> tuple[Any, bool]:
    """Return feedparser's result (None = unreadable), and whether a limit cut the feed."""
    cut, truncated = _cut(text, limits)
    return _parsed(_digestible(escaped(cut)), url), truncated


def _parsed(text: str, url: str) -> Any:  # noqa: ANN401 - feedparser has no types
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
