"""The rival with a training set: a page classifier trained on the labels of half the graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import md5
from typing import TYPE_CHECKING

from classifier.words.background import Background, tf_idf
from classifier.words.text import weighted_terms
from classifier.words.vectors import Vocabulary, unit

if TYPE_CHECKING:
    from harvest_graph import Graph

    from classifier.words.values import PageText

# Training pages that a term must stand on.
MIN_PAGES = 2
# Of the logistic regression: little shrinkage, the rows are of length 1.
C = 10.0


class TrainedClassifiers:
    """Trains one classifier for each topic that asks; all share the pages' rows."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._urls = [
            url for url in sorted(graph.topics) if graph.topics[url] and is_training_page(url)
        ]
        self._background = Background()
        pages = [weighted_terms(graph.fetch(url).text) for url in self._urls]
        self._vocabulary = _shared_terms(pages)
        self._rows = self._vocabulary.rows([unit(tf_idf(page, self._background)) for page in pages])

    def classifier(self, topic: str) -> Callable[[PageText], float]:
        """Return the probability that a page is on *topic*."""
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - heavy

        labels = [self._graph.is_on_topic(url, topic) is True for url in self._urls]
        if len(set(labels)) < 2:  # noqa: PLR2004 - both classes
            return lambda _: 0.0
        model = LogisticRegression(C=C, class_weight="balanced", max_iter=200)
        model.fit(self._rows, labels)

        def probability(page: PageText) -> float:
            row = self._vocabulary.rows([unit(tf_idf(weighted_terms(page), self._background))])
            return float(model.predict_proba(row)[0, 1])

        return probability


def _shared_terms(pages: Sequence[Mapping[str, float]]) -> Vocabulary:
    counts = Counter(term for page in pages for term in page)
    kept = sorted(term for term, count in counts.items() if count >= MIN_PAGES)
    return Vocabulary({term: column for column, term in enumerate(kept)})


def is_training_page(url: str) -> bool:
    """Return whether a page is in the half whose labels may be learned: its MD5 is even."""
    return int(md5(url.encode(), usedforsecurity=False).hexdigest(), 16) % 2 == 0
