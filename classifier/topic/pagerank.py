"""PageRank of the graph that was crawled so far: papers 001 (as a ranking) and 004 (as a rival crawler).

Power iteration over a sparse matrix. Pages without links, fetched or not, hand their rank to all
pages alike, so the ranks always sum to 1: one page has 1, pages without any link share equally.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

DAMPING: Final = 0.85
TOLERANCE: Final = 1e-9
"""Change of all ranks together at which the iteration ends."""
MAX_ITERATIONS: Final = 200
MAX_NODES: Final = 300_000
"""URLs of one graph; later ones are not taken in."""
MAX_LINKS_PER_PAGE: Final = 2_000


def pagerank(
    sources: Sequence[int] | NDArray[np.int32],
    targets: Sequence[int] | NDArray[np.int32],
    count: int,
    *,
    damping: float = DAMPING,
    start: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the rank of each of ``count`` nodes, summing to 1; a link given twice counts twice.

    ``start``: ranks to begin with, the last result say: it only saves iterations.

    Raises:
        ValueError: damping outside 0 to 1 (1 itself may never settle), or an end outside the nodes.
    """
    if not 0.0 <= damping < 1.0:
        raise ValueError(f"damping is {damping}, must be from 0 to below 1")
    if not count:
        return np.zeros(0)
    matrix, dangling = _transition(np.asarray(sources), np.asarray(targets), count)
    ranks = np.full(count, 1.0 / count) if start is None else start / start.sum()
    for _ in range(MAX_ITERATIONS):
        lent = damping * float(ranks[dangling].sum()) + 1.0 - damping
        following: NDArray[np.float64] = damping * (matrix @ ranks) + lent / count
        change = float(np.abs(following - ranks).sum())
        ranks = following
        if change < TOLERANCE:
            break
    total: float = ranks.sum()
    return ranks / total


def _transition(
    sources: NDArray[np.int32], targets: NDArray[np.int32], count: int
) -> tuple[Any, NDArray[np.bool_]]:
    """Return the matrix that moves ranks along the links, and which nodes have none."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415 - heavy

    if (
        len(sources)
        and not 0
        <= min(sources.min(), targets.min())
        <= (max(sources.max(), targets.max()))
        < count
    ):
        raise ValueError(f"a link begins or ends outside the {count} nodes")
    out = np.bincount(sources.astype(np.int64), minlength=count)
    shares = 1.0 / out[sources] if len(sources) else np.zeros(0)
    return csr_matrix((shares, (targets, sources)), shape=(count, count)), out == 0


class LinkGraph:
    """The pages fetched so far and what they link to; grows, and is bounded."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._sources: list[int] = []
        self._targets: list[int] = []
        self._read: set[int] = set()
        self._ranks: NDArray[np.float64] = np.zeros(0)

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, url: str, links: Iterable[str]) -> None:
        """Take in a page; its links count once each, those to itself not, a second time nothing."""
        source = self._number(url)
        if source is None or source in self._read:
            return
        self._read.add(source)
        for link in list(dict.fromkeys(links))[:MAX_LINKS_PER_PAGE]:
            target = self._number(link)
            if target is not None and target != source:
                self._sources.append(source)
                self._targets.append(target)

    def rank(self) -> None:
        """Compute the ranks anew, from the last ones on."""
        count = len(self._numbers)
        start = np.full(count, 1.0 / count) if count else np.zeros(0)
        start[: len(self._ranks)] = self._ranks
        self._ranks = pagerank(self._sources, self._targets, count, start=start)

    def ranks_of(self, urls: Sequence[str]) -> NDArray[np.float64]:
        """Return each URL's last computed rank, 0 for one that came later, in parts of the highest."""
        if not len(self._ranks):
            return np.zeros(len(urls))
        numbers = (self._numbers.get(url, len(self._ranks)) for url in urls)
        ranks = [self._ranks[one] if one < len(self._ranks) else 0.0 for one in numbers]
        return np.asarray(ranks, dtype=np.float64) / float(self._ranks.max())

    def _number(self, url: str) -> int | None:
        if url not in self._numbers and len(self._numbers) >= MAX_NODES:
            return None
        return self._numbers.setdefault(url, len(self._numbers))
