"""A page's packed embedding vector. Imports no numpy; see :mod:`.packing`."""

from dataclasses import dataclass
from typing import Annotated, Final

import msgspec

MIN_DIMENSION: Final = 2
# Larger models exist, but their vectors would take more space than the texts.
MAX_DIMENSION: Final = 8_192


@dataclass(frozen=True, slots=True)
class Meaning:
    """A unit vector in one space; immutable."""

    space: str
    """The name of the embedder: vectors of two spaces are never compared."""
    packed: Annotated[bytes, msgspec.Meta(min_length=MIN_DIMENSION, max_length=MAX_DIMENSION)]
    """A signed byte for each dimension."""
