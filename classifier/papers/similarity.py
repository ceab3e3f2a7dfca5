"""Paper 002's similarity: ``Sim(T, W) = (cosine + semantic) / 2`` (formula 9).

``semantic(T, W) = sum_ij t_i w_j s_ij / sum_ij t_i w_j`` (our reading of formula 8, which the scan lost):
the mean likeness of the topic's terms to the page's, weighted by both. Without a tree two terms have
likeness 1 or 0, and a note says so.

The vector space model is the paper's rival: the cosine alone (formula 4) of term frequencies weighted by
position (formula 3) and rarity, a :class:`~classifier.papers.rankers.LinearRanker` on :func:`topic_vector`.

``Score = delta * Sim(T, V) + (1 - delta) * mean of Sim(T, v_i)`` over the m valid of n child links
(formula 10) is what a page passes on to its links.

Two words are as similar as they are near in a semantic tree (formulas 5 to 7):
``similarity = alpha / (alpha + dist)`` with ``dist = d(X, P) + d(Y, P) + |depth X - depth Y|``, P the
nearest common ancestor of the senses X and Y (our reading: the scan lost formula 6). The best pair of
senses counts. Without a common ancestor similarity is 0; with itself it is 1, even for an unknown word.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from classifier.papers.rankers import Fitted, Scores, shared_terms
from classifier.papers.semantic_tree import SemanticTree
from classifier.words.background import Background
from classifier.words.batch import PageBatch, Terms, np_array
from classifier.words.evidence import Evidence
from classifier.words.keywords import Keywords
from classifier.words.values import Note
from classifier.words.vectors import Vector, mean, truncated, unit

# Distance of similarity 0.5.
ALPHA: Final = 2.0
# Further senses of a word are rare.
MAX_SENSES_PER_WORD: Final = 8
# Of one sense; WordNet's have about forty at most.
MAX_ANCESTORS: Final = 500
_CACHED_WORDS: Final = 100_000


def ancestors(tree: SemanticTree, sense: int) -> dict[int, int]:
    """Return the sense and all above it, each with the fewest edges to it."""
    steps = {sense: 0}
    level = [sense]
    edges = 0
    while level and len(steps) < MAX_ANCESTORS:
        edges += 1
        upper = dict.fromkeys(parent for one in level for parent in tree.parents(one))
        level = [one for one in upper if one not in steps]
        steps.update(dict.fromkeys(level, edges))
    return steps


class TopicAffinity:
    """A word's nearness to the whole topic: ``sum_i t_i s_ij / sum_i t_i`` for word j."""

    # Built once per topic: the edges to each ancestor from each sense of the topic's terms. A new word reads
    # some twenty of these rows.

    def __init__(
        self,
        topic: Mapping[str, float],
        tree: SemanticTree,
        alpha: float = ALPHA,
    ) -> None:
        self._tree = tree
        self._alpha = alpha
        weights = np.array(list(topic.values()), dtype=np.float64)
        total = float(weights.sum())
        self._weights = weights / total if total else weights
        self._places = {term: place for place, term in enumerate(topic)}
        senses = [
            (place, one) for term, place in self._places.items() for one in _senses(tree, term)
        ]
        self._owners = np.array([place for place, _ in senses], dtype=np.int64)
        self._depths = np.array([tree.depth(one) for _, one in senses])
        self._edges: dict[int, NDArray[np.float32]] = {}
        for column, (_, sense) in enumerate(senses):
            for above, steps in ancestors(tree, sense).items():
                unrelated = np.full(len(senses), np.inf, dtype=np.float32)
                self._edges.setdefault(above, unrelated)[column] = steps
        self._affinity = lru_cache(maxsize=_CACHED_WORDS)(self._compute)

    def __call__(self, word: str) -> float:
        """Return the word's affinity, 0 to 1."""
        return self._affinity(word)

    def similarities(self, word: str) -> NDArray[np.float64]:
        """Return the word's similarity to each of the topic's terms, in their order."""
        distances = np.full(len(self._weights), np.inf)
        for sense in _senses(self._tree, word):
            apart = np.abs(self._depths - self._tree.depth(sense))
            for above, steps in ancestors(self._tree, sense).items():
                if above in self._edges:
                    np.minimum.at(distances, self._owners, self._edges[above] + steps + apart)
        similar = self._alpha / (self._alpha + distances)
        if word in self._places:
            similar[self._places[word]] = 1.0
        return similar

    def _compute(self, word: str) -> float:
        return float(self.similarities(word) @ self._weights)


def _senses(tree: SemanticTree, word: str) -> Sequence[int]:
    return tree.senses(word)[:MAX_SENSES_PER_WORD]


# Terms of a topic's vector; an example's other terms are not the topic's.
MAX_TOPIC_TERMS: Final = 100
# Weight of the key words beside examples.
KEYWORD_SHARE: Final = 0.5


def topic_vector(evidence: Evidence, background: Background) -> Vector:
    """Return the topic as a vector of length 1: the mean of its pages, and its key words."""
    pages = [background.vector(page) for page in evidence.positives]
    from_pages = truncated(mean(pages), MAX_TOPIC_TERMS)
    from_words = Keywords(evidence.keywords).vector(background)
    if not from_pages or not from_words:
        return unit(from_pages or from_words)
    shared = {term: (1 - KEYWORD_SHARE) * weight for term, weight in unit(from_pages).items()}
    for term, weight in from_words.items():
        shared[term] = shared.get(term, 0.0) + KEYWORD_SHARE * weight
    return unit(shared)


NO_TREE: Final = Note("no_tree")
# Formula 9 takes the plain mean.
COSINE_SHARE: Final = 0.5


class SemanticSimilarity(Fitted):
    """Formula 9 for one topic and one tree; terms that are only near in the tree count as well."""

    def __init__(self, topic: Vector, background: Background, tree: SemanticTree | None) -> None:
        self._topic = topic
        self._background = background
        self._affinity = TopicAffinity(topic, tree) if tree is not None else None
        self._total = sum(topic.values()) or 1.0

    @property
    def notes(self) -> tuple[Note, ...]:
        """Whether there is no tree."""
        return () if self._affinity is not None else (NO_TREE,)

    def scores(self, batch: PageBatch) -> Scores:
        """Return similarities, 0 to 1; 0 for a page without terms."""
        semantic = np_array([self.semantic(vector) for vector in batch.vectors])
        return COSINE_SHARE * batch.cosines(self._topic) + (1 - COSINE_SHARE) * semantic

    def semantic(self, vector: Mapping[str, float]) -> float:
        """Return formula 8, 0 to 1; 0 for a vector without terms."""
        total = sum(vector.values())
        if not total:
            return 0.0
        # For one topic formula 8 is a weighted mean of one number per word, so a page costs as much as its
        # cosine.
        return sum(weight * self._near(term) for term, weight in vector.items()) / total

    def terms(self, page: Terms, count: int) -> list[tuple[str, float]]:
        """Return the terms that add most to the similarity, with their parts of it."""
        vector = self._background.vector(page)
        total = sum(vector.values()) or 1.0
        weights = {
            term: COSINE_SHARE * self._topic.get(term, 0.0)
            + (1 - COSINE_SHARE) * self._near(term) / total
            for term in vector
        }
        return shared_terms(vector, weights, count)

    def _near(self, term: str) -> float:
        if self._affinity is not None:
            return self._affinity(term)
        return self._topic.get(term, 0.0) / self._total


# The paper's weight of the page itself.
DELTA: Final = 0.8
# The paper names three cases without numbers; our reading: if most links are valid, the others are dropped;
# if few are, links do not count; else all count.
MOST_VALID: Final = 0.7
FEW_VALID: Final = 0.3


def link_score(own: float, children: Sequence[float], valid_from: float) -> float:
    """Return formula 10 for a page of similarity ``own`` and its links' similarities ``children``.

    A link is valid from similarity ``valid_from`` on. A page without links has its own similarity.
    """
    valid = [child for child in children if child >= valid_from]
    share = len(valid) / len(children) if children else 0.0
    if share < FEW_VALID or not children:
        return own
    counted = valid if share > MOST_VALID else children
    return DELTA * own + (1.0 - DELTA) * sum(counted) / len(counted)
