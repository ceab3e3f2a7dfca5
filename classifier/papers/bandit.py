"""The choice of the next operator: UCB1 (paper 001, section 4.2).

::

    score(op) = mean reward of its rounds + sqrt(2 ln n / n_op)          formula (11)

n counts the pages returned by all operators, n_op those of this one. A round's reward is the mean, over
its pages, of their height in the list of everything found, formulas (9) and (10)::

    reward = 1/k * sum of (1 - position / length) * I
    I = 0 for a page seen in an earlier round, or in the tail of the list, else 1
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

# Our reading of the paper's "tail": the last fifth of the ranked list.
TAIL_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Arm:
    """What one operator has done."""

    rounds: int = 0
    pages: int = 0
    """Returned in all rounds."""
    total_reward: float = 0.0

    @property
    def mean_reward(self) -> float:
        """Mean over its rounds; 0 before the first."""
        return self.total_reward / self.rounds if self.rounds else 0.0


@dataclass(frozen=True, slots=True)
class Bandit:
    """The operators and their results; order breaks ties."""

    arms: Mapping[str, Arm]

    @classmethod
    def over(cls, operators: Sequence[str]) -> Bandit:
        """Begin with untried operators."""
        return cls({name: Arm() for name in operators})

    def scores(self) -> dict[str, float]:
        """Return formula (11) per operator; infinite before its first round."""
        pages = sum(arm.pages for arm in self.arms.values())
        return {name: _score(arm, pages) for name, arm in self.arms.items()}

    def choose(self, available: Collection[str] | None = None) -> str | None:
        """Return the operator with the highest score among *available* (None = all), or None."""
        scores = self.scores()
        names = [name for name in scores if available is None or name in available]
        return max(names, key=scores.__getitem__, default=None)

    def rewarded(self, operator: str, *, reward: float, pages: int) -> Bandit:
        """Add a round of *operator* that returned *pages*."""
        arm = self.arms[operator]
        arm = replace(
            arm,
            rounds=arm.rounds + 1,
            # Or the bonus of an operator that finds nothing would not shrink.
            pages=arm.pages + max(pages, 1),
            total_reward=arm.total_reward + reward,
        )
        return Bandit({**self.arms, operator: arm})


def _score(arm: Arm, pages: int) -> float:
    if not arm.rounds:
        return math.inf
    # Counts as in the text of section 4.2. The paper's algorithm 3 passes others, the length of the last
    # list and its growth, which forget all rounds but one.
    return arm.mean_reward + math.sqrt(2.0 * math.log(max(pages, 1)) / arm.pages)


def page_reward(ranked: Sequence[str], returned: Collection[str], seen: Collection[str]) -> float:
    """Return the reward of a round, 0 to 1, by formulas (9) and (10).

    *ranked* are all pages so far, best first; *returned* those of this round, *seen* of earlier ones. Pages
    missing from the list count as its tail.
    """
    if not returned:
        return 0.0
    length = len(ranked)
    head = length - math.floor(TAIL_SHARE * length)
    earned = sum(
        1.0 - position / length
        for position, page in enumerate(ranked[:head])
        if page in returned and page not in seen
    )
    return earned / len(returned)
