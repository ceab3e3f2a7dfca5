"""Candidates and pages of discovery by meaning, beside what their operators and rankers know of them.

::

    candidates, by evidence ── the first 200 ── title and snippet, or anchor ──> vectors ──> topic's score
        places by evidence and by meaning ── reciprocal ranks ──> order of reading
    pages read ── their vectors ──> topic's score ──> one more ranking of the fusion

Whatever has no vector stands in the middle, so that meaning neither helps nor harms it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from classifier.embedding.meaning import Meaning
from classifier.links.meaning import standings
from classifier.links.text import says_something
from classifier.papers.page_ranking import reciprocal_rank
from classifier.topic.model import TopicModel
from classifier.words.values import PageText
from incremental.features.discovery.operators import Candidate
from incremental.topics.embedding.page_embedder import PageEmbedder

# Candidates of one round whose texts are embedded; those after them stay where they are.
RANKED: Final = 200
# Of a title with its snippet, characters that are embedded.
MAX_CHARS: Final = 300
REMEMBERED: Final = 5_000


class ByMeaning:
    """Of one topic. Not thread-safe."""

    def __init__(self, model: TopicModel, embedder: PageEmbedder) -> None:
        self._model = model
        self._embedder = embedder
        self._vectors: OrderedDict[str, Meaning] = OrderedDict()

    def order(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return candidates, given by their evidence, in the order in which to read them."""
        first = list(candidates[:RANKED])
        texts = [" ".join(one.text.split())[:MAX_CHARS] for one in first]
        said = self._scores(self._meanings(texts))
        if np.isnan(said).all():
            return list(candidates)
        evidence = [one.evidence for one in first]
        together = reciprocal_rank([evidence, in_the_middle(said)])
        places = np.argsort(-together, kind="stable").tolist()
        return [*(first[place] for place in places), *candidates[RANKED:]]

    def of_pages(self, meanings: Sequence[Meaning | None]) -> NDArray[np.float64]:
        """Return the topic's scores of read pages by their vectors; NaN = nothing is known."""
        return self._scores(meanings)

    def _scores(self, meanings: Sequence[Meaning | None]) -> NDArray[np.float64]:
        found = standings(self._model, meanings)
        return np.array([np.nan if one is None else one.score for one in found], dtype=np.float64)

    def _meanings(self, texts: Sequence[str]) -> list[Meaning | None]:
        fresh = dict.fromkeys(
            text for text in texts if text not in self._vectors and says_something(text)
        )
        pages = self._embedder.with_meanings([PageText("", title=text) for text in fresh])
        for page in pages:
            if page.meaning is not None:
                self._vectors[page.title] = page.meaning
        found = [self._vectors.get(text) for text in texts]
        while len(self._vectors) > REMEMBERED:
            self._vectors.popitem(last=False)
        return found


def in_the_middle(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return *scores* with the median in the place of NaN; all 0 if there is no other."""
    known = scores[~np.isnan(scores)]
    return np.where(np.isnan(scores), np.median(known) if len(known) else 0.0, scores)
