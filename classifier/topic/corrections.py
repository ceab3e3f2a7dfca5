"""What a user's corrections do to pages like them, whatever method judges.

::

    pull(page) = 1 - product over corrected pages c of (1 - (cos(page, c) - NEAR) / (1 - NEAR))
    shift(page) = STRENGTH * (pull of relevant pages - pull of irrelevant pages)

The methods of the papers know no page that is off topic (000, 002), or take it for one of many (004):
by themselves most would judge a rejected page as before. So a shift is added to each method's score, in
the sample's standard deviations. The corrected page itself moves by nearly all of it, a page that shares
nothing with it by nothing, and each further correction like a page moves it further. ``fused`` moves its
centre away from rejected pages by itself; the shift on top gained it nothing (average precision on labelled
abstracts, eight fields, six pages rejected that had stood highest: .270 with it, .278 without, both when
that move was twice as strong).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from classifier.topic.background import Background
from classifier.topic.batch import PageBatch, Terms
from classifier.topic.evidence import Evidence

Scores = NDArray[np.float64]

# Standard deviations by which the corrected page itself moves.
STRENGTH: Final = 2.0
# Cosine of tf-idf vectors up to which pages share no more than any two do.
NEAR: Final = 0.05


class Corrections:
    """The corrected pages of one topic as vectors; immutable."""

    @classmethod
    def of_method(cls, method: str, evidence: Evidence, background: Background) -> Self:
        """Return what a method is to be shifted by; nothing for one that learns of corrections itself."""
        return cls(Evidence() if method == "fused" else evidence, background)

    def __init__(self, evidence: Evidence, background: Background) -> None:
        self._relevant = [background.vector(page) for page in evidence.relevant]
        self._irrelevant = [background.vector(page) for page in evidence.irrelevant]

    def __bool__(self) -> bool:
        return bool(self._relevant or self._irrelevant)

    def shifts(self, batch: PageBatch) -> Scores:
        """Return what each page gains (above 0) or loses, shape (pages,)."""
        pulls = _pull(batch, self._relevant) - _pull(batch, self._irrelevant)
        return STRENGTH * pulls


def _pull(batch: PageBatch, vectors: Sequence[Terms]) -> Scores:
    if not vectors:
        return np.zeros(len(batch))
    near = ((batch.likeness(vectors) - NEAR) / (1.0 - NEAR)).clip(0.0, 1.0)
    return np.asarray(1.0 - np.prod(1.0 - near, axis=1), dtype=np.float64)
