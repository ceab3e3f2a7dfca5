"""Weights of a link's features, learned while crawling: ridge regression on the fetched pages.

::

    expected r = weights * (lift of the parents, nearness of the best parent, cosine of the anchor,
                            cosine of the URL's words, worth of the site, worth of the folder,
                            anchor's cosine by vector, its predicted outcome)
    page fetched  ->  its features when it was chosen, and the value r it turned out to have
    every few pages: weights = ridge, drawn to WEIGHTS by PRIOR_PAGES, none below 0
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from typing import Any, Final, Self

import numpy as np

from classifier.links.memory import LinkMemory
from classifier.words.errors import TopicModelError, reading
from classifier.words.latest import Latest

Features = tuple[float, ...]
"""As many as :data:`SPREADS`, in their order."""

# Usual deviations of the features, measured on two graphs: they make the weights comparable.
SPREADS: Final = (0.3, 0.1, 0.15, 0.15, 0.15, 0.15, 0.1, 0.15)
# Prior weights, per deviation. Only a prior, because no fixed weights suit all graphs: encyclopedia pages
# link to related subjects, so the parents' lift matters most; a blog's pages link to neighbours by date,
# so the anchor does.
WEIGHTS: Final = (0.3, 0.1, 0.15, 0.1, 0.05, 0.2, 0.15, 0.25)
# Weight of the prior, in pages.
PRIOR_PAGES: Final = 30.0
# The last fetched pages. A share of the best parent fixed by hand was tried before the weights were learned:
# it helped blogs and hurt the encyclopedia.
MAX_TRAINING_EXAMPLES: Final = 600
_PRIOR_SHRINK: Final = 0.5
_FIRST_FIT: Final = 20
_FIT_EVERY: Final = 10
_MAX_PROMISED: Final = 100_000


class LinkWeights:
    """For one topic; not thread-safe."""

    def __init__(self) -> None:
        self._weights = [weight / spread for weight, spread in zip(WEIGHTS, SPREADS, strict=True)]
        # Latest features of links that may be fetched.
        self._promised: Latest[str, Features] = Latest(_MAX_PROMISED)
        self._training_examples: deque[tuple[Features, int]] = deque(maxlen=MAX_TRAINING_EXAMPLES)
        """Features and key of each fetched page."""
        self._pages = 0
        # Expected r of a link with all features 0; None = not trained yet.
        self._start: float | None = None

    def promise(self, url: str, features: Features) -> float:
        """Return a link's weighted features, and remember them until its page is fetched."""
        self._promised[url] = features
        return sum(
            weight * feature for weight, feature in zip(self._weights, features, strict=True)
        )

    def promise_of(self, value: float) -> float:
        """Return the promise at which *value* is the expected r; the lowest before weights were learned."""
        return -math.inf if self._start is None else value - self._start

    def learn(self, url: str, key: int, memory: LinkMemory) -> None:
        """Train on a link whose page was fetched and judged."""
        features = self._promised.pop(url, None)
        self._pages += 1
        if features is not None:
            self._training_examples.append((features, key))
        if len(self._training_examples) >= _FIRST_FIT and self._pages % _FIT_EVERY == 0:
            self._fit(memory)

    def _fit(self, memory: LinkMemory) -> None:
        spreads = np.array(SPREADS)
        features = np.array([features for features, _ in self._training_examples]) / spreads
        values = np.array([memory.value_of_key(key) for _, key in self._training_examples])
        usual, mean = features.mean(axis=0), float(values.mean())
        features -= usual
        values -= mean
        normal = features.T @ features + PRIOR_PAGES * np.eye(len(SPREADS))
        # Pages were chosen by these features, so they seem to matter less than they do: the prior
        # pulls towards half of itself, which keeps the proportions right.
        pull = features.T @ values + PRIOR_PAGES * _PRIOR_SHRINK * np.array(WEIGHTS)
        fitted = np.maximum(np.linalg.solve(normal, pull), 0.0)
        self._weights = [float(weight) for weight in fitted / spreads]
        self._start = mean - float(usual @ fitted)

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        training_examples = [
            [*(round(feature, 4) for feature in features), key]
            for features, key in self._training_examples
        ]
        return {
            "weights": self._weights,
            "start": self._start,
            "training_examples": training_examples,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read the form of :meth:`to_json`; raises TopicModelError."""
        read = cls()
        with reading("link weights"):
            weights = [float(weight) for weight in data["weights"]]
            read._start = None if data["start"] is None else float(data["start"])
            for *features, key in data["training_examples"][-MAX_TRAINING_EXAMPLES:]:
                read._training_examples.append((tuple(map(float, features)), int(key)))
        counts = {len(weights), *(len(features) for features, _ in read._training_examples)}
        if counts != {len(SPREADS)}:
            raise TopicModelError("link weights", str(len(weights)), "do not fit the features")
        read._weights = weights
        return read
