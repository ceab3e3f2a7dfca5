"""Excerpts of announced pages: around search terms, or from the beginning."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import replace

from peewee import Database, chunked

from store.answers.announced import AnnouncedPage
from store.models import PageText
from store.search.words import Phrase, simplified

LEAD_BYTES = 2_000
"""Of a stored text, and of what it is inflated to: enough for its beginning."""
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
        replace(row, excerpt=excerpt(unpacked(texts[row.page_id]), phrases))
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
    words, named = " ".join(begun.split()), " ".join(title.split())
    for _ in range(_MOST_TITLES):
        if named and words.startswith(named):
            words = words[len(named) :].lstrip(" .。:：|·–—-")
    if len(words) <= width:
        return words
    return re.sub(r"\s\S{0,20}$", "", words[:width]) + "…"


def unpacked(text: bytes | None) -> str:
    """Return a stored text, inflated."""
    return zlib.decompress(text).decode() if text else ""


def excerpt(text: str, phrases: Sequence[Phrase], *, width: int = 200) -> str:
    """Return a piece of *text* around the first search term that occurs as typed."""
    low = simplified(text.casefold())
    wanted = (phrase.words[0] for phrase in phrases if not phrase.excluded)
    places = (low.find(word) for word in wanted)
    # Folding may shift positions a little, close enough for an excerpt.
    at = next((place for place in places if place >= 0), 0)
    start = max(at - width // 3, 0)
    piece = text[start : start + width]
    # Cut words are dropped, in scripts whose words are short and separated by spaces.
    if start:
        piece = "…" + re.sub(r"^\S{0,20}\s", "", piece)
    if start + width < len(text):
        piece = re.sub(r"\s\S{0,20}$", "", piece) + "…"
    return " ".join(piece.split())
