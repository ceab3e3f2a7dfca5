"""Small means for text that came from a site."""

from __future__ import annotations

import html
import re
from typing import Any

_SILENT = re.compile(r"<(script|style)\b[^<>]*>[^<]*</\1\s*>", re.IGNORECASE)
# A summary that was cut may end within a tag.
_TAG = re.compile(r"<(?:/?([a-z][a-z0-9]*)|[/!?])[^<>]*(?:>|$)", re.IGNORECASE)
# Tags within a word: <b>W</b>ord, CO<sub>2</sub>, <ruby> and its kin.
_INLINE_NAMES = """
    a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark q rb rp rt rtc ruby s
    samp small span strike strong sub sup time tt u var wbr
"""
_INLINE = frozenset(_INLINE_NAMES.split())
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
# Room for the mark-up around the first few hundred characters that are kept.
_MARKUP_CHARS = 8_000
_LANGUAGE = re.compile(r"\s*([a-z]{2,3})(?![a-z])", re.IGNORECASE)
# Countries that are often written where the language should be.
_MISTAKEN_LANGUAGES = {"cn": "zh", "jp": "ja", "kr": "ko", "tw": "zh", "cz": "cs", "gr": "el"}


def string(node: dict[str, Any], key: str) -> str:
    """Return a string of a mapping that a site sent; empty for what is none.

    dict.get: feedparser's own look-up warns, and guesses one field from another.
    """
    value = dict.get(node, key)
    return value if isinstance(value, str) else ""


def fold(text: str, max_chars: int | None = None) -> str:
    """Return *text* with every run of white space made one space, cut to *max_chars*."""
    return " ".join(text.split())[:max_chars].rstrip()


def storable(text: str) -> str:
    """Return *text* without what no database takes: NUL and lone surrogates, which escapes smuggle in."""
    if text.isascii():
        return text.replace("\0", "")
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")


def plain(markup: str, max_chars: int) -> str:
    """Return what is legible in a fragment of HTML, folded, entities decoded once, cut to *max_chars*."""
    cut = markup[:_MARKUP_CHARS]
    if "<" in cut:
        cut = _TAG.sub(_in_place_of, _SILENT.sub(" ", cut))
    if "&" in cut:
        cut = html.unescape(cut)
    return storable(fold(_CONTROL.sub("", cut), max_chars))


def _in_place_of(tag: re.Match[str]) -> str:
    return "" if (tag[1] or "").lower() in _INLINE else " "


def language_code(tag: str) -> str | None:
    """Return the primary subtag of a BCP 47 language tag in lower case; None for what is none."""
    found = _LANGUAGE.match(tag)
    if found is None:
        return None
    code = found[1].lower()
    return _MISTAKEN_LANGUAGES.get(code, code)
