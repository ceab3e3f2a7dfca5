"""Rows dealt into folds, ready to be judged with any pair of C and gamma.

Whatever does not depend on the pair (tables, scaling) is worked out once for each fold; what is left
is one training and one scoring, of which a search makes hundreds (:mod:`lab.hub.grid`).

Learned from are so many rows of a domain, or balanced samples spread over domains.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from classifier.hub import svm
from classifier.hub.errors import TrainingError
from classifier.hub.evidence import split_url
from classifier.hub.labels import LabelRow
from classifier.hub.svm import Pair
from classifier.hub.updating import fold_of


def compared(predicted: NDArray[np.bool_], hubs: NDArray[np.bool_]) -> dict[str, float]:
    """Return precision, recall and F1 of hubs, 0 where there is nothing to divide by, and the rows."""
    right, said, there = int((predicted & hubs).sum()), int(predicted.sum()), int(hubs.sum())
    return {
        "precision": right / max(said, 1),
        "recall": right / max(there, 1),
        "f1": 2 * right / max(said + there, 1),
        "n": len(hubs),
    }


# Rows of one domain and label that are used, in file order (the evaluation contract's cap).
ROWS_PER_DOMAIN = 10


def first_rows(keys: Sequence[object], cap: int = ROWS_PER_DOMAIN) -> list[int]:
    """Return the places of the first ``cap`` rows of each key in order; 0 = all rows."""
    if cap <= 0:
        return list(range(len(keys)))
    seen: Counter[object] = Counter()
    places = []
    for place, key in enumerate(keys):
        seen[key] += 1
        if seen[key] <= cap:
            places.append(place)
    return places


def sections_of(rows: Sequence[LabelRow]) -> dict[str, NDArray[np.bool_]]:
    """Return which rows are in the sections ``all``, ``no_root`` and ``zh``."""
    return {
        "all": np.ones(len(rows), dtype=bool),
        "no_root": np.array([not split_url(row.url).is_root for row in rows], dtype=bool),
        "zh": np.array([row.lang == "zh" for row in rows], dtype=bool),
    }


def balanced_sample(
    hubs: NDArray[np.bool_], domains: Sequence[str], size: int, salt: str = ""
) -> list[int]:
    """Return places of ``size`` rows, half of them hubs, spread over domains; repeatable.

    Paper 003 takes equally from each type of website; our rows do not tell the type, so domains
    are dealt one row each in turn.
    """
    chosen: list[int] = []
    for wanted in (True, False):
        places = [place for place in range(len(hubs)) if bool(hubs[place]) is wanted]
        turns: Counter[str] = Counter()
        keys = []
        for place in places:
            domain = domains[place]
            turns[domain] += 1
            keys.append((turns[domain], fold_of(domain, 1 << 30, salt), place))
        chosen += [place for _, _, place in sorted(keys)[: size // 2]]
    return sorted(chosen)


Apply = Callable[[NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Fold:
    """Scaled rows to learn from, and the held-out rows that judge what was learned."""

    rows: NDArray[np.float64]
    hubs: NDArray[np.bool_]
    held_rows: NDArray[np.float64]
    held_hubs: NDArray[np.bool_]

    def train(self, pair: Pair) -> svm.RbfMachine:
        """Train on the fold's rows."""
        return svm.train(self.rows, self.hubs, cost=pair.cost, gamma=pair.gamma)

    def score(self, pair: Pair) -> float:
        """Return the F1 of hubs among the held-out rows."""
        return compared(self.train(pair).decide(self.held_rows) > 0, self.held_hubs)["f1"]


@dataclass(frozen=True, slots=True)
class FoldedRows:
    """All folds of a training set."""

    folds: tuple[Fold, ...]
    numbers: NDArray[np.int64]
    """For each row, the index in ``folds`` of the fold that holds it out."""

    @classmethod
    def build(
        cls,
        rows: NDArray[np.float64],
        hubs: NDArray[np.bool_],
        numbers: NDArray[np.int64],
        learn_scale: Callable[[NDArray[np.float64]], Apply],
    ) -> FoldedRows:
        """Build from unscaled rows; ``learn_scale`` turns a fold's rows to learn from into a scale.

        Raises:
            TrainingError: some fold learns from one class only, or is judged by nothing.
        """
        # A few domains may leave a fold without any; folds are numbered without gaps.
        numbers = np.unique(numbers, return_inverse=True)[1]
        made = []
        for number in range(int(numbers.max(initial=-1)) + 1):
            inside = numbers != number
            apply = learn_scale(rows[inside])
            made.append(
                Fold(apply(rows[inside]), hubs[inside], apply(rows[~inside]), hubs[~inside])
            )
        folded = cls(tuple(made), numbers)
        if not folded.usable:
            raise TrainingError("too few domains: a fold of them leaves only hubs, or only topics")
        return folded

    @property
    def usable(self) -> bool:
        """Whether each fold learns from both classes and is judged by something."""
        return len(self.folds) > 1 and all(
            fold.hubs.any() and not fold.hubs.all() and len(fold.held_hubs) for fold in self.folds
        )

    @property
    def size(self) -> int:
        """Rows in all."""
        return len(self.numbers)

    def only(self, kept: NDArray[np.bool_]) -> FoldedRows:
        """Return the folds with some of the rows alone, scaled as before."""
        made = []
        for number, fold in enumerate(self.folds):
            learned, held = kept[self.numbers != number], kept[self.numbers == number]
            made.append(
                Fold(
                    fold.rows[learned],
                    fold.hubs[learned],
                    fold.held_rows[held],
                    fold.held_hubs[held],
                )
            )
        return FoldedRows(tuple(made), self.numbers[kept])

    def held_out(self, pair: Pair) -> NDArray[np.float64]:
        """Return the decision value of each row, by the machine that did not learn its fold."""
        values = np.zeros(self.size)
        for number, fold in enumerate(self.folds):
            values[self.numbers == number] = fold.train(pair).decide(fold.held_rows)
        return values
