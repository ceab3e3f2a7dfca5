"""Plain methods that the topics' own are compared with, by name beside those once this is imported."""

from collections.abc import Sequence
from typing import Final

from classifier.papers.rankers import Fitted, LinearRanker, Scores, trained
from classifier.papers.similarity import topic_vector
from classifier.topic.methods import FITTERS, ByKeyword, Setting, ranked
from classifier.words.background import Background, tf_idf
from classifier.words.batch import PageBatch, Terms, np_array
from classifier.words.evidence import Evidence
from classifier.words.keywords import Keywords
from classifier.words.vectors import Vector, mean, top, truncated, unit

RIVALS: Final = ("keyword", "bm25", "tfidf_centroid", "one_class_svm")
# Terms of the query that BM25 makes of its examples.
BM25_TERMS: Final = 20
_K1: Final = 1.2
_B: Final = 0.75
_NU: Final = 0.5
# Terms used in place of missing key words.
KEYWORDS_OF_EXAMPLES: Final = 10


class Bm25Ranker(Fitted):
    """Okapi BM25 (k1 1.2, b 0.75) with the heaviest tf-idf terms of the examples as the query."""

    def __init__(
        self, positives: Sequence[Terms], negatives: Sequence[Terms], background: Background
    ) -> None:
        """Choose the query; page lengths are relative to the mean of all given pages."""
        centre = mean([unit(tf_idf(page, background)) for page in positives])
        self._query = {term: background.idf(term) for term, _ in top(centre, BM25_TERMS)}
        lengths = [sum(page.values()) for page in [*positives, *negatives]]
        self._mean_length = max(sum(lengths) / max(len(lengths), 1), 1.0)

    def scores(self, batch: PageBatch) -> Scores:
        """Return BM25 scores."""
        return np_array([sum(self._shares(page).values()) for page in batch.pages])

    def terms(self, page: Terms, count: int) -> list[tuple[str, float]]:
        """Return the query's terms on the page."""
        return top(self._shares(page), count)

    def _shares(self, page: Terms) -> Vector:
        length = _K1 * (1 - _B + _B * sum(page.values()) / self._mean_length)
        return {
            term: idf * page[term] * (_K1 + 1) / (page[term] + length)
            for term, idf in self._query.items()
            if term in page
        }


def one_class_svm(
    positives: Sequence[Terms],
    negatives: Sequence[Terms],  # noqa: ARG001 - it needs none
    background: Background,
) -> LinearRanker:
    """Return a one-class SVM with a linear kernel (paper 001): positives only."""
    from sklearn.svm import OneClassSVM  # noqa: PLC0415 - heavy

    machine = OneClassSVM(kernel="linear", nu=_NU)
    return trained(positives, background, lambda rows: machine.fit(rows).coef_.toarray()[0])


def _fit_keyword(evidence: Evidence, setting: Setting) -> Fitted:
    keywords = Keywords(evidence.keywords)
    if not keywords:
        chosen = truncated(topic_vector(evidence, setting.background), KEYWORDS_OF_EXAMPLES)
        keywords.phrases = {term: (term,) for term in chosen}
    return ByKeyword(keywords, setting.background)


FITTERS.update(
    keyword=_fit_keyword,
    bm25=ranked(Bm25Ranker),
    one_class_svm=ranked(one_class_svm),
)
