"""Are the examples of one topic? Two groups with nothing in common are two topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from classifier.topic.fusion import Centre, Scale
from classifier.words.batch import PageBatch
from classifier.words.evidence import Evidence
from classifier.words.values import Note

# Two pages may share a topic if this many standard deviations more alike than with a sample page.
ALIKE: Final = 0.5
# Fewer pages do not show typical similarities.
_MIN_SAMPLE: Final = 200
_NAMED: Final = 3


def disagreeing(evidence: Evidence, sample: PageBatch) -> list[Note]:
    """Return a warning if the examples fall into groups, else nothing."""
    count = len(evidence.examples)
    if count < 2 or len(sample) < _MIN_SAMPLE:  # noqa: PLR2004 - one cannot disagree
        return []
    groups = _groups(_likeness(evidence.examples, sample))
    if len(groups) < 2:  # noqa: PLR2004 - one topic
        return []
    smallest = min(groups, key=len)
    urls = ", ".join(evidence.example_urls[index] for index in smallest[:_NAMED])
    return [Note("disagree", {"urls": urls})]


def _likeness(examples: Sequence[dict[str, float]], sample: PageBatch) -> NDArray[np.float64]:
    """Return each pair's likeness, standardised by the examples' likeness to sample pages."""
    batch = PageBatch(examples, sample.background, sample)
    rows = []
    for index in range(len(batch)):
        centre = Centre.of(batch, [index])
        scale = Scale.measured(centre.views(sample))
        rows.append(scale.standardised(centre.views(batch)).mean(axis=0))
    likeness = np.array(rows)
    return np.asarray((likeness + likeness.T) / 2)


def _groups(likeness: NDArray[np.float64]) -> list[list[int]]:
    """Return the connected components of similar pairs."""
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 - heavy

    count, labels = connected_components(likeness > ALIKE, directed=False)
    return [
        [index for index, label in enumerate(labels) if label == group] for group in range(count)
    ]
