"""Rankers trained on a few pages, and on pages of no particular topic (papers 001 and 004).

Each function takes pages on the topic and others, and returns what scores pages: higher is nearer to the
topic, comparable within one fit only. All are deterministic and accept empty pages.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from classifier.words.background import Background
from classifier.words.batch import PageBatch, Terms
from classifier.words.values import Note
from classifier.words.vectors import Vector, mean, top, unit

Scores = NDArray[np.float64]


class Fitted(Protocol):
    """A method that has learned one topic."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes for the user, for example about a missing semantic tree."""
        return ()

    @abstractmethod
    def scores(self, batch: PageBatch) -> Scores:
        """Return a finite score for each page, shape (pages,); higher is nearer."""

    @abstractmethod
    def terms(self, page: Terms, count: int) -> list[tuple[str, float]]:
        """Return the terms that add most to a page's score, with their parts of it."""


def shared_terms(
    page: Mapping[str, float], weights: Mapping[str, float], count: int
) -> list[tuple[str, float]]:
    """Return the terms that add most to the product of two vectors, with their parts of it."""
    parts = {term: value * weights[term] for term, value in page.items() if term in weights}
    return [(term, part) for term, part in top(parts, count) if part > 0]


@dataclass(frozen=True, slots=True)
class LinearRanker(Fitted):
    """A weight for each term of unit tf-idf vectors: cosines, or decision values without the intercept."""

    background: Background
    weights: Vector

    def scores(self, batch: PageBatch) -> Scores:
        """Return the vectors' products with the weights."""
        return batch.cosines(self.weights)

    def terms(self, page: Terms, count: int) -> list[tuple[str, float]]:
        """Return the terms with the largest parts of the product."""
        return shared_terms(self.background.vector(page), self.weights, count)


def trained(
    pages: Sequence[Terms], background: Background, train: Callable[[Any], Any]
) -> LinearRanker:
    """Return a ranker with the weights that *train* returns for the tf-idf rows of pages."""
    batch = PageBatch(pages, background)
    found = train(batch.rows).tolist() if len(batch.vocabulary) else []
    columns = zip(batch.vocabulary.columns, found, strict=True)
    return LinearRanker(background, {term: weight for term, weight in columns if weight})


def centroid(
    positives: Sequence[Terms],
    negatives: Sequence[Terms],  # noqa: ARG001 - it needs none
    background: Background,
) -> LinearRanker:
    """Return the cosine of tf-idf vectors to the examples' mean."""
    return LinearRanker(background, unit(mean([background.vector(page) for page in positives])))


def logistic(
    positives: Sequence[Terms], negatives: Sequence[Terms], background: Background
) -> LinearRanker:
    """Return logistic regression with balanced classes; without negatives :func:`centroid`."""
    if not negatives:
        return centroid(positives, negatives, background)
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - heavy

    labels = [1] * len(positives) + [0] * len(negatives)
    # liblinear takes a tenth of the other solvers' time on a few hundred sparse rows.
    machine = LogisticRegression(
        C=10.0, class_weight="balanced", solver="liblinear", random_state=0
    )
    pages = [*positives, *negatives]
    return trained(pages, background, lambda rows: machine.fit(rows, labels).coef_[0])
