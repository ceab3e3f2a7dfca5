"""URLs for people: names and words in their own script, unless that misleads.

A copied URL still leads to the same page: reserved characters keep their escapes (``C%23`` is not
``C#``), and a URL that would change is shown as it is.
"""

import re
import unicodedata
from functools import lru_cache
from urllib.parse import quote, urlsplit

from incremental.base.urls import host_of, normalize

_ESCAPED_WORDS = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")
# Scripts, by Unicode names, that one label may mix (UTS 39, "highly restrictive").
_TOGETHER = (
    frozenset({"LATIN"}),
    frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"}),
    frozenset({"LATIN", "CJK", "HANGUL"}),
    frozenset({"LATIN", "CJK", "BOPOMOFO"}),
)
# Cyrillic, Greek and Armenian letters that look Latin in most fonts.
_LOOK_ALIKES = frozenset("асԁеһіјӏорԛѕԝхуҽпгѵѡкмтвндьъαιοορυνκχγτωօոսցհգզյ")


def readable(url: str) -> str:
    """Return *url* with IDN and UTF-8 escapes decoded where that is safe.

    Control and direction characters stay escaped, and hosts that mix scripts or consist of look-alikes
    (``аррӏе.com``) stay in punycode: both are used to deceive.
    """
    parts = urlsplit(url)
    if "%" not in url and "xn--" not in parts.netloc:
        return url
    rest = url.split(parts.netloc, 1)[1] if parts.netloc else url
    host = ".".join(map(_readable_label, parts.netloc.split(".")))
    shown = f"{parts.scheme}://{host}{_ESCAPED_WORDS.sub(_readable_words, rest)}"
    return shown if normalize(shown) == normalize(url) else url


def site_name(url: str) -> str:
    """Return how the host of a URL is called as a site: without ``www.``, as readable as is safe."""
    host = host_of(url).removeprefix("www.")
    name = ".".join(map(_readable_label, host.split(".")))
    return name if host in (name, host_of(normalize(f"https://{name}/") or "")) else host


def _readable_words(escaped: re.Match[str]) -> str:
    try:
        text = bytes.fromhex(escaped[0].replace("%", "")).decode("utf-8")
    except UnicodeDecodeError:
        return escaped[0]
    # Enclosing marks change the character before them, which may be a slash.
    marks = {c for c in text if unicodedata.category(c) == "Me"}
    return "".join(c if c.isprintable() and c not in marks else quote(c) for c in text)


@lru_cache(maxsize=4_096)
def _readable_label(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    try:
        text = label[4:].encode("ascii").decode("punycode")
    except UnicodeError:
        return label
    return text if text.isprintable() and not _deceives(text) else label


def _deceives(label: str) -> bool:
    letters = [c for c in label if c.isalpha() and not c.isascii()]
    scripts = {unicodedata.name(c, "?").split()[0] for c in label if c.isalpha()}
    if any(scripts <= together for together in _TOGETHER):
        return False
    return len(scripts) > 1 or set(letters) <= _LOOK_ALIKES
