"""Ranking the pages that discovery read: paper 001's rankers, ours, and their combinations.

::

    seeds, pages read, links  ->  a score for each page and ranker
      paper 001   nb · lr · one_class · cosine · jaccard (its features) · pagerank -> combined_f (8)
      ours        centroid · logistic (tf-idf), with cosine and lr                  -> fusion (ranks)

Positives are the seeds; key words, the paper's features, are the seeds' heaviest terms.

Rankings are combined by paper 001's formula (8), and by reciprocal ranks; both use only the order of
scores.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from classifier.words.background import Background
from classifier.words.batch import Terms
from classifier.words.vectors import Vocabulary, cosine, dot, mean, top, unit

DAMPING: Final = 0.85
# The iteration ends when the ranks' total change is below this.
TOLERANCE: Final = 1e-9
MAX_ITERATIONS: Final = 200


def pagerank(
    sources: Sequence[int] | NDArray[np.int32],
    targets: Sequence[int] | NDArray[np.int32],
    count: int,
    *,
    damping: float = DAMPING,
) -> NDArray[np.float64]:
    """Return the rank of each of ``count`` nodes, summing to 1; a link given twice counts twice.

    ValueError if damping is not in [0, 1), or a link leaves the nodes.
    """
    # With 1 the iteration may never converge.
    if not 0.0 <= damping < 1.0:
        raise ValueError(f"damping is {damping}, must be from 0 to below 1")
    if not count:
        return np.zeros(0)
    from scipy.sparse import csr_matrix  # noqa: PLC0415 - heavy

    begins, ends = np.asarray(sources, dtype=np.int64), np.asarray(targets, dtype=np.int64)
    both = np.concatenate([begins, ends])
    if len(both) and not 0 <= both.min() <= both.max() < count:
        raise ValueError(f"a link begins or ends outside the {count} nodes")
    links = np.bincount(begins, minlength=count)
    matrix = csr_matrix((1.0 / links[begins], (ends, begins)), shape=(count, count))
    dangling = links == 0
    ranks = np.full(count, 1.0 / count)
    for _ in range(MAX_ITERATIONS):
        # Pages without links, fetched or not, spread their rank over all, so that the ranks sum to 1.
        lent = damping * float(ranks[dangling].sum()) + 1.0 - damping
        following: NDArray[np.float64] = damping * (matrix @ ranks) + lent / count
        change = float(np.abs(following - ranks).sum())
        ranks = following
        if change < TOLERANCE:
            break
    total: float = ranks.sum()
    return ranks / total


Floats = NDArray[np.float64]

# Weight of the PageRank position, as in the paper.
ALPHA = 0.2
# Cormack, Clarke and Büttcher, SIGIR 2009: damps the first few places.
RECIPROCAL_OFFSET = 60.0
# The rankers of formula (8)'s mean position.
PAPER: Final = ("nb", "lr", "one_class", "cosine", "jaccard")
# Rankers of the fusion: two views of the terms, each with and without negatives.
# Chosen among eight sets on the runs of docs/finding-further-sites.md.
OURS: Final = ("centroid", "logistic", "cosine", "lr")
COMBINED: Final = ("combined_f", "fusion")
NAMES: Final = (*PAPER, "pagerank", "centroid", "logistic", *COMBINED)
KEYWORDS: Final = 200
# Negatives come from this share of the pages, the least similar: there is no training set, and the paper
# draws them from the web at large.
NEGATIVE_SHARE: Final = 0.5
MAX_NEGATIVES: Final = 200
MIN_NEGATIVES: Final = 5
# Columns that terms are hashed into.
WIDTH: Final = 2**16


def positions(scores: Sequence[float] | Floats) -> Floats:
    """Return the position of each score, 1 = highest; ties share the mean, NaN ranks last."""
    from scipy.stats import rankdata  # noqa: PLC0415 - heavy

    # Ties share, so that the order of arrival does not matter.
    given = np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=-np.inf, posinf=np.inf)
    return np.asarray(rankdata(-given), dtype=np.float64)


def combined_function(
    rankings: Sequence[Sequence[float] | Floats],
    pagerank: Sequence[float] | Floats | None = None,
    *,
    alpha: float = ALPHA,
) -> Floats:
    """Return formula (8) for each page, smaller is better: (1 - alpha) mean position + alpha PageRank's.

    *rankings* hold one score per page, higher is better. Without *pagerank* only the mean counts.
    ValueError if they do not match, or alpha is not from 0 to 1.
    """
    if not rankings or len({len(one) for one in rankings}) != 1:
        raise ValueError("give one or more rankings, each with a score for every page")
    if not 0.0 <= alpha <= 1.0:
        raise ValueError(f"alpha is {alpha}, must be from 0 to 1")
    mean: Floats = np.mean([positions(one) for one in rankings], axis=0)
    if pagerank is None:
        return mean
    return (1.0 - alpha) * mean + alpha * positions(pagerank)


def reciprocal_rank(
    rankings: Sequence[Sequence[float] | Floats], *, offset: float = RECIPROCAL_OFFSET
) -> Floats:
    """Return the sum of 1 / (offset + position) over the rankings, larger is better."""
    total: Floats = np.sum([1.0 / (offset + positions(one)) for one in rankings], axis=0)
    return total


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
        alpha: float = ALPHA,
    ) -> None:
        self._background = background
        self._seeds = list(seeds.values())
        self._rejected = list(rejected)
        self._alpha = alpha
        self._pages: dict[str, Terms] = {}
        self._targets: dict[str, tuple[str, ...]] = {}
        self._rows: list[Any] = []
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
        self._rows.append(_row(vector))
        self._static["centroid"].append(dot(vector, self._centre))
        self._static["cosine"].append(cosine(terms, self._mean))
        self._static["jaccard"].append(_overlap(set(terms), self._seeds))

    @property
    def urls(self) -> list[str]:
        """The pages in the order they were added, as in scores."""
        return list(self._pages)

    def scores(self, names: Sequence[str] = NAMES) -> dict[str, Floats]:
        """Return the scores of each ranker, higher is better."""
        wanted = set(names)
        if "combined_f" in names:
            wanted |= {*PAPER, "pagerank"}
        if "fusion" in names:
            wanted |= set(OURS)
        found = {name: np.asarray(scores) for name, scores in self._static.items()}
        if "logistic" in wanted:
            found["logistic"] = self._logistic_on_terms()
        if wanted & {"nb", "lr", "one_class"}:
            found |= self._paper(wanted)
        if "pagerank" in wanted:
            found["pagerank"] = self._ranks()
        if "combined_f" in names:
            parts = [found[name] for name in PAPER]
            found["combined_f"] = -combined_function(parts, found["pagerank"], alpha=self._alpha)
        if "fusion" in names:
            found["fusion"] = reciprocal_rank([found[name] for name in OURS])
        return {name: found[name] for name in names}

    def ranked(self, name: str = "fusion") -> list[str]:
        """Return the pages, best first; ties in the order they were added."""
        order = np.argsort(-self.scores([name])[name], kind="stable")
        urls = self.urls
        return [urls[place] for place in order]

    def _logistic_on_terms(self) -> Floats:
        """Logistic regression on tf-idf; without negatives the cosine to the seeds' mean."""
        from scipy.sparse import vstack  # noqa: PLC0415 - heavy

        turned_down = [_row(self._background.vector(terms)) for terms in self._rejected]
        others = [self._rows[place] for place in self._negative_places()]
        negatives = [*turned_down, *others][:MAX_NEGATIVES]
        if len(negatives) < MIN_NEGATIVES:
            return np.asarray(self._static["centroid"])
        training = vstack([*self._rows[: len(self._seeds)], *negatives])
        labels = [1] * len(self._seeds) + [0] * len(negatives)
        return _logistic(training, labels, vstack(self._rows), strength=10.0)

    def _negative_places(self) -> list[int]:
        """Return places of pages from the half least like the seeds, evenly spaced."""
        scores = np.asarray(self._static["centroid"])
        order = np.argsort(scores, kind="stable")[: int(NEGATIVE_SHARE * len(scores))]
        step = max(len(order) // MAX_NEGATIVES, 1)
        # The seeds were added first.
        return [int(place) for place in order[::step] if place >= len(self._seeds)]

    def _paper(self, names: set[str]) -> dict[str, Floats]:
        """Return the scores of the paper's rankers on its features."""
        rows = self._keywords.rows([*self._pages.values(), *self._rejected]).toarray()
        counts, rejected = rows[: len(self)], rows[len(self) :]
        own, others = len(self._seeds), self._negative_places()
        found: dict[str, Floats] = {}
        if "one_class" in names:
            found["one_class"] = _one_class(_both(counts[:own]), _both(counts))
        negatives = np.vstack([rejected, counts[others]])[:MAX_NEGATIVES]
        if len(negatives) < MIN_NEGATIVES:
            # Too early: rankers that need negatives stay out.
            return found | dict.fromkeys(("lr", "nb"), np.zeros(len(self)))
        training, labels = np.vstack([counts[:own], negatives]), [1] * own + [0] * len(negatives)
        if "lr" in names:
            found["lr"] = _logistic(training > 0, labels, counts > 0)
        if "nb" in names:
            from sklearn.naive_bayes import GaussianNB  # noqa: PLC0415 - heavy

            lengths = np.array([[len(url), len(urlsplit(url).netloc)] for url in self._pages])
            # A text that was rejected has no address.
            given = np.vstack([np.zeros((len(rejected), 2)), lengths[others]])[:MAX_NEGATIVES]
            features = np.hstack([np.vstack([lengths[:own], given]), training])
            machine = GaussianNB(var_smoothing=1e-2).fit(features, labels)
            chances = machine.predict_joint_log_proba(np.hstack([lengths, counts]))
            found["nb"] = np.asarray(chances[:, 1] - chances[:, 0])
        return found

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


def _row(vector: Mapping[str, float]) -> Any:  # noqa: ANN401 - scipy has no types
    """Return a tf-idf vector as a hashed sparse row; few terms share a column."""
    return _hasher().transform([vector])


@cache
def _hasher() -> Any:  # noqa: ANN401 - scikit-learn has no types
    from sklearn.feature_extraction import FeatureHasher  # noqa: PLC0415 - heavy

    return FeatureHasher(WIDTH, alternate_sign=False)


def _logistic(
    rows: Any,  # noqa: ANN401 - an array or a sparse matrix
    labels: Sequence[int],
    pages: Any,  # noqa: ANN401 - an array or a sparse matrix
    *,
    strength: float = 1.0,
) -> Floats:
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - heavy

    if not rows.shape[1]:
        return np.zeros(len(pages))
    # The dual takes milliseconds for few rows and many columns.
    machine: Any = LogisticRegression(
        C=strength,
        class_weight="balanced",
        solver="liblinear",
        dual=True,
        max_iter=1_000,
        random_state=0,
    ).fit(rows, labels)
    return np.asarray(machine.decision_function(pages), dtype=np.float64)
