"""The vectors of pages: each passage is embedded once, and a page's vector is a sum of its passages'."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from classifier.embedding.embedder import Embedder, as_units
from classifier.embedding.meaning import Meaning
from classifier.embedding.packing import packed
from classifier.topic.values import PageText
from incremental.embedding.passages import (
    HEADLINE_WEIGHT,
    SLOW_DENSE_LEAD,
    SLOW_LEAD,
    headline_weight,
    passages_of,
)


def space_of(embedder: Embedder) -> str:
    """Return the space of a model's pages: what it reads of them is a part of it."""
    if embedder.quick:
        return embedder.name
    return f"{embedder.name}, lead {SLOW_LEAD}/{SLOW_DENSE_LEAD}, headline {HEADLINE_WEIGHT}"


def meanings_of(pages: Sequence[PageText], embedder: Embedder) -> list[Meaning | None]:
    """Return the meaning of each page; None for one without words. Raises EmbeddingError."""
    texts = [passages_of(page, slow=not embedder.quick) for page in pages]
    flat = list(dict.fromkeys(text for page in texts for text in page))
    if not flat:
        return [None] * len(pages)
    vectors = as_units(embedder.embed(flat), len(flat), embedder.name)
    row = {text: number for number, text in enumerate(flat)}
    found, space = [], space_of(embedder)
    for page in texts:
        rows = vectors[[row[text] for text in page]]
        if not embedder.quick and len(page) > 1:
            rows[1] *= headline_weight(*page)
        found.append(packed(space, rows.sum(axis=0) if page else np.zeros(1, np.float32)))
    return found
