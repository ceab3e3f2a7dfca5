"""A page's packed embedding vector. Imports no numpy; see :mod:`.packing`."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, Final, Self

MIN_DIMENSION: Final = 2
# Larger models exist, but their vectors would take more space than the texts.
MAX_DIMENSION: Final = 8_192


@dataclass(frozen=True, slots=True)
class Meaning:
    """A unit vector in one space; immutable."""

    space: str
    """The name of the embedder: vectors of two spaces are never compared."""
    packed: bytes
    """A signed byte for each dimension."""

    def to_json(self) -> list[str]:
        """Return plain data: the space, and the bytes in base 64."""
        return [self.space, base64.b64encode(self.packed).decode()]

    @classmethod
    def from_json(cls, data: Any) -> Self:  # noqa: ANN401 - whatever JSON held
        """Read the form of :meth:`to_json`; raises TypeError or ValueError."""
        space, packed = data
        read = base64.b64decode(packed, validate=True)
        if not MIN_DIMENSION <= len(read) <= MAX_DIMENSION:
            raise ValueError(f"a vector of {len(read)} numbers")
        return cls(str(space), read)
