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


def sifted(texts: Sequence[str], embedder: Embedder) -> Sifted:
    """Embed *texts*; raises EmbeddingError if the model fails for a harmless text as well."""
    if not texts:
        return Sifted([])
    try:
        return _whole(texts, embedder)
    except TextsRefusedError as refused:
        _whole([HARMLESS], embedder)
        return _halves(texts, embedder, refused)


def _whole(texts: Sequence[str], embedder: Embedder) -> Sifted:
    return Sifted(list(as_units(embedder.embed(texts), len(texts), embedder.name)))


def _part(texts: Sequence[str], embedder: Embedder) -> Sifted:
    try:
        return _whole(texts, embedder)
    except TextsRefusedError as refused:
        if len(texts) == 1:
            # It is for good, so the model must be at work at this moment.
            _whole([HARMLESS], embedder)
        return _halves(texts, embedder, refused)


def _halves(texts: Sequence[str], embedder: Embedder, refused: TextsRefusedError) -> Sifted:
    if len(texts) == 1:
        return Sifted([None], str(refused))
    middle = len(texts) // 2
    parts = [_part(texts[:middle], embedder), _part(texts[middle:], embedder)]
    refusal = parts[1].refusal or parts[0].refusal
    return Sifted([row for part in parts for row in part.rows], refusal)
