"""A page among its like: what the sample's pages nearest to it score says something of it, too.

Pages that are alike are mostly of one topic (the cluster hypothesis): a page whose own words are not
those of the examples may stand among pages whose words are. Who is near whom has nothing to do with
any topic, so it is found once for a batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from classifier.topic.batch import PageBatch, Terms

NEIGHBOURS: Final = 15
MIN_SAMPLE: Final = 200
"""In a smaller sample the nearest page is not near."""
_ROWS: Final = 500
"""Pages compared at once: bounds the memory."""
_SAME: Final = 1.98
"""Of the sum of two cosines: the page itself, which must not speak for itself."""
_TINY: Final = 1e-9


@dataclass(frozen=True, slots=True)
class ByNeighbours:
    """A method: the mean score of a page's neighbours in the sample, by nearness."""

    sample: PageBatch
    sample_scores: NDArray[np.float64]
    notes: tuple[str, ...] = ()

    def scores(self, batch: PageBatch) -> NDArray[np.float64]:
        """Return the mean for each page; 0 for one that is near to nothing."""
        return np.asarray(neighbours_of(batch, self.sample) @ self.sample_scores, dtype=np.float64)

    def terms(self, page: Terms, count: int) -> list[tuple[str, float]]:  # noqa: ARG002 - see scores
        """Return nothing: it is other pages that speak."""
        return []


def neighbours_of(batch: PageBatch, sample: PageBatch) -> Any:  # noqa: ANN401 - scipy has no types
    """Return :func:`nearest`, found once for one sample."""
    if batch.near is None or batch.near[0] is not sample:
        batch.near = (sample, nearest(batch, sample))
    return batch.near[1]


def nearest(batch: PageBatch, sample: PageBatch) -> Any:  # noqa: ANN401 - scipy has no types
    """Return the weights of each page's neighbours, CSR of shape (pages, sample), rows of sum 1 or 0.

    Both need concepts. Near is what has a high cosine over terms and among the concepts.
    """
    from scipy.sparse import csr_matrix, vstack  # noqa: PLC0415 - heavy

    count = min(NEIGHBOURS, len(sample))
    others = sample.rows.T.tocsr()
    parts = [csr_matrix((0, len(sample)))]
    for start in range(0, len(batch), _ROWS):
        end = min(start + _ROWS, len(batch))
        rows = sample.vocabulary.rows(batch.vectors[start:end])
        alike = (rows @ others).toarray() + batch.places[-1][start:end] @ sample.places[-1].T
        alike[alike > _SAME] = 0.0
        best = np.argpartition(-alike, count - 1, axis=1)[:, :count]
        weights = np.square(np.take_along_axis(alike, best, axis=1).clip(0.0))
        weights /= weights.sum(axis=1, keepdims=True) + _TINY
        places = np.repeat(np.arange(end - start), count)
        shape = (end - start, len(sample))
        parts.append(csr_matrix((weights.ravel(), (places, best.ravel())), shape=shape))
    return vstack(parts, format="csr")
