"""Paper 003's training-size study: how good is its URL SVM on 1,000, 2,000, 3,000 rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from classifier.hub.labels import LabelRow
from lab.hub import grid, paper
from lab.hub.folded import Outcome, balanced_sample, confusion

SIZES: Final = (1000, 2000, 3000)


@dataclass(frozen=True, slots=True)
class SizeResult:
    """One size: the best pair of the grid, its ten-fold accuracy, and the score on other domains."""

    size: int
    cost: float
    gamma: float
    accuracy: float
    test: Outcome


def size_study(
    rows: Sequence[LabelRow],
    test: Sequence[LabelRow],
    sizes: Sequence[int] = SIZES,
    how: grid.Search | None = None,
) -> Iterator[SizeResult]:
    """Search, train and test at each size; balanced rows, spread over domains.

    ``test`` must be of other domains. Ten-fold accuracy is over rows, as in the paper, so rows of
    one domain help each other; the test has no such help.
    """
    hubs = np.array([row.is_hub for row in rows], dtype=np.bool_)
    truth = np.array([row.is_hub for row in test], dtype=np.bool_)
    for size in sizes:
        places = balanced_sample(hubs, [row.domain for row in rows], size)
        links = [rows[place].evidence for place in places]
        chosen = hubs[places]
        values = paper.learn_values([link for link, hub in zip(links, chosen, strict=True) if hub])
        described = paper.describe_as_paper(links, values)
        rows_apart = [str(place) for place in range(len(places))]
        folded = paper.paper_folds(described, chosen, rows_apart)
        how_many = f"{size} rows"
        found = grid.search(how_many, folded, rows_apart, grid.PAPER_PLAN, how or grid.Search())
        best = found.best
        machine = paper.train_paper_url(links, chosen, cost=best.cost, gamma=best.gamma)
        predicted = machine.decide_links([row.evidence for row in test]) > 0
        yield SizeResult(
            len(places), best.cost, best.gamma, best.score, confusion(predicted, truth)
        )
