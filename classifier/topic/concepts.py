"""Which words go together, learned from pages that the crawler has anyway: latent semantic analysis.

::

    unlabelled pages -> tf-idf, unit rows -> truncated SVD -> a vector for each word
    a page           -> weighted sum of its words' vectors -> its place among the concepts

Titles and link contexts rarely share a word with an example; they share its concepts (paper 000
names the method as better than TF-IDF for topical crawling, its reference 5). The first few
dimensions are broad (sports, money), the later ones fine: :data:`SCALES` reads the same vectors at
several widths.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from classifier.topic.errors import TopicModelError, reading
from classifier.topic.vectors import Vector, Vocabulary, truncated

# Widths at which pages are compared; wider than the vectors means all of them.
SCALES: Final = (20, 40, 80, 160)
# Fewer pages show no concepts.
MIN_PAGES: Final = 50
# Words that get a vector: those of the most pages.
MAX_WORDS: Final = 15_000
_SEED: Final = 0
# A concept weaker than this beside the strongest is rounding.
_NOISE: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Concepts:
    """Word vectors; immutable, shared by all topics of a crawler."""

    vocabulary: Vocabulary
    vectors: NDArray[np.float32]
    """Shape (words, dimensions), the strongest concept first."""
    mark: str
    """Tells concepts apart: places among others mean nothing here."""

    @classmethod
    def of(cls, words: Iterable[str], vectors: NDArray[np.float32]) -> Self:
        """Return concepts with their mark."""
        vocabulary = Vocabulary({word: row for row, word in enumerate(words)})
        digest = blake2b(vectors.tobytes(), digest_size=8)
        digest.update("\n".join(vocabulary.columns).encode())
        return cls(vocabulary, vectors, digest.hexdigest())

    @classmethod
    def learn(cls, pages: Sequence[Vector]) -> Self | None:
        """Learn from unit tf-idf vectors of pages; None when they are too few or too alike."""
        from sklearn.utils.extmath import randomized_svd  # noqa: PLC0415 - heavy

        vocabulary = _common_words(pages)
        dimensions = min(SCALES[-1], len(vocabulary) - 1, len(pages) - 1)
        if len(pages) < MIN_PAGES or dimensions < SCALES[0]:
            return None
        rows = vocabulary.rows(pages)
        _, strengths, directions = randomized_svd(
            rows, dimensions, n_iter=2, random_state=_SEED, flip_sign=True
        )
        kept = int((strengths > strengths[0] * _NOISE).sum())
        # Rounded to what is stored: a model that was read judges like the one that was learned.
        vectors = np.ascontiguousarray(directions[:kept].T).astype("<f2").astype(np.float32)
        return cls.of(vocabulary.columns, vectors)

    def of_terms(self, terms: Vocabulary) -> NDArray[np.float64]:
        """Return the vectors of a vocabulary's terms, shape (terms, dimensions); unknown words are 0."""
        found = [
            (row, place)
            for term, row in terms.columns.items()
            if (place := self.vocabulary.columns.get(term)) is not None
        ]
        vectors = np.zeros((len(terms), self.vectors.shape[1]))
        if found:
            rows, places = zip(*found, strict=True)
            vectors[list(rows)] = self.vectors[list(places)]
        return vectors

    def to_json(self) -> dict[str, Any]:
        """Return words, and vectors as half-precision numbers in base 64."""
        packed = base64.b64encode(self.vectors.astype("<f2").tobytes()).decode()
        return {
            "words": list(self.vocabulary.columns),
            "dimensions": int(self.vectors.shape[1]),
            "vectors": packed,
        }

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Read what :meth:`to_json` gave; raises TopicModelError when it is not that."""
        if not isinstance(data, dict):
            raise TopicModelError("concepts", str(data)[:80], "are not what this version writes")
        with reading("concepts"):
            words, dimensions = list(data["words"]), int(data["dimensions"])
            packed = base64.b64decode(data["vectors"], validate=True)
            vectors = np.frombuffer(packed, "<f2").reshape(len(words), dimensions)
        if len(words) > MAX_WORDS or dimensions > SCALES[-1] or not np.isfinite(vectors).all():
            raise TopicModelError("concepts", str(len(words)), "are too many, or no numbers")
        return cls.of(map(str, words), vectors.astype(np.float32))


def _common_words(pages: Sequence[Mapping[str, float]]) -> Vocabulary:
    counts: dict[str, float] = {}
    for page in pages:
        for term in page:
            counts[term] = counts.get(term, 0.0) + 1.0
    shared = {term: count for term, count in counts.items() if count > 1}
    kept = sorted(truncated(shared, MAX_WORDS))
    return Vocabulary({term: column for column, term in enumerate(kept)})
