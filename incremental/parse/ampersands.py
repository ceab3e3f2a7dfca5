"""XML with ampersands that nobody escaped: ``<loc>https://example.org/?a=1&lang=de</loc>``.

Parsers drop such a reference, or read ``&lang`` as a sign as HTML does, and so make another address of it.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from html.entities import html5

_TOKEN = re.compile(
    r"<!--|-->|<!\[CDATA\[|\]\]>|<!ENTITY\s{1,20}(?P<declared>[\w.-]{1,32})"
    r"|&(?:(?P<number>#(?:\d{1,8}|[xX][\da-fA-F]{1,7});)|(?P<name>[A-Za-z][\w.-]{0,31};))?"
)
_ENDS = {"<!--": "-->", "<![CDATA[": "]]>"}
_XML = ("amp", "lt", "gt", "quot", "apos")
# What the next piece may complete.
_UNFINISHED = re.compile(r"(?:&[#\w.-]{0,32}|<(?:!(?:-{1,2}|\[[A-Z]{0,5})?)?|\]{1,2}|-{1,2})?\Z")
_LONGEST = 40
_WIDE = {b"\xff\xfe": "utf-16-le", b"<\0": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_WIDE[b"\0<"] = "utf-16-be"


def escaped(text: str) -> str:
    """Return XML in which each ampersand begins a reference that XML knows; linear time.

    References of HTML (``&eacute;``) become numbers, those that the document declares stay, and so does
    what is in comments and CDATA.
    """
    return _Escaping().feed(text, is_last=True)


def escaped_pieces(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Do the same to a document in bytes, which come in pieces and stay in their encoding."""
    escaping, codec = _Escaping(), ""
    for piece in pieces:
        if not codec:
            # In every other encoding that parsers know, ASCII is ASCII, so Latin-1 keeps all bytes.
            codec = _WIDE.get(piece[:2], "latin-1")
            decoder = codecs.getincrementaldecoder(codec)("replace")
        yield escaping.feed(decoder.decode(piece)).encode(codec)
    if codec:
        yield escaping.feed(decoder.decode(b"", final=True), is_last=True).encode(codec)


class _Escaping:
    def __init__(self) -> None:
        self._known = set(_XML)
        self._rest = ""
        self._end = ""
        """Of the comment or CDATA section that is open."""

    def feed(self, text: str, *, is_last: bool = False) -> str:
        text = self._rest + text
        unfinished = _UNFINISHED.search(text, max(0, len(text) - _LONGEST))
        end = len(text) if is_last or unfinished is None else unfinished.start()
        self._rest = text[end:]
        # Seven-bit encodings (ISO-2022-JP) shift by escapes, and their letters look like ampersands.
        if "\x1b" in text:
            self._end = "\x1b"
        return _TOKEN.sub(self._mended, text[:end])

    def _mended(self, token: re.Match[str]) -> str:
        said = token[0]
        if self._end:
            self._end = "" if said == self._end else self._end
        elif said[0] != "&":
            self._end = _ENDS.get(said, "")
            self._known.update(filter(None, (token["declared"],)))
        elif token["name"] in html5 and token["name"][:-1] not in self._known:
            return "".join(f"&#{ord(sign)};" for sign in html5[token["name"]])
        elif not token["number"] and (token["name"] or "")[:-1] not in self._known:
            return f"&amp;{said[1:]}"
        return said
