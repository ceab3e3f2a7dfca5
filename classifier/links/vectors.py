"""What vectors say of a crawl's pages, as a part of their value for the link order.

::

    fetched pages' vectors ── MeaningOpinion ──> opinion on each page, part of r    (memory.py)

All vectors are of one space.
"""

from __future__ import annotations

import base64
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from classifier.embedding.embedder import Vectors
from classifier.embedding.meaning import MAX_DIMENSION, Meaning
from classifier.embedding.packing import unpacked
from classifier.links.places import key_of
from classifier.topic.everyday import everyday_vectors
from classifier.topic.meaning_space import unit
from classifier.words.errors import TopicModelError, reading

Scores = NDArray[np.float64]

# With this many pages, half of the everyday pages still count, for the mean and as negatives.
_MEAN_HALVED: Final = 30
_NEGATIVES_HALVED: Final = 100
# Below this only the centre is used: a page far from it may still be on topic.
MIN_PAGES: Final = 20
_FAR_SHARE: Final = 0.5
# Of logistic regression, divided by the number of negatives.
_LOOSENESS: Final = 10.0
SPREAD: Final = 0.5
NEIGHBOURS: Final = 10
_SPREAD_ROUNDS: Final = 4
_TINY: Final = 1e-9


@dataclass(frozen=True, slots=True)
class MeaningOpinion:
    """Fitted to one topic's examples and the pages of a crawl; immutable.

    The examples' opinion of pages by meaning, which does not drift with a topic's feedback.

    ::

        vector - mean of pages and everyday pages, again of length 1
        examples ── centre, or logistic regression against the far half of the pages
                    and everyday pages, which fade ── cosine
        score(page) = (1 - SPREAD) * cosine + SPREAD * mean score of its nearest pages

    As :class:`~classifier.links.learned_order.Opinion`, with vectors in the place of words.
    """

    mean: Vectors
    """The mean of all pages."""
    centre: Vectors
    """Of the examples; unit length, centred."""
    direction: Vectors
    """Direction of relevant pages; unit length, centred."""
    pages: Vectors
    """Centred."""
    page_scores: Scores
    """Of :attr:`pages`."""

    @classmethod
    def fit(cls, examples: Vectors, wrong: Vectors, pages: Vectors, general: Vectors) -> Self:
        """Learn from unit vectors of examples, rejected pages, fetched pages and everyday pages.

        At least one example or page is needed; the others may have no row.
        """
        count = len(pages)
        around = np.concatenate([pages, general[: _fading(len(general), count, _MEAN_HALVED)]])
        mean = (around if len(around) else examples).mean(axis=0)
        placed, right = centred(pages, mean), centred(examples, mean)
        centre = unit(right.mean(axis=0))
        direction = centre
        if count >= MIN_PAGES:
            far = placed[np.argsort(placed @ centre, kind="stable")[: int(count * _FAR_SHARE)]]
            everyday = general[: _fading(len(general), count, _NEGATIVES_HALVED)]
            others = [far, centred(everyday, mean), centred(wrong, mean)]
            direction = _separating(right, np.concatenate(others))
        own = (placed @ direction).astype(np.float64)
        if count < MIN_PAGES:
            return cls(mean, centre, direction, placed, own)
        alike = placed @ placed.T
        np.fill_diagonal(alike, 0.0)
        near, weights = _nearest(alike)
        spread = own
        for _ in range(_SPREAD_ROUNDS):
            spread = (1 - SPREAD) * own + SPREAD * (spread[near] * weights).sum(axis=1)
        return cls(mean, centre, direction, placed, spread)

    def score(self, page: Vectors) -> float:
        """Return the score of one more page, on the scale of :attr:`page_scores`."""
        placed = centred(page[None, :], self.mean)
        own = float((placed @ self.direction)[0])
        if len(self.pages) < MIN_PAGES:
            return own
        near, weights = _nearest(placed @ self.pages.T)
        return (1 - SPREAD) * own + SPREAD * float((self.page_scores[near] * weights).sum())


def centred(rows: Vectors, mean: Vectors) -> Vectors:
    """Return rows less *mean*, scaled to length 1; a row of zeros stays zero."""
    moved = np.where(rows.any(axis=1, keepdims=True), rows - mean, 0.0)
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    units: Vectors = np.divide(moved, lengths, out=np.zeros_like(moved), where=lengths > 0)
    return units.astype(np.float32)


def _fading(available: int, pages: int, halved: int) -> int:
    return round(available / (1 + pages / halved))


def _separating(right: Vectors, others: Vectors) -> Vectors:
    """Return the direction that separates the examples from others, classes balanced."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - heavy

    labels = np.concatenate([np.ones(len(right)), np.zeros(len(others))])
    weights = np.where(labels > 0, len(others) / len(right), 1.0)
    machine = LogisticRegression(C=_LOOSENESS / len(others))
    machine.fit(np.concatenate([right, others]), labels, sample_weight=weights)
    return unit(machine.coef_[0])


def _nearest(alike: Vectors) -> tuple[NDArray[np.int64], Scores]:
    """Return each row's nearest and their weights, squared cosines of sum 1; *alike* has the cosines."""
    count = min(NEIGHBOURS, alike.shape[1])
    near = np.argpartition(-alike, count - 1, axis=1)[:, :count]
    found = np.square(np.take_along_axis(alike, near, axis=1).clip(0.0).astype(np.float64))
    return near, found / (found.sum(axis=1, keepdims=True) + _TINY)


# The latest ones, one byte a number.
MAX_PAGES: Final = 600
# As stored, whatever the model's dimension is.
MAX_BYTES: Final = 230_400
_FIT_EVERY: Final = 5
# With more pages, whenever they have grown by a twentieth.
_OFTEN: Final = 100


class LinkVectors:
    """For one topic; not thread-safe."""

    def __init__(self) -> None:
        self.space = ""
        """The embedder's name; empty until the first vector comes."""
        self._size = 0
        self._pages: OrderedDict[int, bytes] = OrderedDict()
        self._added = 0
        # Refitted after this many more pages, or for another version of the topic model.
        self._due = 0
        self._fitted_to = ""
        self._opinion: MeaningOpinion | None = None

    def __len__(self) -> int:
        return len(self._pages)

    def add_page(self, url: str, meaning: Meaning) -> None:
        """Remember a fetched page's vector; one that is not comparable with the others is left out."""
        # The first one sets the space.
        self.space = self.space or meaning.space
        self._size = self._size or len(meaning.packed)
        if (meaning.space, len(meaning.packed)) != (self.space, self._size):
            return
        self._pages[key_of(url)] = meaning.packed
        self._added += 1
        while len(self._pages) > max(min(MAX_PAGES, MAX_BYTES // self._size), 1):
            self._pages.popitem(last=False)

    def is_due(self, version: str) -> bool:
        """Whether :meth:`opinions` would change; *version* is the topic model's."""
        return bool(self._pages) and (self._added >= self._due or version != self._fitted_to)

    def opinions(self, examples: Vectors, wrong: Vectors, version: str) -> dict[int, float]:
        """Return the opinions on the pages with a vector, by key; empty without an example.

        *examples* and *wrong* are unit vectors, shape (pages, dimension), 0 for those without one.
        """
        count = len(self._pages)
        self._due = self._added + max(_FIT_EVERY, count // 20 if count > _OFTEN else 0)
        self._fitted_to = version
        examples, wrong = examples[examples.any(axis=1)], wrong[wrong.any(axis=1)]
        if not len(examples) or examples.shape[1] != self._size:
            self._opinion = None
            return {}
        general = everyday_vectors(self.space)
        if general is None or general.shape[1] != self._size:
            general = np.zeros((0, self._size), dtype=np.float32)
        if not len(wrong):
            wrong = general[:0]
        pages = unpacked(list(self._pages.values()))
        self._opinion = MeaningOpinion.fit(examples, wrong, pages, general)
        return dict(zip(self._pages, self._opinion.page_scores.tolist(), strict=True))

    def opinion(self, url: str) -> dict[int, float]:
        """Return the opinion on one page, on the scale of the latest :meth:`opinions`."""
        key = key_of(url)
        packed = self._pages.get(key)
        if packed is None or self._opinion is None:
            return {}
        return {key: self._opinion.score(unpacked([packed])[0])}

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        rows = base64.b64encode(b"".join(self._pages.values())).decode()
        pages = {"keys": list(self._pages), "rows": rows}
        return {"space": self.space, "size": self._size, "pages": pages}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read the form of :meth:`to_json`; raises TopicModelError."""
        read = cls()
        with reading("link vectors"):
            read.space, read._size = str(data["space"]), int(data["size"])
            if not 0 <= read._size <= MAX_DIMENSION:
                raise ValueError(f"a vector of {read._size} numbers")
            read._pages.update(_unpacked(data["pages"], read._size))
        read._added = len(read._pages)
        return read


def _unpacked(data: Mapping[str, Any], size: int) -> dict[int, bytes]:
    keys, rows = list(map(int, data["keys"])), base64.b64decode(data["rows"], validate=True)
    if len(rows) != size * len(keys):
        raise TopicModelError("link vectors", str(len(rows)), "is damaged: bytes are missing")
    return {key: rows[number * size : (number + 1) * size] for number, key in enumerate(keys)}
