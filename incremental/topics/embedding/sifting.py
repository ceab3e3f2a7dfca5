"""Vectors of texts, some of which a model may refuse.

::

    texts ── refused ──> is a harmless text refused, too?
                             yes: the model fails for everything, and is left alone
                             no:  each half by itself, down to single texts, which get no vector

One bad text among 64 costs about 15 calls, a model that refuses everything two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from classifier.embedding.embedder import Embedder, TextsRefusedError, as_units

HARMLESS: Final = "Hubwatch"


@dataclass(frozen=True, slots=True)
class Sifted:
    """The vectors of some texts, in their order."""

    rows: list[NDArray[np.float32] | None]
    """None = the model refuses this text."""
    refusal: str = ""
    """Why it refused the last of those; empty = it refused none."""


def sifted(texts: Sequence[str], embedder: Embedder, *, all_of_them: bool = True) -> Sifted:
    """Embed *texts*; raises EmbeddingError if the model fails for a harmless text as well."""
    if not texts:
        return Sifted([])
    try:
        return Sifted(_rows(texts, embedder))
    except TextsRefusedError as refused:
        if all_of_them or len(texts) == 1:
            # A single text is refused for good, so the model must be at work at this moment.
            _rows([HARMLESS], embedder)
        if len(texts) == 1:
            return Sifted([None], str(refused))
    middle = len(texts) // 2
    halves = (texts[:middle], texts[middle:])
    first, last = (sifted(half, embedder, all_of_them=False) for half in halves)
    return Sifted(first.rows + last.rows, last.refusal or first.refusal)


def _rows(texts: Sequence[str], embedder: Embedder) -> list[NDArray[np.float32] | None]:
    return list(as_units(embedder.embed(texts), len(texts), embedder.name))
