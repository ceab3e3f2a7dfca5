"""From bytes to text: byte order mark, UTF-8, declarations, then detection. None is trusted alone.

::

    byte order mark  decides
    valid UTF-8      UTF-8, whatever is declared: other encodings are not valid UTF-8 by chance;
                     mere ASCII is what is declared
    declared         in the header or a meta element, if the body decodes but for a few broken
                     characters; self-validating charsets first
    detection        by bs4's UnicodeDammit on a sample, which asks charset-normalizer
    windows-1252     always decodes; if declared, only East Asian charsets override it
"""

import re
from contextlib import suppress

import webencodings
from w3lib.encoding import read_bom, resolve_encoding

_SAMPLE_BYTES = 32 * 1024
_HEAD_BYTES = 8 * 1024
_TRIAL_BYTES = 256 * 1024
# Largest share of broken characters, among those outside ASCII, that a charset may leave.
_MAX_DAMAGE = 0.03

_MIN_PAIRED = 0.4
_FALLBACK = "cp1252"
# Text in other charsets hardly ever decodes as these.
_MULTIBYTE = frozenset(
    {"utf-8", "gb18030", "big5hkscs", "cp932", "cp949", "euc_jp", "iso2022_jp", "iso2022_kr", "hz"}
)
_WIDE = frozenset({"utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"})
_SINGLE_BYTE = frozenset(
    {f"cp{page}" for page in (437, 850, 852, 855, 866, 874, *range(1250, 1259))}
    | {f"iso8859-{part}" for part in (*range(2, 12), 13, 14, 15, 16)}
    | {"koi8-r", "koi8-u", "kz1048", "mac-roman", "mac-cyrillic"}
)
# Detected -> meant, beyond what w3lib knows: browsers read the larger set (WHATWG Encoding Standard).
_MEANT = {
    "cp950": "big5hkscs",
    "shift_jis_2004": "cp932",
    "shift_jisx0213": "cp932",
    "euc_jis_2004": "euc_jp",
    "euc_jisx0213": "euc_jp",
    "johab": "cp949",
    "utf-8-sig": "utf-8",
}
_HEADER_LABEL = re.compile(r"charset\s*=\s*[\"']?\s*([^\s;,\"']+)", re.IGNORECASE)
# Seven-bit encodings: valid ASCII, but with escape sequences.
_ESCAPED = re.compile(rb"\x1b[$(]|~\{")
_HIGH_BYTE = re.compile(rb"[\x80-\xff]")
_HIGH_RUN = re.compile(rb"[\x80-\xff]{2,}")
_OUTSIDE_ASCII = re.compile(r"[^\x00-\x7f]")


def decode_body(body: bytes, content_type_header: str) -> tuple[str, str]:
    """Return the text of *body* and the charset used.

    *content_type_header* is the whole header, or empty. Never fails: undecodable bytes are replaced,
    NUL is removed.
    """
    text, charset = _decode(body, content_type_header)
    # NUL means nothing in a page and ends it for some parsers.
    return text.replace("\0", ""), charset


def _decode(body: bytes, content_type: str) -> tuple[str, str]:
    marked, mark = read_bom(body)
    if marked is not None and mark is not None:
        charset = _known(marked) or "utf-8"
        return body[len(mark) :].decode(charset, "replace"), charset
    if not _ESCAPED.search(body, 0, _SAMPLE_BYTES) and b"\0" not in body[:_HEAD_BYTES]:
        with suppress(UnicodeDecodeError):
            text = body.decode("utf-8")
            # ASCII is the same in all, and then the charset of its addresses is the declared one.
            return text, _declared(body, content_type)[0] if body.isascii() else "utf-8"
    declared = _declared(body, content_type)
    believed = (charset for charset in declared if charset != _FALLBACK and _fits(body, charset))
    charset = next(believed, None) or _detected(body)
    if charset not in declared and _FALLBACK in declared and charset not in _MULTIBYTE:
        charset = _FALLBACK
    return body.decode(charset, "replace"), charset


def _declared(body: bytes, content_type: str) -> list[str]:
    """Return the charsets the body may be in, most credible first."""
    declared = _HEADER_LABEL.search(content_type)
    header = _known(declared[1]) if declared else None
    head = body[:_HEAD_BYTES]
    from bs4.dammit import EncodingDetector  # noqa: PLC0415 - heavy, and many commands decode nothing

    find_label = EncodingDetector.find_declared_encoding
    meta = _known(find_label(head, is_html=True, search_entire_document=True))
    if meta in _WIDE:
        meta = None  # read as ASCII, so it cannot be true
    if header in _WIDE and b"\0" not in body[:_HEAD_BYTES]:
        header = None
    named = [charset for charset in (header, meta) if charset is not None]
    # UTF-8 with a few broken characters is more common than undeclared charsets.
    return list(dict.fromkeys([*sorted(named, key=_SINGLE_BYTE.__contains__), "utf-8"]))


def _fits(body: bytes, charset: str) -> bool:
    """Return whether *charset* decodes nearly every character outside ASCII."""
    text = body[:_TRIAL_BYTES].decode(charset, "replace")
    outside = len(_OUTSIDE_ASCII.findall(text))
    cut_character = len(body) > _TRIAL_BYTES
    # Chinese pages cut titles in the middle of a character, so a strict decoder would refuse most of
    # them; servers declare ISO-8859-1 by default, so a tolerant one would believe them.
    return text.count("\ufffd") <= _MAX_DAMAGE * outside + cut_character


def _detected(body: bytes) -> str:
    """Guess the charset from a sample."""
    from bs4.dammit import EncodingDetector  # noqa: PLC0415 - likewise

    first = _HIGH_BYTE.search(body)
    start = first.start() if first else 0
    # Detection is slow.
    sample = body[start : start + _SAMPLE_BYTES]
    guesses = EncodingDetector(sample, exclude_encodings=["utf-8", "ascii"]).encodings
    guess = next((known for name in guesses if (known := _known(name))), _FALLBACK)
    return _FALLBACK if guess in _MULTIBYTE and not _has_pairs(sample) else guess


def _has_pairs(sample: bytes) -> bool:
    """Return whether most non-ASCII bytes are adjacent, as in every East Asian charset."""
    # In Western text they stand alone, yet detectors take "ße" or "üb" for one character.
    paired = sum(len(run) for run in _HIGH_RUN.findall(sample))
    return paired > _MIN_PAIRED * len(_HIGH_BYTE.findall(sample))


def _known(label: str | None) -> str | None:
    """Return our name for a charset, None for codecs that are none, such as Python's ``punycode``."""
    if not label or not label.isascii() or not label.isprintable():
        return None
    found = resolve_encoding(label)
    if found is None:
        # Python lacks a third of the labels that browsers accept (iso-8859-8-i, koi8, x-sjis).
        encoding = webencodings.lookup(label)
        found = resolve_encoding(encoding.codec_info.name) if encoding else None
    found = _MEANT.get(found or "", found)
    return found if found in _MULTIBYTE | _WIDE | _SINGLE_BYTE else None
