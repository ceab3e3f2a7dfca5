"""Dense features of a URL and its anchor: sizes, dates, forms of names, words.

Rows are in the order of :data:`FEATURE_NAMES`; counts and lengths are ``ln(1 + n)``. They extend paper
003's ten features (section 2) to sites of any language.
"""

import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from math import log1p
from typing import Final

import numpy as np
from numpy.typing import NDArray

from classifier.hub.evidence import ANCHOR_LIMIT, URL_LIMIT, LinkEvidence, UrlParts

# By class.
_CLASS_WORDS: Final = tomllib.loads(
    (files("classifier.hub") / "data" / "url_words.toml").read_text(encoding="utf-8")
)
WORD_CLASSES: Final = tuple(_CLASS_WORDS)

# Word -> bit mask over ``WORD_CLASSES``, lowest bit first.
WORD_MASK: Final[dict[str, int]] = {}
for _bit, _name in enumerate(WORD_CLASSES):
    for _word in _CLASS_WORDS[_name].split():
        WORD_MASK[_word] = WORD_MASK.get(_word, 0) | 1 << _bit

# The bits of every mask as 0.0 and 1.0: the hot loop only looks them up.
MASK_FLAGS: Final = tuple(
    tuple(float(mask >> bit & 1) for bit in range(len(WORD_CLASSES)))
    for mask in range(1 << len(WORD_CLASSES))
)

# Anchor texts that name a section.
SECTION_ANCHOR: Final = re.compile(
    "新闻|公告|动态|资讯|栏目|列表|更多|首页|专题|频道|中心|要闻|信息公开|招聘|公示|活动|讲座|政策"
    "|法规|标签|分类|归档|排行|最新|博客|论坛|news|blog|archive|category|tag|latest|more|index",
    re.IGNORECASE,
)
# Anchor texts that are a headline.
ARTICLE_ANCHOR: Final = re.compile(
    r"关于|的通知|的公告|的意见|办法|印发|[0-9]{4}年|[0-9][月日]|[《》：！？，。…?!“:]"
)

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[a-z]+")


def words_of(text: str) -> list[str]:
    """Return the ASCII words of a URL part, in lower case; ``newsDetail`` is two."""
    if text.islower():
        return _WORD.findall(text)
    return _WORD.findall(_CAMEL.sub("-", text).lower())


def mask_of(text: str) -> int:
    """Return the classes of all words of the text, as a bit mask."""
    mask = 0
    for word in words_of(text):
        mask |= WORD_MASK.get(word, 0)
    return mask


_SIZE = (
    "url_length path_length segments directories is_root trailing_slash extension_any"
    " extension_static extension_dynamic extension_document"
)
_QUERY = (
    "query_length parameters query_digit_run query_letter_run query_value_length query_mixing"
    " query_id query_section query_article_id fragment"
)
_DATE = "date_precision characters_after_date year month_day release_stamp paging digit_run digits"
_STEM = (
    "stem_length stem_words stem_word_longest stem_word_mean stem_digits stem_digit_run"
    " stem_letter_run stem_digit_share stem_upper_share stem_vowel_share stem_cjk_share"
    " stem_mixing stem_hyphens stem_underscores stem_variety stem_number_words hexadecimal"
)
_ABOVE = "parent_length parent_digit_run parent_digits number_segments"
_HOST = "host_labels host_www host_length host_digits"
_ANCHOR = (
    "anchor_known anchor_length anchor_cjk anchor_spaces anchor_punctuation anchor_digit_run"
    " anchor_is_number anchor_section_words anchor_headline_marks"
)
_WORDS = " ".join(
    [f"stem_{name}" for name in WORD_CLASSES]
    + [f"stem_share_{name}" for name in WORD_CLASSES]
    + [f"{place}_{name}" for place in ("parent", "above", "query", "host") for name in WORD_CLASSES]
    + ["stem_ascii_words", "stem_ascii_longest", "stem_plural"]
)
FEATURE_NAMES: Final = tuple(
    f"{_SIZE} {_QUERY} {_DATE} {_STEM} {_ABOVE} {_HOST} {_ANCHOR} {_WORDS}".split()
)

_STATIC = frozenset(["html", "htm", "shtml", "jhtml", "xhtml", "stm"])
_DYNAMIC = frozenset(["asp", "aspx", "jsp", "jspx", "php", "do", "action", "cgi"])
_DOCUMENT = frozenset(["pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "zip", "jpg", "png"])

_DIGITS = re.compile(r"[0-9]+")
_LETTERS = re.compile(r"[a-zA-Z]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# Codes for names (``/s/cQtwIseyBjrrMSNwQ607Gg``) are lists on about as many labelled domains as they are
# articles. Hiding them from the tables, or counting their characters, moved no rows of such platforms
# (docs/how-hubs-are-found.md, "Paper-like rows").
_HEXADECIMAL = re.compile(r"[0-9a-f]{12,}|[0-9A-F]{12,}")
_NAME_BREAK = re.compile(r"[-_+.,\s]+")
_PUNCTUATION = re.compile(r"[，。、：；！？“”《》（）,.:;!?\"()\[\]【】|]")
# Where the kind of character changes inside a name: ``IpWqlENhX`` has 3.
_MIXING = re.compile(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[0-9])|(?<=[0-9])(?=[a-zA-Z])")
_VALUE = re.compile(r"=([^&]*)")
_ID_PARAMETER = re.compile(r"(?:^|[&_.])[a-z]*id=|(?:^|&)p=", re.IGNORECASE)
_SECTION_PARAMETER = re.compile(
    r"(?<![a-z])(?=[a-z]++=)"
    r"[a-z]*?(?:cat|class|type|column|colid|list|channel|page|tag|lm|menu|tree|sort|node)",
    re.IGNORECASE,
)
# A parameter that numbers articles (``newsid=932``), not sections (``classid=3``).
_ARTICLE_PARAMETER = re.compile(
    r"(?:^|[&_.])(?:news|art|article|info|content|doc|item|story|post|entry|notice|detail|view|show"
    r"|thread|[anpt])_?(?:id|key)=",
    re.IGNORECASE,
)
_PAGING = re.compile(
    r"(?:page|paged|pn|p|seite|index|list)[/=_-]?[0-9]{1,4}(?:/|\.|$)", re.IGNORECASE
)
_DAY = re.compile(
    r"(?<![0-9])(?:19|20)[0-9]{2}"
    r"(?:[-/_.年](?:0?[1-9]|1[0-2])[-/_.月](?:0?[1-9]|[12][0-9]|3[01])"
    r"|[-/_.]?(?:0[1-9]|1[0-2])[-/_.]?(?:0[1-9]|[12][0-9]|3[01]))(?![0-9])"
)
_MONTH = re.compile(r"(?<![0-9])(?:19|20)[0-9]{2}[-/_.]?(?:0[1-9]|1[0-2])(?![0-9])")
_YEAR = re.compile(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])")
_MONTH_DAY = re.compile(r"/(?:0[1-9]|1[0-2])[-/]?(?:0[1-9]|[12][0-9]|3[01])(?=/)")
# ``t20200223_64595``: the content system of Chinese government sites.
_RELEASE_STAMP = re.compile(r"[/_-]t(?:19|20)[0-9]{6}_")

_YEAR_DIGITS = 4
_STAMP_DIGITS = 8

_LOG = [log1p(count) for count in range(URL_LIMIT + 1)]


def describe(links: Sequence[LinkEvidence], parts: Sequence[UrlParts]) -> NDArray[np.float64]:
    """Return one row of features per link; ``parts`` are the split URLs."""
    rows = [_row(link, part) for link, part in zip(links, parts, strict=True)]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(FEATURE_NAMES))


def _row(link: LinkEvidence, parts: UrlParts) -> list[float]:
    anchor = link.anchor or ""
    row = _size(len(link.url), parts)
    row += _query(parts.query, parts.fragment)
    row += _dates(parts.path)
    row += _stem(parts.stem, parts.path)
    row += _above(parts.segments)
    row += _host(parts.host)[0]
    row += _anchor(anchor[:ANCHOR_LIMIT]) if anchor else _NO_ANCHOR
    row += _words(parts)
    return row


def _log(count: int) -> float:
    return _LOG[count] if count <= URL_LIMIT else _LOG[URL_LIMIT]


def _longest(pattern: re.Pattern[str], text: str) -> int:
    return max(map(len, pattern.findall(text)), default=0)


def _size(url_length: int, parts: UrlParts) -> list[float]:
    trailing = parts.path.endswith("/")
    count = len(parts.segments)
    extension = parts.extension
    return [
        _log(url_length),
        _log(len(parts.path)),
        float(count),
        float(count if trailing or not count else count - 1),
        float(parts.is_root),
        float(trailing),
        float(extension != ""),
        float(extension in _STATIC),
        float(extension in _DYNAMIC),
        float(extension in _DOCUMENT),
    ]


_NO_QUERY = [0.0] * (len(_QUERY.split()) - 1)


def _query(query: str, fragment: str) -> list[float]:
    if not query:
        return [*_NO_QUERY, float(fragment != "")]
    return [
        _log(len(query)),
        float(min(query.count("="), 20)),
        _log(_longest(_DIGITS, query)),
        _log(_longest(_LETTERS, query)),
        _log(_longest(_VALUE, query)),
        _log(len(_MIXING.findall(query))),
        float(_ID_PARAMETER.search(query) is not None),
        float(_SECTION_PARAMETER.search(query) is not None),
        float(_ARTICLE_PARAMETER.search(query) is not None),
        float(fragment != ""),
    ]


_NO_DIGITS = [0.0] * len(_DATE.split())


def _dates(path: str) -> list[float]:
    runs = _DIGITS.findall(path)
    if not runs:
        return _NO_DIGITS
    lengths = [len(run) for run in runs]
    longest = max(lengths)
    digits = sum(lengths)
    year = longest >= _YEAR_DIGITS
    found = (_DAY.search(path) or _MONTH.search(path)) if year and digits > _YEAR_DIGITS else None
    return [
        (2.0 if found.re is _DAY else 1.0) if found else 0.0,
        _log(len(path) - found.end()) if found else 0.0,
        float(year and _YEAR.search(path) is not None),
        float(_MONTH_DAY.search(path) is not None),
        float(longest >= _STAMP_DIGITS and _RELEASE_STAMP.search(path) is not None),
        float(_PAGING.search(path) is not None),
        _log(longest),
        _log(digits),
    ]


_NO_STEM = [0.0] * len(_STEM.split())
_UPPER = re.compile("[A-Z]")


def _stem(stem: str, path: str) -> list[float]:
    if not stem:
        return _NO_STEM
    size = len(stem)
    words = [stem] if stem.isalnum() else [word for word in _NAME_BREAK.split(stem) if word]
    runs = _DIGITS.findall(stem)
    digits = sum(map(len, runs)) if runs else 0
    longest = max(map(len, words), default=0)
    lower = stem.islower()
    return [
        _log(size),
        _log(len(words)),
        _log(longest),
        log1p(sum(map(len, words)) / len(words)) if words else 0.0,
        _log(digits),
        _log(max(map(len, runs), default=0)),
        _log(_longest(_LETTERS, stem)),
        digits / size,
        0.0 if lower else len(_UPPER.findall(stem)) / size,
        sum(map(stem.count, "aeiouAEIOU")) / size,
        0.0 if stem.isascii() else len(_CJK.findall(stem)) / size,
        _log(len(_MIXING.findall(stem))) if digits or not lower else 0.0,
        _log(stem.count("-")),
        _log(stem.count("_")),
        len(set(stem)) / size,
        _log(sum(map(str.isdigit, words))) if digits else 0.0,
        float(_HEXADECIMAL.search(path) is not None),
    ]


def _above(segments: tuple[str, ...]) -> list[float]:
    numbers = _log(sum(map(str.isdigit, segments)))
    if len(segments) < 2:  # noqa: PLR2004 - nothing above
        return [0.0, 0.0, 0.0, numbers]
    runs = _DIGITS.findall(segments[-2])
    if not runs:
        return [_log(len(segments[-2])), 0.0, 0.0, numbers]
    return [
        _log(len(segments[-2])),
        _log(max(map(len, runs))),
        _log(sum(map(len, runs))),
        numbers,
    ]


@lru_cache(maxsize=4_096)
def _host(host: str) -> tuple[list[float], int]:
    """Return a host's features, and the mask of its words without the top-level domain."""
    row = [
        float(host.count(".")),
        float(host.startswith("www.")),
        _log(len(host)),
        _log(len(_DIGITS.findall(host))),
    ]
    return row, mask_of(host.rpartition(".")[0])


# Unknown differs from empty: the first feature, anchor_known, distinguishes them.
_NO_ANCHOR = [0.0] * len(_ANCHOR.split())


def _anchor(anchor: str) -> list[float]:
    return [
        1.0,
        _log(len(anchor)),
        0.0 if anchor.isascii() else _log(len(_CJK.findall(anchor))),
        _log(anchor.count(" ")),
        _log(len(_PUNCTUATION.findall(anchor))),
        _log(_longest(_DIGITS, anchor)),
        float(anchor.isdigit()),
        _log(len(SECTION_ANCHOR.findall(anchor))),
        _log(len(ARTICLE_ANCHOR.findall(anchor))),
    ]


def _words(parts: UrlParts) -> list[float]:
    words = words_of(parts.stem) if parts.stem else []
    counts = [0.0] * len(WORD_CLASSES)
    for word in words:
        mask = WORD_MASK.get(word)
        if mask:
            counts = [count + flag for count, flag in zip(counts, MASK_FLAGS[mask], strict=True)]
    size = len(words) or 1
    segments = parts.segments
    row = [log1p(count) for count in counts]
    row += [count / size for count in counts]
    row += MASK_FLAGS[mask_of(segments[-2]) if len(segments) > 1 else 0]
    row += MASK_FLAGS[mask_of("/".join(segments[:-2])) if len(segments) > 2 else 0]  # noqa: PLR2004
    row += MASK_FLAGS[mask_of(parts.query) if parts.query else 0]
    row += MASK_FLAGS[_host(parts.host)[1]]
    row += [
        _log(len(words)),
        _log(max(map(len, words), default=0)),
        float(len(words) == 1 and words[0].endswith("s")),
    ]
    return row
