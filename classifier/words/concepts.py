"""Concepts: latent semantic analysis of the fetched pages.

::

    unlabelled pages -> tf-idf, unit rows -> truncated SVD -> a vector for each word
    a page           -> weighted sum of its words' vectors -> its place among the concepts

Titles and link contexts rarely share a word with an example, but they share its concepts (paper 000,
reference 5, finds this better than TF-IDF for topical crawling).
"""

import base64
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from classifier.words.errors import TopicModelError, reading
from classifier.words.vectors import Vector, Vocabulary, truncated

# Dimensions at which pages are compared, if the vectors have that many. The first are broad (sports,
# money), later ones fine: narrow widths suit broad fields, wide ones fine subjects.
SCALES: Final = (20, 40, 80, 160)
# Fewer pages show no concepts; without them the fused method is little more than the centroid.
MIN_PAGES: Final = 33
# Words that get a vector, those of the most pages.
MAX_WORDS: Final = 15_000
_SEED: Final = 0
# Relative to the strongest; a weaker concept is a rounding error.
_NOISE: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Concepts:
    """Word vectors; immutable, shared by all topics of a crawler."""

    vocabulary: Vocabulary
    vectors: NDArray[np.float32]
    """Shape (words, dimensions), strongest concept first."""
    # A hash: places among other concepts are not comparable.
    mark: str
    learned: frozenset[int]
    """Keys of the pages that they were learned from."""

    @classmethod
    def of(cls, words: Iterable[str], vectors: NDArray[np.float32], learned: Iterable[int]) -> Self:
        """Build concepts and compute their mark."""
        vocabulary = Vocabulary({word: row for row, word in enumerate(words)})
        digest = blake2b(vectors.tobytes(), digest_size=8)
        digest.update("\n".join(vocabulary.columns).encode())
        return cls(vocabulary, vectors, digest.hexdigest(), frozenset(learned))

    @classmethod
    def learn(cls, pages: Mapping[int, Vector]) -> Self | None:
        """Learn from pages' unit tf-idf vectors by key; None if they are too few or too similar."""
        from sklearn.utils.extmath import randomized_svd  # noqa: PLC0415 - heavy

        vectors = list(pages.values())
        vocabulary = _common_words(vectors)
        dimensions = min(SCALES[-1], len(vocabulary) - 1, len(pages) - 1)
        if len(pages) < MIN_PAGES or dimensions < SCALES[0]:
            return None
        rows = vocabulary.rows(vectors)
        _, strengths, directions = randomized_svd(
            rows, dimensions, n_iter=2, random_state=_SEED, flip_sign=True
        )
        kept = int((strengths > strengths[0] * _NOISE).sum())
        # Rounded as when stored, so that a loaded model judges like the trained one.
        rounded = np.ascontiguousarray(directions[:kept].T).astype("<f2").astype(np.float32)
        return cls.of(vocabulary.columns, rounded, pages)

    def of_terms(self, terms: Vocabulary) -> NDArray[np.float64]:
        """Return the vectors of a vocabulary's terms, shape (terms, dimensions); 0 if unknown."""
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
        """Return words, and half-precision vectors in base 64."""
        packed = base64.b64encode(self.vectors.astype("<f2").tobytes()).decode()
        return {
            "words": list(self.vocabulary.columns),
            "dimensions": int(self.vectors.shape[1]),
            "vectors": packed,
            "learned": sorted(self.learned),
        }

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Read the form of :meth:`to_json`; raises TopicModelError."""
        if not isinstance(data, dict):
            raise TopicModelError("concepts", str(data)[:80], "are not of this version")
        with reading("concepts"):
            words, dimensions = list(data["words"]), int(data["dimensions"])
            packed = base64.b64decode(data["vectors"], validate=True)
            vectors = np.frombuffer(packed, "<f2").reshape(len(words), dimensions)
            learned = list(map(int, data["learned"]))
        if len(words) > MAX_WORDS or dimensions > SCALES[-1] or not np.isfinite(vectors).all():
            raise TopicModelError("concepts", str(len(words)), "are too many or not finite")
        return cls.of(map(str, words), vectors.astype(np.float32), learned)


def _common_words(pages: Sequence[Mapping[str, float]]) -> Vocabulary:
    counts = Counter(term for page in pages for term in page)
    shared = {term: float(count) for term, count in counts.items() if count > 1}
    kept = sorted(truncated(shared, MAX_WORDS))
    return Vocabulary({term: column for column, term in enumerate(kept)})
