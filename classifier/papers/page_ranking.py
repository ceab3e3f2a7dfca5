"""Ranking the pages that discovery read, by paper 001.

::

    seeds, pages read, links  ->  nb · lr · one_class · cosine · jaccard · pagerank  ->  formula (8)

Positives are the seeds; key words, the paper's features, are the seeds' heaviest terms. Formula (8) uses
only the order of scores. Rankers of our own and their sum of reciprocal ranks ordered pages better, but chose
worse ones to go on from (docs/finding-further-sites.md).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from classifier.words.background import Background
from classifier.words.batch import Terms
from classifier.words.vectors import Vocabulary, cosine, dot, mean, top, unit

Floats = NDArray[np.float64]

DAMPING: Final = 0.85
# The iteration ends when the ranks' total change is below this.
TOLERANCE: Final = 1e-9
MAX_ITERATIONS: Final = 200


def pagerank(sources: Sequence[int], targets: Sequence[int], count: int) -> Floats:
    """Return the rank of each of ``count`` nodes, summing to 1; a link given twice counts twice."""
    if not count:
        return np.zeros(0)
    from scipy.sparse import csr_matrix  # noqa: PLC0415 - heavy

    begins, ends = np.asarray(sources, dtype=np.int64), np.asarray(targets, dtype=np.int64)
    links = np.bincount(begins, minlength=count)
    matrix = csr_matrix((1.0 / links[begins], (ends, begins)), shape=(count, count))
    dangling = links == 0
    ranks = np.full(count, 1.0 / count)
    for _ in range(MAX_ITERATIONS):
        # Pages without links, fetched or not, spread their rank over all, so that the ranks sum to 1.
        lent = DAMPING * float(ranks[dangling].sum()) + 1.0 - DAMPING
        following: Floats = DAMPING * (matrix @ ranks) + lent / count
        change = float(np.abs(following - ranks).sum())
        ranks = following
        if change < TOLERANCE:
            break
    total: float = ranks.sum()
    return ranks / total


# Weight of the PageRank position, as in the paper.
ALPHA = 0.2
# The rankers of formula (8)'s mean position.
PAPER: Final = ("nb", "lr", "one_class", "cosine", "jaccard")
KEYWORDS: Final = 200
# Negatives come from this share of the pages, the least similar: there is no training set, and the paper
# draws them from the web at large.
NEGATIVE_SHARE: Final = 0.5
MAX_NEGATIVES: Final = 200
MIN_NEGATIVES: Final = 5


def positions(scores: Sequence[float] | Floats) -> Floats:
    """Return the position of each score, 1 = highest; ties share the mean, NaN ranks last."""
    from scipy.stats import rankdata  # noqa: PLC0415 - heavy

    # Ties share, so that the order of arrival does not matter.
    given = np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=-np.inf, posinf=np.inf)
    return np.asarray(rankdata(-given), dtype=np.float64)


def combined_function(rankings: Sequence[Floats], pagerank: Floats) -> Floats:
    """Return formula (8) for each page, smaller is better: (1 - ALPHA) mean position + ALPHA PageRank's.

    *rankings* hold one score per page, higher is better.
    """
    mean: Floats = np.mean([positions(one) for one in rankings], axis=0)
    return (1.0 - ALPHA) * mean + ALPHA * positions(pagerank)


class PageRanking:
    """Pages of one topic as they are read; every call ranks all of them again.

    *rejected* are texts that the user rejected: negatives that come before any other.
    """

    def __init__(
        self,
        background: Background,
        seeds: Mapping[str, Terms],
        *,
        rejected: Sequence[Terms] = (),
    ) -> None:
        self._background = background
        self._seeds = list(seeds.values())
        self._rejected = list(rejected)
        self._pages: dict[str, Terms] = {}
        self._targets: dict[str, tuple[str, ...]] = {}
        vectors = [background.vector(terms) for terms in self._seeds]
        heaviest = top(mean(vectors), KEYWORDS)
        self._keywords = Vocabulary({term: column for column, (term, _) in enumerate(heaviest)})
        self._static: dict[str, list[float]] = {"cosine": [], "jaccard": [], "centroid": []}
        self._mean = mean([unit(page) for page in self._seeds])
        self._centre = unit(mean(vectors))
        for url, terms in seeds.items():
            self.add(url, terms)

    def __len__(self) -> int:
        return len(self._pages)

    def add(self, url: str, terms: Terms, targets: Sequence[str] = ()) -> None:
        """Add a page and its links; adding it again changes only its links."""
        self._targets[url] = tuple(targets)
        if url in self._pages:
            return
        self._pages[url] = terms
        vector = self._background.vector(terms)
        self._static["centroid"].append(dot(vector, self._centre))
        self._static["cosine"].append(cosine(terms, self._mean))
        self._static["jaccard"].append(_overlap(set(terms), self._seeds))

    @property
    def urls(self) -> list[str]:
        """The pages in the order they were added, as in scores."""
        return list(self._pages)

    def scores(self) -> dict[str, Floats]:
        """Return the scores of each page by each ranker, higher is better."""
        found = {name: np.asarray(scores) for name, scores in self._static.items()}
        return found | self._paper() | {"pagerank": self._ranks()}

    def ranked(self) -> list[str]:
        """Return the pages, best first by formula (8); ties in the order they were added."""
        scores = self.scores()
        combined = combined_function([scores[name] for name in PAPER], scores["pagerank"])
        urls = self.urls
        return [urls[place] for place in np.argsort(combined, kind="stable")]

    def _negative_places(self) -> list[int]:
        """Return places of pages from the half least like the seeds, evenly spaced."""
        scores = np.asarray(self._static["centroid"])
        order = np.argsort(scores, kind="stable")[: int(NEGATIVE_SHARE * len(scores))]
        step = max(len(order) // MAX_NEGATIVES, 1)
        # The seeds were added first.
        return [int(place) for place in order[::step] if place >= len(self._seeds)]

    def _paper(self) -> dict[str, Floats]:
        """Return the scores of the paper's rankers on its features."""
        rows = self._keywords.rows([*self._pages.values(), *self._rejected]).toarray()
        counts, rejected = rows[: len(self)], rows[len(self) :]
        own, others = len(self._seeds), self._negative_places()
        found = {"one_class": _one_class(_both(counts[:own]), _both(counts))}
        negatives = np.vstack([rejected, counts[others]])[:MAX_NEGATIVES]
        if len(negatives) < MIN_NEGATIVES:
            # Too early: rankers that need negatives stay out.
            return found | dict.fromkeys(("lr", "nb"), np.zeros(len(self)))
        training, labels = np.vstack([counts[:own], negatives]), [1] * own + [0] * len(negatives)
        from sklearn.naive_bayes import GaussianNB  # noqa: PLC0415 - heavy

        lengths = np.array([[len(url), len(urlsplit(url).netloc)] for url in self._pages])
        # A text that was rejected has no address.
        given = np.vstack([np.zeros((len(rejected), 2)), lengths[others]])[:MAX_NEGATIVES]
        features = np.hstack([np.vstack([lengths[:own], given]), training])
        machine = GaussianNB(var_smoothing=1e-2).fit(features, labels)
        chances = machine.predict_joint_log_proba(np.hstack([lengths, counts]))
        return found | {
            "lr": _logistic(training > 0, labels, counts > 0),
            "nb": np.asarray(chances[:, 1] - chances[:, 0]),
        }

    def _ranks(self) -> Floats:
        """PageRank on the links between all known URLs."""
        numbers: dict[str, int] = {url: number for number, url in enumerate(self._pages)}
        sources, targets = [], []
        for url, links in self._targets.items():
            for link in dict.fromkeys(links):
                if link != url:
                    sources.append(numbers[url])
                    targets.append(numbers.setdefault(link, len(numbers)))
        return pagerank(sources, targets, len(numbers))[: len(self._pages)]


def _overlap(page: set[str], examples: Sequence[Terms]) -> float:
    """Return the mean Jaccard index of a page's terms and each example's (paper 001)."""
    shares = [len(page & one.keys()) / (len(page | one.keys()) or 1) for one in examples]
    return sum(shares) / max(len(shares), 1)


def _both(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return frequencies and presence side by side."""
    return np.hstack([counts, counts > 0])


def _one_class(seeds: NDArray[np.float64], pages: NDArray[np.float64]) -> Floats:
    from sklearn.svm import OneClassSVM  # noqa: PLC0415 - heavy

    if not seeds.shape[1]:
        return np.zeros(len(pages))
    machine: Any = OneClassSVM(gamma="scale", nu=0.5).fit(seeds)
    return np.asarray(machine.decision_function(pages), dtype=np.float64)


def _logistic(rows: NDArray[np.bool_], labels: Sequence[int], pages: NDArray[np.bool_]) -> Floats:
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - heavy

    if not rows.shape[1]:
        return np.zeros(len(pages))
    # The dual takes milliseconds for few rows and many columns.
    machine: Any = LogisticRegression(
        class_weight="balanced",
        solver="liblinear",
        dual=True,
        max_iter=1_000,
        random_state=0,
    ).fit(rows, labels)
    return np.asarray(machine.decision_function(pages), dtype=np.float64)
