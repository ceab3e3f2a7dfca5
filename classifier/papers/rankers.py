"""Rankers trained on a few pages, and on pages of no particular topic (papers 001 and 004).

``fit(positives, negatives)`` once, then ``scores(batch)``: higher is nearer to the topic, comparable
within one fit only. All are deterministic and accept empty pages.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from classifier.papers.bayes import BayesModel, Density
from classifier.words.background import Background
from classifier.words.batch import PageBatch, Terms, np_array
from classifier.words.values import Note
from classifier.words.vectors import Vector, mean, top, unit

Scores = NDArray[np.float64]


class Fitted(Protocol):
    """A method that has learned one topic."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes for the user, for example about a missing semantic tree."""

    @abstractmethod
    def scores(self, batch: PageBatch) -> Scores:
        """Return a finite score for each page, shape (pages,); higher is nearer."""

    @abstractmethod
    def terms(self, page: Terms, count: int) -> list[tuple[str, float]]:
        """Return the terms that add most to a page's score, with their parts of it."""


class Ranker(Fitted):
    """A method trained on pages."""

    notes = ()

    @abstractmethod
    def fit(self, positives: Sequence[Terms], negatives: Sequence[Terms]) -> Self:
        """Learn from one or more pages on the topic, and any number of others."""


def shared_terms(
    page: Mapping[str, float], weights: Mapping[str, float], count: int
) -> list[tuple[str, float]]:
    """Return the terms that add most to the product of two vectors, with their parts of it."""
    parts = {term: value * weights[term] for term, value in page.items() if term in weights}
    return [(term, part) for term, part in top(parts, count) if part > 0]


class LinearRanker(Ranker):
    """Base of rankers with a weight per term of unit tf-idf vectors."""

    def __init__(self, background: Background) -> None:
        self.background = background
        self.weights: Vector = {}

    def scores(self, batch: PageBatch) -> Scores:
        """Return decision values without the intercept."""
        return batch.cosines(self.weights)

    def terms(self, page: Terms, count: int) -> list[tuple[str, float]]:
        """Return the terms with the largest parts of the decision value."""
        return shared_terms(self.background.vector(page), self.weights, count)

    def learn(self, pages: Sequence[Terms], train: Callable[[Any], Any]) -> None:
        """Take the weights that *train* returns for the tf-idf rows of pages."""
        batch = PageBatch(pages, self.background)
        if not len(batch.vocabulary):
            return
        coefficients = train(batch.rows)
        self.weights = {
            term: float(coefficients[column])
            for term, column in batch.vocabulary.columns.items()
            if coefficients[column]
        }


class CentroidRanker(LinearRanker):
    """Cosine of tf-idf vectors to the examples' mean."""

    def fit(self, positives: Sequence[Terms], negatives: Sequence[Terms]) -> Self:  # noqa: ARG002 - needs none
        """Take the mean of the positives."""
        self.weights = unit(mean([self.background.vector(page) for page in positives]))
        return self


class LogisticRanker(LinearRanker):
    """Logistic regression with balanced classes."""

    @classmethod
    def of(cls, background: Background, weights: Vector) -> Self:
        """Return a ranker with weights that were learned before."""
        made = cls(background)
        made.weights = weights
        return made

    def fit(self, positives: Sequence[Terms], negatives: Sequence[Terms]) -> Self:
        """Train on both; without negatives take the positives' mean."""
        if not negatives:
            self.weights = unit(mean([self.background.vector(page) for page in positives]))
            return self
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - heavy

        labels = [1] * len(positives) + [0] * len(negatives)
        # liblinear takes a tenth of the other solvers' time on a few hundred sparse rows.
        machine = LogisticRegression(
            C=10.0, class_weight="balanced", solver="liblinear", random_state=0
        )
        self.learn([*positives, *negatives], lambda rows: machine.fit(rows, labels).coef_[0])
        return self


class BayesRanker(Ranker):
    """Naive Bayes over paper 004's weights, by normal or kernel densities; see :mod:`.bayes`."""

    def __init__(self, density: Density) -> None:
        self._density = density
        self._model: BayesModel | None = None

    def fit(self, positives: Sequence[Terms], negatives: Sequence[Terms]) -> Self:
        """Train on both; without either every page scores 0."""
        right, wrong = [page for page in positives if page], [page for page in negatives if page]
        self._model = BayesModel(right, wrong, self._density) if right and wrong else None
        return self

    def scores(self, batch: PageBatch) -> Scores:
        """Return log-odds."""
        if self._model is None:
            return np_array([0.0] * len(batch))
        return self._model.log_odds(batch.pages)

    def terms(self, page: Terms, count: int) -> list[tuple[str, float]]:
        """Return the terms that add most to the log-odds."""
        votes = self._model.votes(page) if self._model is not None else {}
        return [(term, vote) for term, vote in top(votes, count) if vote > 0]
