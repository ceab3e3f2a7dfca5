"""Embedding features of links: vectors of anchors and of the pages they led to.

::

    fetched pages' vectors ── MeaningOpinion ──>  opinion on each page, part of r    (memory.py)
    anchor's vector - mean of the anchors seen, again of length 1
        cosine to the examples' centre                                          ─┐
        ridge regression of r on the vectors of fetched pages and of the anchors ├─> features of a link
        that led to them, drawn to that centre                                  ─┘

An anchor without a vector, and one seen in a crawl without examples, is usual: 0. All vectors are of one
space.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from classifier.embedding.embedder import Vectors, centred
from classifier.embedding.meaning import MAX_DIMENSION, Meaning
from classifier.embedding.packing import unpacked
from classifier.links.places import key_of
from classifier.links.text import one_line
from classifier.topic.everyday import everyday_vectors
from classifier.topic.meaning_space import neighbours, unit
from classifier.words.errors import reading
from classifier.words.stored import restored, stored

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
        near, weights = neighbours(alike, NEIGHBOURS, 2)
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
        near, weights = neighbours(placed @ self.pages.T, NEIGHBOURS, 2)
        return (1 - SPREAD) * own + SPREAD * float((self.page_scores[near] * weights).sum())


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


# The latest ones, one byte a number. Both tables are stored, so a topic grows by 0.7 MB at most.
MAX_PAGES: Final = 600
MAX_LED: Final = 600
# Of each table as stored, whatever the model's dimension is.
MAX_BYTES: Final = 230_400
# In memory: those of links that may be fetched.
MAX_ANCHORS: Final = 10_000
_FIT_EVERY: Final = 5
# With more pages, whenever they have grown by a twentieth.
_OFTEN: Final = 100
# Of the regression, in pages.
_RIDGE: Final = 10.0
_PRIOR: Final = 0.3
# Weight of the general mean among the anchors', in anchors.
_GENERAL: Final = 20.0
NOTHING_SAID: Final = (0.0, 0.0)


def anchor_key(anchor: str) -> int:
    """Return the key of an anchor's text, whatever its spaces."""
    return key_of(one_line(anchor))


class LinkVectors:
    """For one topic; not thread-safe."""

    def __init__(self) -> None:
        self.space = ""
        """The embedder's name; empty until the first vector comes."""
        self._size = 0
        self._pages: OrderedDict[int, bytes] = OrderedDict()
        self._anchors: OrderedDict[int, bytes] = OrderedDict()
        # Keys of an anchor and of the page that it led to.
        self._led: deque[tuple[int, int]] = deque(maxlen=MAX_LED)
        self._added = 0
        # Refitted after this many more pages, or for another version of the topic model.
        self._due = 0
        self._fitted_to = ""
        self._opinion: MeaningOpinion | None = None
        self._slope: Vectors | None = None
        self._anchor_mean: Vectors | None = None
        self._usual = NOTHING_SAID
        self._said: dict[int, tuple[float, float]] = {}

    def add_page(self, url: str, meaning: Meaning | None, anchors: Iterable[str]) -> None:
        """Remember a fetched page's vector and the anchors that led to it."""
        key = key_of(url)
        self._led.extend((anchor_key(anchor), key) for anchor in dict.fromkeys(anchors))
        if meaning is not None and self._fits(meaning):
            self._pages[key] = meaning.packed
            self._added += 1
            while len(self._pages) > self._most(MAX_PAGES):
                self._pages.popitem(last=False)

    def add_anchors(self, found: Mapping[str, Meaning]) -> None:
        """Remember the vectors of anchors, by their text."""
        for anchor, meaning in found.items():
            if self._fits(meaning):
                key = anchor_key(anchor)
                self._anchors[key] = meaning.packed
                self._said.pop(key, None)
        while len(self._anchors) > MAX_ANCHORS:
            self._said.pop(self._anchors.popitem(last=False)[0], None)

    def _fits(self, meaning: Meaning) -> bool:
        """Whether a vector is comparable with the others; the first one sets the space."""
        self.space = self.space or meaning.space
        self._size = self._size or len(meaning.packed)
        return meaning.space == self.space and len(meaning.packed) == self._size

    def _most(self, pages: int) -> int:
        return max(min(pages, MAX_BYTES // self._size), 1)

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

    def learn(self, value_of: Callable[[int], float]) -> None:
        """Learn from the latest :meth:`opinions` which anchors lead to pages of value."""
        if self._opinion is None:
            self._slope, self._said = None, {}
            return
        mean = self._opinion.mean
        known = unpacked(list(self._anchors.values())) if self._anchors else mean[None, :0]
        if self._anchors:
            self._anchor_mean = (known.sum(axis=0) + _GENERAL * mean) / (len(known) + _GENERAL)
        led = [
            (self._anchors[anchor], page)
            for anchor, page in self._led
            if anchor in self._anchors and page in self._pages
        ]
        values = np.array([value_of(page) for page in self._pages] + [value_of(p) for _, p in led])
        rows = self._opinion.pages
        if led and self._anchor_mean is not None:
            anchors = centred(unpacked([packed for packed, _ in led]), self._anchor_mean)
            rows = np.concatenate([rows, anchors])
        prior = _PRIOR * self._opinion.centre
        rest = values - values.mean() - rows @ prior
        # Solved with one unknown per row, mostly fewer than the numbers of a vector.
        solved = np.linalg.solve(rows @ rows.T + _RIDGE * np.eye(len(rows)), rest)
        self._slope = (prior + rows.T @ solved).astype(np.float32)
        self._say_again(known)

    def _say_again(self, known: Vectors) -> None:
        if not self._anchors or self._anchor_mean is None or self._opinion is None:
            return
        assert self._slope is not None
        placed = centred(known, self._anchor_mean)
        near, learned = placed @ self._opinion.centre, placed @ self._slope
        self._usual = float(near.mean()), float(learned.mean())
        said = zip(
            (near - self._usual[0]).tolist(), (learned - self._usual[1]).tolist(), strict=True
        )
        self._said = dict(zip(self._anchors, said, strict=True))

    def of_anchor(self, anchor: str) -> tuple[float, float]:
        """Return an anchor's cosine to the examples and its predicted outcome; 0 = average."""
        if self._slope is None or self._opinion is None or not self._anchors:
            return NOTHING_SAID
        key = anchor_key(anchor)
        found = self._said.get(key)
        if found is not None:
            return found
        packed = self._anchors.get(key)
        mean = self._opinion.mean if self._anchor_mean is None else self._anchor_mean
        if packed is None:
            return NOTHING_SAID
        placed = centred(unpacked([packed]), mean)[0]
        near, learned = float(placed @ self._opinion.centre), float(placed @ self._slope)
        found = near - self._usual[0], learned - self._usual[1]
        self._said[key] = found
        return found

    def to_json(self) -> dict[str, Any]:
        """Return plain data: pages, and the anchors that led to them; the others are embedded again."""
        most = self._most(MAX_LED) if self._size else 0
        wanted = dict.fromkeys(anchor for anchor, _ in self._led if anchor in self._anchors)
        anchors = {key: self._anchors[key] for key in list(wanted)[-most:]} if most else {}
        return {
            "space": self.space,
            "size": self._size,
            "pages": stored([*self._pages.items()]),
            "anchors": stored([*anchors.items()]),
            "led": [list(pair) for pair in self._led],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read the form of :meth:`to_json`; raises TopicModelError."""
        read = cls()
        with reading("link vectors"):
            read.space, read._size = str(data["space"]), int(data["size"])
            if not 0 <= read._size <= MAX_DIMENSION:
                raise ValueError(f"a vector of {read._size} numbers")
            for kept, name in ((read._pages, "pages"), (read._anchors, "anchors")):
                kept.update(restored(data[name], list[tuple[int, bytes]], "link vectors"))
                if any(len(packed) != read._size for packed in kept.values()):
                    raise ValueError("a vector of another size")
            read._led.extend((int(anchor), int(page)) for anchor, page in data["led"][-MAX_LED:])
        read._added = len(read._pages)
        return read
