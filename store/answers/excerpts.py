"""Pieces of the texts of announced pages, around the words that were looked for."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import replace

from peewee import Database, chunked

from store.announced import AnnouncedPage
from store.models import PageText
from store.words import Phrase, simplified

_BATCH = 500


def with_excerpts(
    database: Database, rows: Sequence[AnnouncedPage], phrases: Sequence[Phrase]
) -> list[AnnouncedPage]:
    """Return the rows with a piece of each page's text around the words that were looked for."""
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


def unpacked(text: bytes | None) -> str:
    """Return a text that the store holds deflated."""
    return zlib.decompress(text).decode() if text else ""


def excerpt(text: str, phrases: Sequence[Phrase], *, width: int = 200) -> str:
    """Return a piece of *text* around the first wanted word that stands there as it was written."""
    low = simplified(text.casefold())
    wanted = (phrase.words[0] for phrase in phrases if not phrase.excluded)
    places = (low.find(word) for word in wanted)
    # Folding may change lengths, so the place is near, which is enough for a look.
    at = next((place for place in places if place >= 0), 0)
    start = max(at - width // 3, 0)
    piece = text[start : start + width]
    # Half words go where words are short enough for spaces to divide them.
    if start:
        piece = "…" + re.sub(r"^\S{0,20}\s", "", piece)
    if start + width < len(text):
        piece = re.sub(r"\s\S{0,20}$", "", piece) + "…"
    return " ".join(piece.split())
