"""The numbers and names of a title, for comparing it with one in another language. Pure.

::

    1,200   1.200   1200        the same number; so are 1.2 million and 120万
    2026-014                    2026 and 14: leading zeros do not count
    March, 3月, 三月             a month, which is a number too
    第十二届, 12th               ordinals, by their number
    third quarter, Q3, 第三季度  a quarter
    two, 两人                    a number in words: said of few things, so it only ever contradicts
    3D, 5G                      names

One is left out where it is written in words: it stands in too many phrases.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

_READ_CHARS: Final = 2_000
_MOST_DIGITS: Final = 18
_NUMBER: Final = re.compile(r"(?<![\d.,])\d+(?:[.,'\u2019]\d+)*")
_GROUPED: Final = re.compile(r"\d{1,3}(?:[.,'\u2019]\d{3})+")
_SCALES: Final = {
    "trillion": 12,
    "万亿": 12,
    "兆": 12,
    "billion": 9,
    "milliarden": 9,
    "milliard": 9,
    "mrd": 9,
    "bn": 9,
    "млрд": 9,
    "亿": 8,
    "億": 8,
    "억": 8,
    "千万": 7,
    "million": 6,
    "millones": 6,
    "mio": 6,
    "百万": 6,
    "млн": 6,
    "万": 4,
    "萬": 4,
    "만": 4,
    "thousand": 3,
    "tausend": 3,
    "千": 3,
    "천": 3,
}
_SCALE: Final = re.compile(
    rf"[ -]?(?:{'|'.join(sorted(_SCALES, key=len, reverse=True))})", re.IGNORECASE
)
_NAME_WITH_DIGIT: Final = re.compile(r"(?<![A-Za-z\d])\d[DGKdgk](?![A-Za-z\d])")
_LETTERED: Final = re.compile(r"(?<![A-Za-z\d])(?:\d+-?[A-Z]|[A-Z]{1,3}-?\d+)(?![A-Za-z\d])")
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january janvier januar enero",
            "february février februar febrero",
            "march mars märz marzo",
            "april avril abril",
            "may mai mayo",
            "june juin juni junio",
            "july juillet juli julio",
            "august août agosto",
            "september septembre septiembre",
            "october octobre oktober octubre",
            "november novembre noviembre",
            "december décembre dezember diciembre",
        ),
        1,
    )
    for name in names.split()
}
# English words first of all: next to a day they are months.
_AMBIGUOUS: Final = frozenset({"may", "march", "mars", "mai"})
_WORD: Final = re.compile(r"[^\W\d_]+")
_WORDS: Final = {
    name: number
    for number, names in enumerate(
        (
            "two second twice",
            "three third",
            "four fourth",
            "five fifth",
            "six sixth",
            "seven seventh",
            "eight eighth",
            "nine ninth",
            "ten tenth",
            "eleven eleventh",
            "twelve twelfth",
            "thirteen thirteenth",
            "fourteen fourteenth",
            "fifteen fifteenth",
            "sixteen sixteenth",
            "seventeen seventeenth",
            "eighteen eighteenth",
            "nineteen nineteenth",
            "twenty twentieth",
        ),
        2,
    )
    for name in names.split()
}
_TENS: Final = ("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS_OF_TENS: Final = dict(zip(_TENS, range(30, 100, 10), strict=True))
_HAN_DIGITS: Final = {
    char: number
    for number, chars in enumerate(
        ("零〇", "一", "二两兩", "三", "四", "五", "六", "七", "八", "九")
    )
    for char in chars
}
_HAN_UNITS: Final = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "萬": 10_000}
_HAN: Final = "零〇一二两兩三四五六七八九十百千万萬"
_ORDINAL: Final = re.compile(rf"第([{_HAN}]+)")
_HAN_MONTH: Final = re.compile(rf"([{_HAN}]{{1,2}})月")
# Before what is counted: elsewhere such characters are mostly parts of words.
_COUNTERS: Final = (
    "人名个個只隻头家所座台辆架艘件项項条條次场場年天日周月岁歲"
    "米吨噸公里元倍届屆期号號大位份国國省市县"
)
_COUNTED: Final = re.compile(rf"(?<![\d.{_HAN}])([{_HAN}]++)多?(?=[{_COUNTERS}])")
_QUARTER: Final = re.compile(
    r"(?i:\b(first|second|third|fourth)[- ]quarter\b)|\b[Qq]([1-4])\b|第?([一二三四1-4])季度"
)
_QUARTERS: Final = {
    name: number
    for number, names in enumerate(("first 一", "second 二", "third 三", "fourth 四"), 1)
    for name in names.split()
}
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z\d]*(?:[-.][A-Za-z\d]+)*")
# Of one letter: plain initials.
_SHORTEST_NAME: Final = 2
_MOST_INITIALS: Final = 5


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of a text, each as a canonical string."""

    written: frozenset[str] = frozenset()
    """In digits, or as a month, an ordinal or a quarter: what tells one notice of a series from the next."""
    worded: frozenset[str] = frozenset()
    """In words."""

    @property
    def all(self) -> frozenset[str]:
        """Both."""
        return self.written | self.worded


def numbers_of(text: str) -> Numbers:
    """Return the numbers of the first 2,000 characters of *text*."""
    plain = unicodedata.normalize("NFKC", text[:_READ_CHARS])
    named = _NAME_WITH_DIGIT.sub(" ", plain)
    written = {found.replace("-", "").casefold() for found in _LETTERED.findall(named)}
    written |= {_scaled(found[0], named[found.end() :]) for found in _NUMBER.finditer(named)}
    worded = {str(number) for number in map(_in_words, _WORD.findall(named.casefold())) if number}
    for word in _WORD.finditer(named):
        month = _MONTHS.get(word[0].casefold())
        if month and word[0][0].isupper() and _is_month(word[0], named, word.span()):
            written.add(str(month))
    for pattern, into in ((_ORDINAL, written), (_HAN_MONTH, written), (_COUNTED, worded)):
        for found in pattern.findall(named):
            number = _han(found)
            if number > 1:
                into.add(str(number))
    written |= {f"quarter {_quarter(found)}" for found in _QUARTER.findall(named)}
    return Numbers(frozenset(written), frozenset(worded))


def names_of(text: str) -> frozenset[str]:
    """Return the Latin names in a text of another script, in lower case."""
    plain = unicodedata.normalize("NFKC", text[:_READ_CHARS])
    found = (name for name in _NAME.findall(plain) if any(map(str.isupper, name)))
    return frozenset(name.casefold() for name in found if len(name) >= _SHORTEST_NAME)


def is_named(name: str, text: str) -> bool:
    """Whether a text has a name, or words with its initials: ``ai`` stands for artificial intelligence."""
    plain = unicodedata.normalize("NFKC", text[:_READ_CHARS]).casefold()
    if re.search(rf"(?<![a-z\d]){re.escape(name)}(?![a-z])", plain):
        return True
    initials = "".join(word[0] for word in _WORD.findall(plain))
    return len(name) <= _MOST_INITIALS and name.isalpha() and name in initials


def _scaled(number: str, after: str) -> str:
    """Return a number in full: ``1.2`` before `` million`` is 1200000."""
    if len(number) > _MOST_DIGITS:
        return number
    plain = re.sub(r"\D", "", number) if _GROUPED.fullmatch(number) else number.replace(",", ".")
    scale = _SCALE.match(after)
    head, dot, tail = plain.partition(".")
    if dot and "." in tail:
        # A version, or a date: 8.4.2, 18.05.2026.
        return ".".join(part.lstrip("0") or "0" for part in plain.split("."))
    if scale is not None:
        places = _SCALES[scale[0].strip(" -").casefold()]
        return (
            ((head + tail + "0" * places)[: len(head) + max(places, len(tail))]).lstrip("0") or "0"
        )
    tail = tail.rstrip("0")
    return (head.lstrip("0") or "0") + (f".{tail}" if tail else "")


def _in_words(word: str) -> int:
    return _WORDS.get(word, 0) or _WORDS_OF_TENS.get(word, 0)


def _is_month(word: str, text: str, span: tuple[int, int]) -> bool:
    """Whether a word that is also something else is a month: a number stands beside it."""
    if word.casefold() not in _AMBIGUOUS:
        return True
    before, after = text[: span[0]].rstrip(" .")[-4:], text[span[1] :].lstrip(" .,")[:4]
    beside = bool(re.search(r"\d$", before)) or bool(re.match(r"\d", after))
    return beside or bool(re.search(r"(?i)\b(?:for|in|of|since|until)$", text[: span[0]].rstrip()))


def _han(chars: str) -> int:
    """Return the value of Chinese numerals, such as 二十三; digits one after another are read as such."""
    if not any(char in _HAN_UNITS for char in chars):
        return int("".join(str(_HAN_DIGITS[char]) for char in chars)[:_MOST_DIGITS])
    total = part = digit = 0
    for char in chars[:_MOST_DIGITS]:
        unit = _HAN_UNITS.get(char)
        if unit is None:
            digit = _HAN_DIGITS[char]
        elif unit == _HAN_UNITS["万"]:
            total, part, digit = (total + part + digit or 1) * unit, 0, 0
        else:
            part, digit = part + (digit or 1) * unit, 0
    return total + part + digit


def _quarter(found: tuple[str, str, str]) -> int:
    said = "".join(found).casefold()
    return _QUARTERS.get(said, 0) or int(said)
