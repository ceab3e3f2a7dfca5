"""The interface of embedding models, and its errors."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from classifier.embedding.meaning import MAX_DIMENSION, MIN_DIMENSION
from hubwatch.errors import HubwatchError

Vectors = NDArray[np.float32]


class EmbeddingError(HubwatchError):
    """Texts cannot be embedded now: a package is missing, or a model is damaged."""

    def __init__(self, field: str, value: str, problem: str) -> None:
        super().__init__(f"{field} {value!r}: {problem}")


class Embedder(Protocol):
    """A model that places texts in one space."""

    @property
    def name(self) -> str:
        """The space, with model and version: vectors of two names cannot be compared."""

    @property
    def quick(self) -> bool:
        """True: pages are embedded twice, with more text; False: once, with a short lead."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (texts, dimension); raises EmbeddingError.

        A text without words may get a zero vector.
        """


def as_units(vectors: object, count: int, source: str) -> Vectors:
    """Return *vectors* of *count* texts with length 1; *source* names the model in the message.

    Raises EmbeddingError for any other shape, and for numbers that are not finite.
    """
    try:
        rows = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise EmbeddingError("embeddings", source, f"answered no numbers: {error}") from error
    is_table = rows.ndim == 2 and len(rows) == count  # noqa: PLR2004 - a row for each text
    if not is_table or not MIN_DIMENSION <= rows.shape[1] <= MAX_DIMENSION:
        problem = f"answered an array of shape {rows.shape} for {count} texts; choose another model"
        raise EmbeddingError("embeddings", source, problem)
    if not np.isfinite(rows).all():
        raise EmbeddingError("embeddings", source, "answered numbers that are not finite")
    return np.asarray(units(rows), dtype=np.float32)


def units(rows: NDArray[Any], least: float = 0.0) -> NDArray[Any]:
    """Return rows scaled to length 1; those no longer than *least* become zeros."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    found: NDArray[Any] = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > least)
    return found


def centred(rows: Vectors, means: Vectors, least: float = 0.0) -> Vectors:
    """Return rows less a mean, or each its own, as :func:`units`; a row of zeros stays zero."""
    moved = np.where(rows.any(axis=1, keepdims=True), rows - means, 0.0)
    return np.asarray(units(moved, least), dtype=np.float32)
