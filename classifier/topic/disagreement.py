"""Do the examples speak of one thing? Two groups that are nothing like each other are two topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from classifier.topic.batch import PageBatch
from classifier.topic.evidence import Evidence
from classifier.topic.fusion import Centre, Scale

# Standard deviations above a page of the sample at which two pages may be of one topic.
ALIKE: Final = 0.5
# Of fewer pages nothing can be said about what is usual.
_MIN_SAMPLE: Final = 200
_NAMED: Final = 3


def disagreeing(evidence: Evidence, sample: PageBatch) -> list[str]:
    """Return a warning when the examples fall into groups, else nothing."""
    count = len(evidence.examples)
    if count < 2 or len(sample) < _MIN_SAMPLE:  # noqa: PLR2004 - one cannot disagree
        return []
    groups = _groups(_likeness(evidence.examples, sample))
    if len(groups) < 2:  # noqa: PLR2004 - likewise
        return []
    smallest = min(groups, key=len)
    urls = ", ".join(evidence.example_urls[index] for index in smallest[:_NAMED])
    return [f"the examples disagree: two topics? {urls} has little in common with the others"]


def _likeness(examples: Sequence[dict[str, float]], sample: PageBatch) -> NDArray[np.float64]:
    """Return how alike each pair is, beside how alike an example is to a page of the sample."""
    batch = PageBatch(examples, sample.background, sample)
    rows = []
    for index in range(len(batch)):
        centre = Centre.of(batch, [index])
        scale = Scale.measured(centre.views(sample))
        rows.append(scale.standardised(centre.views(batch)).mean(axis=0))
    likeness = np.array(rows)
    return np.asarray((likeness + likeness.T) / 2)


def _groups(likeness: NDArray[np.float64]) -> list[list[int]]:
    """Return the connected components of the pairs that are alike."""
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 - heavy

    count, labels = connected_components(likeness > ALIKE, directed=False)
    return [
        [index for index, label in enumerate(labels) if label == group] for group in range(count)
    ]
