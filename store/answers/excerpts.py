"""Excerpts of announced pages: around search terms, or from the beginning."""

import re
import zlib
from collections.abc import Sequence
from dataclasses import replace

from peewee import Database, chunked

from store.answers.announced import AnnouncedPage
from store.models import PageText
from store.search.words import Phrase, occurrences

LEAD_BYTES = 2_000
"""Bounds of a stored text and of its inflated form: enough for its beginning."""
_BATCH = 500
# A text often begins with its heading, and again in the first sentence.
_MOST_TITLES = 2


def with_excerpts(
    database: Database, rows: Sequence[AnnouncedPage], phrases: Sequence[Phrase]
) -> list[AnnouncedPage]:
    """Return the rows with an excerpt around the search terms."""
    texts: dict[int, bytes] = {}
    for batch in chunked([row.page_id for row in rows], _BATCH):
        query = PageText.select(PageText.page, PageText.text).where(
            PageText.page.in_(batch) & PageText.text.is_null(is_null=False)
        )
        texts.update(query.tuples().execute(database))
    return [
        replace(row, excerpt=excerpt(unpacked(texts[row.page_id]), phrases, row.name))
        if row.page_id in texts
        else row
        for row in rows
    ]


def lead(text: bytes | None, title: str, *, width: int = 240) -> str:
    """Return the beginning of a stored text without the title that it may repeat, on one line.

    *text* may be cut: :data:`LEAD_BYTES` of it are enough.
    """
    if not text:
        return ""
    begun = zlib.decompressobj().decompress(text[:LEAD_BYTES], LEAD_BYTES).decode(errors="ignore")
    words = _without_title(" ".join(begun.split()), title)
    if len(words) <= width:
        return words
    return re.sub(r"\s\S{0,20}$", "", words[:width]) + "…"


def _without_title(text: str, title: str) -> str:
    """Return *text* from behind the title, or the title's first part, that it may begin with."""
    named = " ".join(title.split())
    # "A bridge opens - The News" heads a text that begins with "A bridge opens".
    for name in (named, re.split(r"\s[|·–—-]\s", named)[0]):
        for _ in range(_MOST_TITLES):
            if name and text[: len(name)].casefold() == name.casefold():
                text = text[len(name) :].lstrip(" .。:：|·–—-")
    return text


def unpacked(text: bytes | None) -> str:
    """Return a stored text, inflated."""
    return zlib.decompress(text).decode() if text else ""


def excerpt(text: str, phrases: Sequence[Phrase], title: str = "", *, width: int = 200) -> str:
    """Return a piece of *text* around the first search term that occurs as typed, without the *title*."""
    text = _without_title(" ".join(text.split()), title)
    at, _ = next(occurrences(text, phrases), (0, 0))
    start = max(at - width // 3, 0)
    piece = text[start : start + width]
    # Cut words are dropped, in scripts whose words are short and separated by spaces.
    if start:
        piece = "…" + re.sub(r"^\S{0,20}\s", "", piece)
    if start + width < len(text):
        piece = re.sub(r"\s\S{0,20}$", "", piece) + "…"
    return piece
