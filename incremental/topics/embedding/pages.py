"""The vectors of pages: each passage is embedded once, and a page's vector is a sum of its passages'."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

import numpy as np

from classifier.embedding.embedder import Embedder, EmbeddingError, as_units
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

logger = logging.getLogger("hubwatch.embedding")

_HARMLESS: Final = "Hubwatch"


def space_of(embedder: Embedder) -> str:
    """Return the space of a model's pages: what it reads of them is a part of it."""
    if embedder.quick:
        return embedder.name
    return f"{embedder.name}, lead {SLOW_LEAD}/{SLOW_DENSE_LEAD}, headline {HEADLINE_WEIGHT}"


def meanings_of(pages: Sequence[PageText], embedder: Embedder) -> list[Meaning | None]:
    """Return the meaning of each page, None of one without words; raises EmbeddingError.

    A text on which the model breaks, while it embeds others, costs only its own page the vector.
    """
    try:
        return _meanings(pages, embedder)
    except EmbeddingError:
        embedder.embed([_HARMLESS])
    found: list[Meaning | None] = []
    for page in pages:
        try:
            found += _meanings([page], embedder)
        except EmbeddingError as error:
            logger.warning("no vector for %s: %s", page.url, error)
            found.append(None)
    return found


def _meanings(pages: Sequence[PageText], embedder: Embedder) -> list[Meaning | None]:
    texts = [passages_of(page, slow=not embedder.quick) for page in pages]
    flat = list(dict.fromkeys(text for page in texts for text in page))
    vectors = as_units(embedder.embed(flat), len(flat), embedder.name) if flat else ()
    row_of, space = dict(zip(flat, vectors, strict=True)), space_of(embedder)
    meanings: list[Meaning | None] = []
    for page in texts:
        rows = [row_of[text] for text in page]
        if not embedder.quick and len(rows) > 1:
            rows[1] = rows[1] * headline_weight(*page)
        meanings.append(packed(space, np.sum(rows, axis=0)) if rows else None)
    return meanings
