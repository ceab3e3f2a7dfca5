"""The language of a text, by its script and, for Latin scripts, its stop words."""

import re
from collections import defaultdict
from functools import lru_cache
from typing import Final
from unicodedata import normalize

# The beginning of a text is enough.
SAMPLE_CHARS: Final = 4_000
# For texts without evidence: numbers, one unknown word.
FALLBACK_LANGUAGE: Final = "en"

# Chinese characters with the compatibility ideographs. As escapes: editors normalise a literal
# compatibility ideograph into another character, and the range from there swallows Hangul.
HAN: Final = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
KANA: Final = r"\u3041-\u3096\u30a1-\u30fa\u30fc"
HANGUL: Final = r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
THAI: Final = r"\u0e00-\u0e7f"
_CLASSES: Final = {
    "han": HAN,
    "kana": KANA,
    "hangul": HANGUL,
    "cyrillic": r"\u0400-\u04ff",
    "greek": r"\u0370-\u03ff",
    "arabic": r"\u0600-\u06ff",
    "hebrew": r"\u0590-\u05ff",
    "thai": THAI,
    "devanagari": r"\u0900-\u097f",
    "latin": r"A-Za-z\u00c0-\u024f",
}
_SCRIPTS: Final = {name: re.compile(f"[{chars}]") for name, chars in _CLASSES.items()}
# The first is the default if the page declares none of them.
_LANGUAGES_OF_SCRIPT: Final = {
    "han": ("zh", "ja", "yue", "wuu"),
    "kana": ("ja",),
    "hangul": ("ko",),
    "cyrillic": ("ru", "uk", "bg", "sr", "be", "mk", "kk", "ky", "mn", "tg"),
    "greek": ("el",),
    "arabic": ("ar", "fa", "ur", "ps", "ug"),
    "hebrew": ("he", "yi"),
    "thai": ("th",),
    "devanagari": ("hi", "mr", "ne"),
}
_LATIN: Final = "en de fr es it pt nl sv da no fi pl cs sk hu ro hr sl tr id vi".split()  # noqa: SIM905 - read at a glance
# A Chinese character or a Korean syllable holds about as much as two or three letters.
_HAN_WEIGHT: Final = 2.5
# Japanese has a far larger share of kana.
_KANA_SHARE: Final = 0.1
_WORD: Final = re.compile(r"[^\W\d_]+")


def language_of(text: str, declared: str | None = None) -> str:
    """Return the primary language subtag of *text*: ``zh``, ``en``, ...

    *declared* counts unless the script contradicts it.
    """
    # Templates of Chinese sites often say ``en``. The script and stop words are enough beside it, without a
    # model: the language only selects word splitting and stop words.
    # Letters and accents may come apart, in which no stop word is recognised.
    sample = normalize("NFC", text[:SAMPLE_CHARS])
    declared = declared.lower().partition("-")[0] if declared else None
    script = _script_of(sample)
    if script is None:
        return declared or FALLBACK_LANGUAGE
    if script == "latin":
        foreign = declared is None or any(
            declared in codes for codes in _LANGUAGES_OF_SCRIPT.values()
        )
        return _latin_language(sample) if foreign else declared or FALLBACK_LANGUAGE
    codes = _LANGUAGES_OF_SCRIPT[script]
    return declared if declared in codes and (script, declared) != ("han", "ja") else codes[0]


def stop_words(language: str) -> frozenset[str]:
    """Return a language's stop words in lower case; empty if there is no list."""
    return _stop_words(language.lower().partition("-")[0])


@lru_cache(maxsize=64)
def _stop_words(language: str) -> frozenset[str]:
    import stopwordsiso  # noqa: PLC0415 - reads its file of all languages

    known = stopwordsiso.has_lang(language)
    return frozenset(stopwordsiso.stopwords(language)) if known else frozenset()


def _script_of(sample: str) -> str | None:
    """Return the main script of the text; Chinese characters among kana count as kana."""
    if sample.isascii():
        return "latin" if _SCRIPTS["latin"].search(sample) else None
    counts = {name: float(len(form.findall(sample))) for name, form in _SCRIPTS.items()}
    if counts["kana"] > _KANA_SHARE * (counts["han"] + counts["kana"]):
        counts["kana"] += counts["han"]
        counts["han"] = 0.0
    for dense in ("han", "kana", "hangul"):
        counts[dense] *= _HAN_WEIGHT
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else None


def _latin_language(sample: str) -> str:
    """Vote by stop words; a word of many languages counts less."""
    votes: defaultdict[str, float] = defaultdict(float)
    for word in _WORD.findall(sample.lower()):
        languages = _languages_with(word)
        for language in languages:
            votes[language] += 1 / len(languages)
    if not votes:
        return FALLBACK_LANGUAGE
    return max(votes, key=lambda language: (votes[language], -_LATIN.index(language)))


@lru_cache(maxsize=20_000)
def _languages_with(word: str) -> tuple[str, ...]:
    return tuple(language for language in _LATIN if word in _stop_words(language))
