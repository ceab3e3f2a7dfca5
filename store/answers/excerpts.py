"""Excerpts of announced pages around search terms."""

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
