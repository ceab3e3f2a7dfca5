"""Vectors in 8 bits a number: divided by the largest and rounded to -127..127.

Cosines of 384 numbers change by about 0.001, and a million such pages take 384 MB.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from classifier.embedding.embedder import Vectors
from classifier.embedding.meaning import Meaning

_LEVELS: Final = 127.0


def packed(space: str, vector: Vectors) -> Meaning | None:
    """Pack one vector of any length but 0; None for the zero vector."""
    largest = float(np.abs(vector).max(initial=0.0))
    if not largest:
        return None
    return Meaning(space, np.rint(vector * (_LEVELS / largest)).astype(np.int8).tobytes())


def unpacked(rows: Sequence[bytes]) -> Vectors:
    """Return unit vectors of packed ones of one dimension, shape (vectors, dimension)."""
    numbers = np.frombuffer(b"".join(rows), dtype=np.int8).reshape(len(rows), -1)
    vectors = numbers.astype(np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: Vectors = np.divide(vectors, lengths, out=vectors, where=lengths > 0)
    return units
