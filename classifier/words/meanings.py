"""The vectors of the pages that topics know: by their terms, in one space.

Pages travel through the topic models as weighted terms; a page's vector is found by a hash of its heaviest
terms, the one by which the sample knows its pages.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from classifier.embedding.embedder import Vectors
from classifier.embedding.meaning import Meaning
from classifier.embedding.packing import unpacked
from classifier.words.errors import TopicModelError, reading
from classifier.words.sample import page_key

# Beyond this, vectors of pages outside the sample are dropped.
MAX_VECTORS: Final = 70_000
# The latest of those are kept.
_LATEST: Final = 2_000
_STALE: Final = 1.1
_FEW: Final = 10


class Meanings:
    """Vectors by page, all of one space and dimension. Not thread-safe, as its background."""

    def __init__(self, space: str = "") -> None:
        self.space = space
        """The embedder's name; empty until the first vector comes."""
        self._packed: dict[int, bytes] = {}
        self.dimension = 0
        """Of the vectors; 0 = there was none yet."""

    def __len__(self) -> int:
        return len(self._packed)

    def use(self, space: str) -> None:
        """Keep only vectors of *space* from now on; drop all others."""
        if space != self.space:
            self.space, self._packed, self.dimension = space, {}, 0

    def put(self, terms: Mapping[str, float], meaning: Meaning | None) -> None:
        """Remember a page's vector; one of another space or dimension is left out."""
        if meaning is not None and terms:
            self.put_all([(page_key(terms), meaning)])

    def put_all(self, found: Iterable[tuple[int, Meaning]]) -> None:
        """Remember vectors by :func:`page_key`, as :meth:`put` does."""
        for key, meaning in found:
            self.space = self.space or meaning.space
            self.dimension = self.dimension or len(meaning.packed)
            if self._fits(meaning):
                self._packed[key] = meaning.packed

    def _fits(self, meaning: Meaning) -> bool:
        return meaning.space == self.space and len(meaning.packed) == self.dimension

    def _vector(self, terms: Mapping[str, float], own: Meaning | None) -> bytes | None:
        if own is not None and self._fits(own):
            return own.packed
        return self._packed.get(page_key(terms)) if self._packed else None

    @property
    def mark(self) -> tuple[str, int]:
        """The space and the number of vectors; see :meth:`outgrew`."""
        return self.space, len(self._packed)

    def outgrew(self, mark: tuple[str, int]) -> bool:
        """Whether the space changed, or vectors grew by a tenth, since *mark* was taken."""
        space, count = mark
        return space != self.space or len(self._packed) > _STALE * count + _FEW

    def of(self, terms: Mapping[str, float]) -> Meaning | None:
        """Return a page's vector; None = it has none."""
        packed = self._vector(terms, None) if terms else None
        return None if packed is None else Meaning(self.space, packed)

    def count(self, keys: Iterable[int]) -> int:
        """Count the pages that have a vector, by :func:`page_key`."""
        return sum(key in self._packed for key in keys)

    def rows(
        self, pages: Sequence[Mapping[str, float]], own: Sequence[Meaning | None] = ()
    ) -> Vectors:
        """Return unit vectors, shape (pages, dimension); 0 for pages without one.

        *own* are vectors that some of the pages bring, in the same order; they are not remembered.
        """
        vectors = np.zeros((len(pages), self.dimension or 1), dtype=np.float32)
        brought = own or [None] * len(pages)
        found = [
            (row, packed)
            for row, (terms, one) in enumerate(zip(pages, brought, strict=True))
            if terms and (packed := self._vector(terms, one)) is not None
        ]
        if found:
            vectors[[row for row, _ in found]] = unpacked([packed for _, packed in found])
        return vectors

    def forget(self, kept: Iterable[int]) -> None:
        """Drop all but the vectors of these pages and the latest others, if there are too many."""
        if len(self._packed) <= MAX_VECTORS:
            return
        wanted = set(kept) | set(list(self._packed)[-_LATEST:])
        self._packed = {key: packed for key, packed in self._packed.items() if key in wanted}

    def to_json(self, keys: Sequence[int]) -> dict[str, Any]:
        """Return the vectors of some pages as plain data: their keys, and bytes in base 64."""
        found = [key for key in keys if key in self._packed]
        packed = base64.b64encode(b"".join(self._packed[key] for key in found)).decode()
        return {"space": self.space, "size": self.dimension, "keys": found, "packed": packed}

    def read(self, data: Mapping[str, Any]) -> None:
        """Restore the result of :meth:`to_json`; raises TopicModelError."""
        with reading("meanings"):
            space, size, keys = str(data["space"]), int(data["size"]), list(map(int, data["keys"]))
            packed = base64.b64decode(data["packed"], validate=True)
        if len(packed) != size * len(keys):
            raise TopicModelError("meanings", str(len(packed)), "is damaged: bytes are missing")
        parts = (packed[start : start + size] for start in range(0, len(packed), size or 1))
        self.put_all((key, Meaning(space, part)) for key, part in zip(keys, parts, strict=True))
