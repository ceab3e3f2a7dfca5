"""Vectors in few bits: 8 a number in models, 7 in large tables.

In 8 bits a vector is divided by its largest number and rounded to -127..127; cosines of 384 numbers change
by about 0.001. In 7 bits each of those is halved, eight of them in seven bytes, which changes cosines by
0.0005 more on the mean and 0.003 at most (the 400 everyday pages). Ten rows of 8 bits fit into a page of
SQLite, and eleven of 7.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from classifier.embedding.embedder import Vectors, units
from classifier.embedding.meaning import Meaning

_LEVELS: Final = 127.0
_HALF_LEVELS: Final = 63
# Seven bits are unsigned.
_ZERO: Final = 64
# A vector is split into eight parts. The bytes of the first seven have a spare bit each; together these
# hold the numbers of the eighth.
_PARTS: Final = 8


def packed(space: str, vector: Vectors) -> Meaning | None:
    """Pack one vector of any length but 0; None for the zero vector."""
    largest = float(np.abs(vector).max(initial=0.0))
    if not largest:
        return None
    return Meaning(space, np.rint(vector * (_LEVELS / largest)).astype(np.int8).tobytes())


def unpacked(rows: Sequence[bytes]) -> Vectors:
    """Return unit vectors of packed ones of one dimension, shape (vectors, dimension)."""
    numbers = np.frombuffer(b"".join(rows), dtype=np.int8).reshape(len(rows), -1)
    return units(numbers.astype(np.float32))


def squeezed(packed: bytes) -> bytes:
    """Return a packed vector in 7 bits a number, filled up with zeros to a multiple of eight."""
    numbers = np.frombuffer(packed, dtype=np.int8)
    # Halves go to the even neighbour: rounded to one side, all cosines would shift.
    halves = np.clip(np.rint(numbers / 2.0), -_HALF_LEVELS, _HALF_LEVELS)
    filled = np.full(-(-len(halves) // _PARTS) * _PARTS, _ZERO, dtype=np.uint8)
    filled[: len(halves)] += halves.astype(np.int8).astype(np.uint8)
    *parts, last = filled.reshape(_PARTS, -1)
    bits = [(last >> place & 1) << 7 for place in range(_PARTS - 1)]
    return b"".join((part | bit).tobytes() for part, bit in zip(parts, bits, strict=True))


def unsqueezed(rows: Sequence[bytes]) -> Vectors:
    """Return unit vectors of squeezed ones of one dimension, shape (vectors, filled dimension)."""
    parts = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), _PARTS - 1, -1)
    numbers = np.empty((len(rows), _PARTS, parts.shape[2]), dtype=np.float32)
    numbers[:, :-1] = parts & 127
    places = np.arange(_PARTS - 1, dtype=np.uint8)[:, np.newaxis]
    numbers[:, -1] = ((parts >> 7) << places).sum(axis=1, dtype=np.uint8)
    numbers -= _ZERO
    return units(numbers.reshape(len(rows), -1))
