"""The words of the full-text index, and searches from what users type.

Scripts without spaces (Chinese, Japanese, Thai, ...; also Korean, for its endings) are cut into
overlapping pairs of characters, the last character of a run alone::

    中国人民 -> 中国 国人 人民 民       so that 国人 is found, 中国人 (as two pairs in a row), and 民

Traditional and simplified characters match (:func:`simplified`). Other scripts are cut into words,
ignoring accents and case.
"""

import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

_HAN = re.compile("[\\u3400-\\u4dbf\\u4e00-\\u9fff]")
# CJK Unified Ideographs Extension A, and the basic block.
_BLOCKS = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF))
# Per page; PostgreSQL numbers positions in a text up to 16,383.
MAX_WORDS = 16_000
MAX_WORD_CHARS = 64
MAX_QUERY_CHARS = 1_000
MAX_PHRASES = 16
_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u1100-\u11ff\uac00-\ud7af"  # Hangul
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # Japanese
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
# What the pattern of all scripts finds in ASCII, in a tenth of the time.
_ASCII_RUN = re.compile(r"\w+", re.ASCII)
_ASKED = re.compile(r'(?P<minus>-?)(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))')


@dataclass(frozen=True, slots=True)
class Phrase:
    """Adjacent words."""

    words: tuple[str, ...]
    prefix: bool = False
    """The last word may continue."""
    excluded: bool = False
    """It must not occur."""


def index_words(text: str) -> list[str]:
    """Return the words of a text in order, at most :data:`MAX_WORDS`."""
    return list(islice(_words(text), MAX_WORDS))


def _words(text: str) -> Iterator[str]:
    # A character yields two words at most, and compatibility forms expand to a few characters.
    for run, unspaced in _runs(text[: 20 * MAX_WORDS]):
        if not unspaced:
            yield run[:MAX_WORD_CHARS]
            continue
        # So every substring is found, however short, and no name is missed that a dictionary would split.
        yield from (run[at : at + 2] for at in range(len(run) - 1))
        yield run[-1]


def read_query(text: str) -> list[Phrase]:
    """Parse a search; nothing is an error, and an empty list finds nothing.

    All words are required; ``"some words"`` in a row, ``-word`` excludes, ``word*`` matches any ending.
    """
    phrases: list[Phrase] = []
    for asked in _ASKED.finditer(text[:MAX_QUERY_CHARS]):
        said = asked["word"] or asked["phrase"] or ""
        prefix = asked["word"] is not None and said.endswith("*")
        phrases += _phrases(said, prefix=prefix, excluded=bool(asked["minus"]))
    return phrases[:MAX_PHRASES]


def read_word(text: str) -> list[Phrase]:
    """Parse one word or phrase of a list: ``some words`` is a phrase, ``word*`` a prefix."""
    plain = text.replace('"', " ").strip().lstrip("-")
    asked = read_query(f'"{plain}"' if " " in plain else plain)
    return [phrase for phrase in asked if not phrase.excluded]


def _phrases(said: str, *, prefix: bool, excluded: bool) -> Iterator[Phrase]:
    """Split where the script changes."""
    # A run of pairs ends with a single character, so no phrase runs across.
    together: list[str] = []
    for run, unspaced in _runs(said):
        if unspaced:
            if together:
                yield Phrase(tuple(together), excluded=excluded)
            together = []
            pairs = tuple(run[at : at + 2] for at in range(len(run) - 1))
            yield Phrase(pairs or (run,), prefix=not pairs, excluded=excluded)
        else:
            together.append(run[:MAX_WORD_CHARS])
    if together:
        yield Phrase(tuple(together), prefix=prefix, excluded=excluded)


def occurrences(text: str, phrases: Sequence[Phrase]) -> Iterator[tuple[int, int]]:
    """Yield where the phrases of a search occur in a text: start and end, in order, without overlap."""
    wanted = "|".join(_as_pattern(phrase) for phrase in phrases if not phrase.excluded)
    if not wanted:
        return
    # Folded character by character, so that positions stay.
    apart = {ord(one): bare for one in set(text) if len(bare := folded(one)) == 1}
    for found in re.finditer(wanted, text.translate(apart)):
        yield found.span()


def _as_pattern(phrase: Phrase) -> str:
    words = phrase.words
    if re.match(f"[{_UNSPACED}]", words[0]):
        return re.escape("".join(word[0] for word in words[:-1]) + words[-1])
    # A letter of a script with spaces; a word may stand next to Chinese.
    letter = rf"[^\W{_UNSPACED}]"
    ending = "" if phrase.prefix else f"(?!{letter})"
    return f"(?<!{letter})" + r"\W+".join(map(re.escape, words)) + ending


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    """Yield runs of letters and digits, with whether the script has no spaces."""
    for line in folded(text).split("\n"):
        if line.isascii():
            yield from ((run, False) for run in _ASCII_RUN.findall(line))
        else:
            yield from ((run[0], run.lastgroup == "unspaced") for run in _pattern().finditer(line))


def folded(text: str) -> str:
    """Return a text without case, accents, compatibility forms and traditional characters."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text)
    bare = re.sub("[\u0300-\u036f]", "", apart)
    return simplified(unicodedata.normalize("NFC", bare).casefold())


@cache
def _pattern() -> re.Pattern[str]:
    # Marks belong to the letters of many scripts but are not word characters to Python.
    marks = re.escape("".join(_marks()))
    return re.compile(f"(?P<unspaced>[{_UNSPACED}]+)|(?:(?![{_UNSPACED}])[\\w{marks}])+")


def _marks() -> Iterator[str]:
    for number in range(0x300, min(sys.maxunicode, 0x1_FFFF)):
        if unicodedata.category(chr(number)) in ("Mn", "Mc"):
            yield chr(number)


def simplified(text: str) -> str:
    """Return *text* with traditional characters replaced by simplified ones, one for one."""
    # By OpenCC's tables (Apache-2.0), single characters only. OpenCC decides some by whole words (乾 stays
    # in 乾坤), but then a word in a query could differ from the same word in a text by the next character.
    return text.translate(_table()) if not text.isascii() and _HAN.search(text) else text


@cache
def _table() -> dict[int, str]:
    """Build the table."""
    # Takes 0.1 s, and only when Chinese is searched or indexed.
    import opencc  # noqa: PLC0415 - takes 30 ms to load

    characters = [chr(number) for first, last in _BLOCKS for number in range(first, last + 1)]
    # One per line, so that no two form a word.
    forms = opencc.OpenCC("t2s").convert("\n".join(characters)).split("\n")
    pairs = zip(characters, forms, strict=True)
    return {ord(one): form for one, form in pairs if one != form and len(form) == 1}
