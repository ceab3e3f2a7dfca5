"""Refines guesses about links by the vectors of their texts.

::

    anchor ── embedder ──> vector
    vector ── standings ──> the topic's score by meaning, in the sample's deviations from its mean
    refined = sigmoid(logit(guess by words) + MEANING * standing)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from classifier.embedding.meaning import Meaning
from classifier.topic.fused import FusedTopic
from classifier.topic.model import TopicModel
from classifier.words.batch import PageBatch

# Log-odds for one of the sample's deviations. Larger values helped where only a link's words are known, and
# hurt where its folder or site is more informative (docs/how-links-are-ordered.md, "Links before the fetch").
MEANING: Final = 0.2
# Even a guess of 0 or 1 is uncertain.
_SUREST: Final = 0.01
_REACH: Final = 10.0


@dataclass(frozen=True, slots=True)
class LinkStanding:
    """A link's text compared with a topic by vector."""

    score: float
    """In the sample's standard deviations from its mean, like the scores of pages."""
    example: str
    """URL of the example nearest in meaning; empty for a sentence or a page marked relevant."""
    cosine: float


def standings(model: TopicModel, meanings: Sequence[Meaning | None]) -> list[LinkStanding | None]:
    """Compare the vectors of links' texts with a topic.

    None = nothing: the topic does not judge by meaning, or not in this space.
    """
    scorer = model.fit.scorer
    view = scorer.meaning if isinstance(scorer, FusedTopic) else None
    if view is None or not meanings:
        return [None] * len(meanings)
    raw = model.fit.scale.standardised(view.of_texts(meanings)[None, :])[0]
    evidence = model.evidence
    examples = PageBatch(evidence.positives, model.background, model.fit.setting.sample)
    nearest = view.nearest_of(view.placed(meanings), examples)
    urls = evidence.example_urls
    return [
        None
        if np.isnan(score)
        else LinkStanding(
            float(score),
            urls[number] if 0 <= number < len(urls) else "",
            cosine,
        )
        for score, (number, cosine) in zip(raw.tolist(), nearest, strict=True)
    ]


def refined(guess: float, score: float, weight: float = MEANING) -> float:
    """Return the guess by words, 0 to 1, refined by the vector."""
    known = min(max(guess, _SUREST), 1 - _SUREST)
    said = min(max(score, -_REACH), _REACH)
    return 1 / (1 + math.exp(-(math.log(known / (1 - known)) + weight * said)))
