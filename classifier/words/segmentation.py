"""Splitting a text into terms: Chinese by jieba, the rest by word boundaries, stemmed.

::

    text -> runs of Chinese characters        -> jieba's words            (Japanese, Thai: bigrams)
            Korean words                      -> bigrams, for their endings
            other words, in lower case        -> Snowball stem of the text's language
         -> without stop words, numbers and overlong words

Time is proportional to a text's length, whatever it holds.
"""

import logging
import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from typing import Any, Final

from classifier.words.language import HAN, HANGUL, KANA, THAI, stop_words

# Characters of a text; the topic is clear long before.
MAX_CHARS: Final = 100_000
# Longer runs of letters are encoded data, not words.
MAX_TERM_CHARS: Final = 40
# Of ``add_words``, per process.
MAX_USER_WORDS: Final = 10_000
# jieba's time for one run is quadratic if it holds no known word.
_MAX_HAN_RUN: Final = 400

_UNSPACED: Final = HAN + KANA + THAI
_HAN: Final = re.compile(f"[{HAN}]")
_IS_UNSPACED: Final = re.compile(f"[{_UNSPACED}]")
_IS_HANGUL: Final = re.compile(f"[{HANGUL}]")
# By script, so that mixed Chinese and English texts keep their words whole. A word may end in + or #: c++,
# c#.
_RUN: Final = re.compile(
    rf"[{_UNSPACED}]+|[{HANGUL}]+"
    rf"|(?:(?![{_UNSPACED}{HANGUL}])[^\W_])+(?:['’][^\W\d_]+)?[+#]{{0,2}}"
)
_STEMMER_NAMES: Final = """
    ar arabic, ca catalan, da danish, de german, el greek, en english, es spanish, eu basque,
    fi finnish, fr french, ga irish, hi hindi, hu hungarian, hy armenian, id indonesian,
    it italian, lt lithuanian, ne nepali, nl dutch, no norwegian, nb norwegian,
    pt portuguese, ro romanian, ru russian, sr serbian, sv swedish, ta tamil, tr turkish
"""
_STEMMERS: Final = dict(pair.split() for pair in _STEMMER_NAMES.split(","))
# Latin words within a text of these languages are mostly English names.
_SECOND_LANGUAGE: Final = "en"
_UNSPACED_LANGUAGES: Final = frozenset({"zh", "yue", "wuu", "ja", "th", "ko"})


def tokens(text: str, language: str) -> list[str]:
    """Return the terms of *text* in order, without stop words; reads MAX_CHARS."""
    return [term for term, _ in _terms(text, language)]


def written_words(text: str, language: str) -> list[tuple[str, str]]:
    """Return (stem, word as written) of the words of spaced scripts."""
    return list(_terms(text, language, unspaced=False))


def add_words(words: Iterable[str]) -> None:
    """Add words that jieba must not split, for the whole process.

    Texts split before keep their terms. Words without a Chinese character are ignored.
    """
    known = _USER_WORDS
    for word in words:
        whole = word.strip()
        fits = 1 < len(whole) <= MAX_TERM_CHARS and len(known) < MAX_USER_WORDS
        if fits and whole not in known and _HAN.search(whole):
            known.add(whole)
            tokenizer = _tokenizer()
            with _LOCK:
                tokenizer.add_word(whole)


def _terms(text: str, tag: str, *, unspaced: bool = True) -> Iterator[tuple[str, str]]:
    """Yield (term, the word it stands for)."""
    language = tag.lower().partition("-")[0]
    latin_language = _SECOND_LANGUAGE if language in _UNSPACED_LANGUAGES else language
    stops = stop_words(language) | stop_words(latin_language)
    han_stops = stops if language == "zh" else stop_words("zh")
    korean_stops = stops if language == "ko" else stop_words("ko")
    cut = _bigrams if language in {"ja", "th"} else _chinese_words
    # NFC: a decomposed syllable is the same word, and so is a compatibility ideograph.
    for run in _RUN.findall(unicodedata.normalize("NFC", text[:MAX_CHARS]).lower()):
        if _IS_UNSPACED.match(run):
            if unspaced:
                yield from ((word, word) for word in cut(run) if word not in han_stops)
        elif _IS_HANGUL.match(run):
            if unspaced and run not in korean_stops:
                yield from ((pair, pair) for pair in _bigrams(run))
        elif len(run) <= MAX_TERM_CHARS and not run.isdecimal():
            word = run.replace("’", "'")
            if word not in stops and len(word) > 1:
                yield _stem(word, latin_language), word


def _chinese_words(run: str) -> Iterator[str]:
    tokenizer = _tokenizer()
    for start in range(0, len(run), _MAX_HAN_RUN):
        yield from tokenizer.cut(run[start : start + _MAX_HAN_RUN])


def _bigrams(run: str) -> Iterator[str]:
    """Yield overlapping pairs of characters, as search engines do without a dictionary."""
    if len(run) == 1:
        yield run
    for start in range(len(run) - 1):
        yield run[start : start + 2]


@lru_cache(maxsize=20_000)
def _stem(word: str, language: str) -> str:
    bare = word.removesuffix("'s").replace("'", "")
    stem = _stemmer(language)
    return stem(bare) if stem else bare


@lru_cache(maxsize=8)
def _stemmer(language: str) -> Callable[[str], str] | None:
    if language not in _STEMMERS:
        return None
    import snowballstemmer  # noqa: PLC0415 - two dozen modules

    stemmer = snowballstemmer.stemmer(_STEMMERS[language])
    # A stemmer keeps its word in itself, so threads must not share it.
    lock = threading.Lock()

    def stem(word: str) -> str:
        with lock:
            return str(stemmer.stemWord(word))

    return stem


_LOCK: Final = threading.Lock()
_USER_WORDS: Final[set[str]] = set()


def _tokenizer() -> Any:  # noqa: ANN401 - jieba ships no types
    """Return the process's tokenizer; the first call takes about a second."""
    with _LOCK:
        return _loaded_tokenizer()


@cache
def _loaded_tokenizer() -> Any:  # noqa: ANN401 - jieba ships no types
    import jieba  # noqa: PLC0415 - heavy

    jieba.setLogLevel(logging.WARNING)
    tokenizer = jieba.Tokenizer()
    # Not initialize(), which trusts a marshal file of a known name in the shared temporary folder.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer
