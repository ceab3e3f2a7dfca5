"""The vectors of pages: each passage is embedded once, and a page's vector is a sum of its passages'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from classifier.embedding.embedder import Embedder
from classifier.embedding.meaning import Meaning
from classifier.embedding.packing import packed
from classifier.words.values import PageText
from incremental.topics.embedding.passages import (
    HEADLINE_WEIGHT,
    SLOW_DENSE_LEAD,
    SLOW_LEAD,
    headline_weight,
    passages_of,
)
from incremental.topics.embedding.sifting import sifted


@dataclass(frozen=True, slots=True)
class Embedded:
    """What became of some pages, in their order."""

    meanings: list[Meaning | None]
    """None = a page without words, or one that the model refuses."""
    refused: int = 0
    """How many it refuses."""
    refusal: str = ""
    """Why it refuses the last of them."""


def space_of(embedder: Embedder) -> str:
    """Return the space of a model's pages: what it reads of them is a part of it."""
    if embedder.quick:
        return embedder.name
    return f"{embedder.name}, lead {SLOW_LEAD}/{SLOW_DENSE_LEAD}, headline {HEADLINE_WEIGHT}"


def meanings_of(pages: Sequence[PageText], embedder: Embedder) -> list[Meaning | None]:
    """Return the meaning of each page; None as in :class:`Embedded`. Raises EmbeddingError."""
    return embedded(pages, embedder).meanings


def embedded(pages: Sequence[PageText], embedder: Embedder) -> Embedded:
    """Embed pages; raises EmbeddingError if the model fails, not if it refuses single texts."""
    texts = [passages_of(page, slow=not embedder.quick) for page in pages]
    flat = list(dict.fromkeys(text for page in texts for text in page))
    found = sifted(flat, embedder)
    row_of = dict(zip(flat, found.rows, strict=True))
    meanings, space, refused = list[Meaning | None](), space_of(embedder), 0
    for page in texts:
        rows = [row for text in page if (row := row_of[text]) is not None]
        if len(rows) < len(page):
            # A part of its texts would make a vector of another kind.
            refused += 1
            rows = []
        if not embedder.quick and len(rows) > 1:
            rows[1] = rows[1] * headline_weight(*page)
        meanings.append(packed(space, np.sum(rows, axis=0)) if rows else None)
    return Embedded(meanings, refused, found.refusal)
