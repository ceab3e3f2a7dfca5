"""The vectors of pages: each passage is embedded once, and a page's vector is the sum of its passages'."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from classifier.embedding.embedder import Embedder, as_units
from classifier.embedding.meaning import Meaning
from classifier.embedding.packing import packed
from classifier.topic.values import PageText
from incremental.embedding.passages import passages_of


def meanings_of(pages: Sequence[PageText], embedder: Embedder) -> list[Meaning | None]:
    """Return the meaning of each page; None for one without words. Raises EmbeddingError."""
    texts = [passages_of(page, lead_only=not embedder.quick) for page in pages]
    flat = list(dict.fromkeys(text for page in texts for text in page))
    if not flat:
        return [None] * len(pages)
    vectors = as_units(embedder.embed(flat), len(flat), embedder.name)
    row = {text: number for number, text in enumerate(flat)}
    found = []
    for page in texts:
        mean = (
            vectors[[row[text] for text in page]].sum(axis=0) if page else np.zeros(1, np.float32)
        )
        found.append(packed(embedder.name, mean))
    return found
