"""Makes the methods that learn while they crawl, by name: what benchmarks and the fusion ask for."""

from __future__ import annotations

from typing import Final

from classifier.topic.bayes import Density
from classifier.topic.bayes_scorer import BayesScorer
from classifier.topic.pagerank_scorer import PageRankScorer
from classifier.topic.scoring import OnlineScorer, TopicStart
from classifier.topic.semantic import SemanticSimilarity
from classifier.topic.semantic_tree import SemanticTree
from classifier.topic.similarity_scorer import SimilarityScorer
from classifier.topic.vectors import KnowsIdf
from classifier.topic.vsm import VsmSimilarity, topic_vector

METHODS: Final = ("vsm", "semantic", "bayes_normal", "bayes_kernel", "pagerank")


def online_scorer(
    method: str, start: TopicStart, idf: KnowsIdf, tree: SemanticTree | None = None
) -> OnlineScorer:
    """Return a scorer that has seen nothing but what the user gave.

    ``tree``: for ``semantic`` only; without one it falls back to exact terms and says so in its notes.

    Raises:
        ValueError: an unknown method.
    """
    if method == "vsm":
        return SimilarityScorer(VsmSimilarity(topic_vector(start, idf)), idf)
    if method == "semantic":
        return SimilarityScorer(SemanticSimilarity(topic_vector(start, idf), tree), idf)
    if method in {"bayes_normal", "bayes_kernel"}:
        return BayesScorer(start, idf, Density(method.removeprefix("bayes_")))
    if method == "pagerank":
        return PageRankScorer()
    raise ValueError(f"method is {method!r}, must be one of {', '.join(METHODS)}")
