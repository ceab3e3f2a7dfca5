"""Helpers for text from a site."""

import html
import json
import re
from typing import Any

_SILENT = re.compile(r"<(script|style)\b[^<>]*>[^<]*</\1\s*>", re.IGNORECASE)
# A truncated summary may end within a tag.
_TAG = re.compile(r"<(?:/?([a-z][a-z0-9]*)|[/!?])[^<>]*(?:>|$)", re.IGNORECASE)
# Tags that occur within words: <b>W</b>ord, CO<sub>2</sub>, <ruby> and related ones.
_INLINE_NAMES = """
    a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark q rb rp rt rtc ruby s
    samp small span strike strong sub sup time tt u var wbr
"""
_INLINE = frozenset(_INLINE_NAMES.split())
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
# Leaves room for markup around the few hundred characters that are kept.
_MARKUP_CHARS = 8_000
_LANGUAGE = re.compile(r"\s*([a-z]{2,3})(?![a-z])", re.IGNORECASE)
# Country codes often given as languages.
_MISTAKEN_LANGUAGES = {"cn": "zh", "jp": "ja", "kr": "ko", "tw": "zh", "cz": "cs", "gr": "el"}


def string(node: dict[str, Any], key: str) -> str:
    """Return a string from a mapping that a site sent; empty if it is none."""
    # feedparser's own lookup warns and guesses fields from others.
    value = dict.get(node, key)
    return value if isinstance(value, str) else ""


def fold(text: str, max_chars: int | None = None) -> str:
    """Collapse white space in *text* and cut it to *max_chars*."""
    return " ".join(text.split())[:max_chars].rstrip()


def storable(text: str) -> str:
    """Remove NUL and lone surrogates, which escapes can produce and no database stores."""
    if text.isascii():
        return text.replace("\0", "")
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")


def plain(markup: str, max_chars: int) -> str:
    """Return the text of an HTML fragment, folded, entities decoded once, cut to *max_chars*."""
    cut = markup[:_MARKUP_CHARS]
    if "<" in cut:
        cut = _TAG.sub(_in_place_of, _SILENT.sub(" ", cut))
    if "&" in cut:
        cut = html.unescape(cut)
    return storable(fold(_CONTROL.sub("", cut), max_chars))


def _in_place_of(tag: re.Match[str]) -> str:
    return "" if (tag[1] or "").lower() in _INLINE else " "


def language_code(tag: str) -> str | None:
    """Return the primary subtag of a BCP 47 tag in lower case, or None."""
    found = _LANGUAGE.match(tag)
    if found is None:
        return None
    code = found[1].lower()
    return _MISTAKEN_LANGUAGES.get(code, code)


def read_json(text: str) -> Any:  # noqa: ANN401 - a value of JSON
    """Return the value of a JSON text; None if it is none."""
    cleaned = text.strip().removeprefix("\ufeff").removeprefix("<!--").removesuffix("-->").strip()
    # Guards against inclusion as a script (Angular, Google), and JSONP.
    cleaned = re.sub(r"^\)\]\}',?\s*", "", cleaned)
    wrapped = re.fullmatch(r"[\w$.]{1,80}\((.*)\)\s*;?", cleaned, re.DOTALL)
    try:
        return json.loads(wrapped[1] if wrapped else cleaned, strict=False)
    except (ValueError, RecursionError):
        return None
