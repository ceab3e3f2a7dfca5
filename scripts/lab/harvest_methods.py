"""The orderings that the harvest benchmark compares, by name.

::

    bfs                         nothing: the oldest link first
    best_first, _anchor         cosine of the best known parent to the seeds' mean (+ the anchor's)
    best_first_trained          the same with a classifier that was trained on labels
    keyword                     the topic's words in link and parent
    adaptive, adaptive_guarded  paper 000: the adapting centre's cosine to the best known parent
    vsm, semantic, bayes_*, pagerank   papers 002 and 004 (``paper_orders.py``)
    fused                       the product as it stands: what was learned orders links
    oracle                      reads the labels

``adaptive`` and ``fused`` run the very code of the crawler (``TopicModel``, ``LearnedOrder``), the orders of
the papers their methods in ``classifier.papers``; written out here are the plain rivals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import md5
from typing import Final

from classifier.links.learned_order import LearnedOrder
from classifier.papers.bayes import Density
from classifier.papers.semantic_tree import SemanticTree
from classifier.topic.model import TopicModel
from classifier.words.background import Background, tf_idf
from classifier.words.keywords import Keywords
from classifier.words.segmentation import tokens
from classifier.words.text import language_of_page, link_terms, weighted_terms
from classifier.words.values import LinkContext, PageText
from classifier.words.vectors import Vector, Vocabulary, dot, mean, top, unit
from lab.harvest_graph import Fetched, Graph, Ordering, Waiting
from lab.kept_vectors import Meanings
from lab.paper_orders import (
    BayesOrder,
    LinkOrder,
    PageRankOrder,
    SimilarityOrder,
    plain_vectors,
    semantic_similarity,
)

METHODS: Final = (
    "bfs",
    "best_first",
    "best_first_anchor",
    "best_first_trained",
    "keyword",
    "pagerank",
    "adaptive",
    "adaptive_guarded",
    "vsm",
    "semantic",
    "bayes_normal",
    "bayes_kernel",
    "fused",
    "oracle",
)
# Words of the seeds that stand for the topic where it is to be given by key words.
KEYWORDS: Final = 10
# A crawl that grew by this ranks its whole queue again, if its ordering learned something.
_GROWTH: Final = 1.15
_RANK_EVERY: Final = 10
_FIRST_TRAINING: Final = 20


@dataclass(frozen=True, slots=True)
class Task:
    """What a method knows of the topic: the seeds' pages or their words, never a label."""

    examples: tuple[PageText, ...]
    keywords: tuple[str, ...]
    seeds: frozenset[str]
    """URLs of the pages that the crawl starts from."""
    tree: SemanticTree | None = None
    meanings: Meanings | None = None
    """Vectors for ``fused``; None = words alone."""


@dataclass
class Labels:
    """What ``oracle`` and ``best_first_trained`` know; made once for a topic."""

    graph: Graph
    topic: str
    classifiers: Callable[[], TrainedClassifiers]
    _score: Callable[[PageText], float] | None = None

    def trained(self) -> Callable[[Fetched], float]:
        """Return the trained classifier; the first call reads and learns half the graph."""
        if self._score is None:
            self._score = self.classifiers().classifier(self.topic)
        score = self._score
        return lambda fetched: score(fetched.text)


def task_of(
    examples: list[Fetched],
    *,
    by_keywords: bool,
    tree: SemanticTree | None,
    meanings: Meanings | None = None,
) -> Task:
    """Return what the methods may know of a draw."""
    pages = tuple(example.text for example in examples)
    urls = frozenset(page.url for page in pages)
    if not by_keywords:
        return Task(pages, (), urls, tree, meanings)
    background = Background()
    centre = mean([unit(tf_idf(weighted_terms(page), background)) for page in pages])
    words = tuple(word for word, _ in top(centre, KEYWORDS))
    return Task((), words, urls, tree, meanings)


def ordering(name: str, task: Task, labels: Labels) -> Ordering:
    """Return a fresh ordering; *labels* are for two methods only.

    Raises:
        KeyError: an unknown name.
    """
    made: dict[str, Callable[[], Ordering]] = {
        "bfs": BreadthFirst,
        "best_first": lambda: BestFirst(task, use_anchor=False),
        "best_first_anchor": lambda: BestFirst(task, use_anchor=True),
        "best_first_trained": lambda: ByParent(labels.trained()),
        "keyword": lambda: KeywordOrdering(task),
        "adaptive": lambda: Adaptive(task, name),
        "adaptive_guarded": lambda: Adaptive(task, name),
        "vsm": lambda: Product(task, SimilarityOrder(plain_vectors)),
        "semantic": lambda: Product(task, SimilarityOrder(semantic_similarity)),
        "bayes_normal": lambda: Product(task, BayesOrder(Density.NORMAL)),
        "bayes_kernel": lambda: Product(task, BayesOrder(Density.KERNEL)),
        "pagerank": lambda: Product(task, PageRankOrder()),
        "fused": lambda: Product(task, LearnedOrder()),
        "oracle": lambda: Oracle(labels.graph, labels.topic),
    }
    return made[name]()


class BreadthFirst:
    """The oldest first."""

    def observe(
        self,
        fetched: Fetched,
        led_here: list[LinkContext],  # noqa: ARG002 - part of the interface
        waiting: Waiting,
    ) -> Mapping[str, float]:
        """Promise all links the same."""
        return {link.url: 0.0 for link in fetched.links if link.url in waiting}


@dataclass
class Ranking:
    """Says when a queue is worth ranking again: ever more seldom, as a crawl grows."""

    pages: int = 0
    due: int = _RANK_EVERY

    def is_due(self) -> bool:
        """Count a page; return whether it is time."""
        self.pages += 1
        if self.pages < self.due:
            return False
        self.due = max(self.pages + _RANK_EVERY, int(self.pages * _GROWTH))
        return True


class BestFirst:
    """Cosine of the best known parent to the seeds' mean, tf-idf, and of the best anchor.

    The weights move with the pages fetched, so the queue is ranked again as the crawl grows.
    """

    def __init__(self, task: Task, *, use_anchor: bool) -> None:
        self._task = task
        self._use_anchor = use_anchor
        self._background = Background()
        self._pages: dict[str, tuple[Vector, str]] = {}
        self._scores: dict[str, float] = {}
        self._anchors: dict[tuple[str, str], float] = {}
        self._centre: Vector = {}
        self._ranking = Ranking()

    def observe(
        self,
        fetched: Fetched,
        led_here: list[LinkContext],  # noqa: ARG002 - part of the interface
        waiting: Waiting,
    ) -> Mapping[str, float]:
        """Score the page, then its links by all that is known of them."""
        page = fetched.text
        terms = dict(weighted_terms(page))
        self._background.observe(terms)
        self._pages[page.url] = terms, language_of_page(page)
        if self._ranking.is_due() or page.url in self._task.seeds:
            self._centre = unit(_centre(self._task, self._background))
            self._anchors.clear()
            self._scores = {url: self._score(known) for url, (known, _) in self._pages.items()}
            chosen = list(waiting)
        else:
            self._scores[page.url] = self._score(terms)
            chosen = [link.url for link in fetched.links if link.url in waiting]
        return {url: self._promise(waiting[url]) for url in chosen}

    def _score(self, terms: Vector) -> float:
        return dot(unit(tf_idf(terms, self._background)), self._centre)

    def _promise(self, links: list[LinkContext]) -> float:
        parent = max(self._scores.get(link.parent_url, 0.0) for link in links)
        if not self._use_anchor:
            return parent
        anchors = {(link.anchor, self._pages[link.parent_url][1]) for link in links}
        return parent + max(self._anchor(*anchor) for anchor in anchors)

    def _anchor(self, anchor: str, language: str) -> float:
        found = self._anchors.get((anchor, language))
        if found is None:
            terms = dict.fromkeys(_anchor_terms(anchor, language), 1.0)
            found = self._anchors[anchor, language] = self._score(terms)
        return found


@lru_cache(maxsize=500_000)
def _anchor_terms(anchor: str, language: str) -> tuple[str, ...]:
    return tuple(tokens(anchor, language))


def _centre(task: Task, background: Background) -> Vector:
    """Return the mean of the seeds' unit vectors; of a topic of key words, these words."""
    if task.examples:
        pages = (weighted_terms(page) for page in task.examples)
        return mean([unit(tf_idf(terms, background)) for terms in pages])
    return Keywords(task.keywords).vector(background)


class ByParent:
    """A link is worth what its best known parent is worth."""

    def __init__(self, score: Callable[[Fetched], float]) -> None:
        self._score = score
        self._best: dict[str, float] = {}

    def observe(
        self,
        fetched: Fetched,
        led_here: list[LinkContext],  # noqa: ARG002 - part of the interface
        waiting: Waiting,
    ) -> Mapping[str, float]:
        """Score the page; its links inherit."""
        score = self._score(fetched)
        found = {}
        for link in fetched.links:
            if link.url in waiting:
                best = max(score, self._best.get(link.url, 0.0))
                found[link.url] = self._best[link.url] = best
        return found


class Adaptive(ByParent):
    """Paper 000 as the product has it: a model that judges each page, and moves when it is relevant."""

    def __init__(self, task: Task, method: str) -> None:
        self.model = TopicModel.learn(
            task.examples, task.keywords, background=Background(), method=method
        )

        def score(fetched: Fetched) -> float:
            if fetched.text.url not in task.seeds:
                judged = self.model.judge(fetched.text)
                self.model = self.model.adapted(fetched.text, judged)
            return self.model.judge(fetched.text).score

        super().__init__(score)


class KeywordOrdering(ByParent):
    """The share of the topic's words on the parent, and in the link."""

    def __init__(self, task: Task) -> None:
        background = Background()
        words = {word for word, _ in top(_centre(task, background), KEYWORDS)}
        self._words = words
        super().__init__(lambda fetched: _share(words, weighted_terms(fetched.text)))

    def observe(
        self, fetched: Fetched, led_here: list[LinkContext], waiting: Waiting
    ) -> Mapping[str, float]:
        """Score the page; add what the links say themselves."""
        language = language_of_page(fetched.text)
        inherited = super().observe(fetched, led_here, waiting)
        links = {link.url: link for link in fetched.links}
        return {
            url: score + _share(self._words, link_terms(links[url], language))
            for url, score in inherited.items()
        }


def _share(words: set[str], terms: Mapping[str, float]) -> float:
    return len(words & terms.keys()) / len(words) if words else 0.0


def _likeness(task: Task, url: str) -> float | None:
    return 1.0 if url in task.seeds and task.examples else None


@dataclass
class Product:
    """The product: the topic's model judges each page, an order of links learns from it and promises."""

    task: Task
    links: LinkOrder
    background: Background = field(default_factory=Background)
    ranking: Ranking = field(default_factory=Ranking)
    retrain_at: int = _FIRST_TRAINING
    pages: dict[str, Fetched] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for page in self.task.examples:
            self.background.observe(dict(weighted_terms(page)))
        self.model = self._learned()

    def _learned(self) -> TopicModel:
        task = self.task
        examples = [self._with_meaning(page) for page in task.examples]
        return TopicModel.learn(examples, task.keywords, background=self.background, tree=task.tree)

    def _with_meaning(self, page: PageText) -> PageText:
        """Return a page with its vector; with a model the learned order alone uses it."""
        if self.task.meanings is None or not isinstance(self.links, LearnedOrder):
            return page
        return self.task.meanings.with_meaning(page)

    def observe(
        self, fetched: Fetched, led_here: list[LinkContext], waiting: Waiting
    ) -> Mapping[str, float]:
        """Judge the page, teach, and order what waits."""
        page = self._with_meaning(fetched.text)
        self.pages[page.url] = fetched
        if page not in self.task.examples:
            self.background.observe(dict(weighted_terms(page)))
        self.background.meanings.put(weighted_terms(page), page.meaning)
        likeness = _likeness(self.task, page.url)
        relevance = self.model.judge(page).score if likeness is None else likeness
        self.links.observe(page, led_here, fetched.links, relevance, self.model)
        if self.task.meanings is not None and isinstance(self.links, LearnedOrder):
            self.links.learn_anchors(self.task.meanings.of_anchors(fetched.links))
        self._learn_when_due()
        if self.ranking.is_due():
            chosen = list(waiting)
        else:
            chosen = [link.url for link in fetched.links if link.url in waiting]
        return self._promises(chosen, waiting)

    def _learn_when_due(self) -> None:
        """Fit the model again on what was seen, whenever that has doubled; judge all pages again."""
        if len(self.pages) < self.retrain_at:
            return
        self.retrain_at = 2 * len(self.pages)
        self.background.learn_concepts()
        self.model = self._learned()
        if isinstance(self.links, LearnedOrder):
            self._judge_again(self.links)

    def _judge_again(self, links: LearnedOrder) -> None:
        others = [url for url in self.pages if _likeness(self.task, url) is None]
        judged = self.model.judge_many([self.pages[url].text for url in others])
        terms = [weighted_terms(page.text) for page in self.pages.values()]
        opinions = zip(self.pages, links.likeness(terms, self.model), strict=True)
        links.revalue(
            {url: one.score for url, one in zip(others, judged, strict=True)},
            {url: (opinion, None) for url, (opinion, _) in opinions},
        )

    def _promises(self, urls: list[str], waiting: Waiting) -> dict[str, float]:
        """Return the best promise of each URL; the learned order knows all its parents by itself."""
        alike = isinstance(self.links, LearnedOrder)
        links = [
            link
            for url in urls
            for link in (
                {one.anchor: one for one in waiting[url]}.values() if alike else waiting[url]
            )
        ]
        # The learned order's own scale: as a number from 0 to 1 it would move with the crawl.
        rank = self.links.order if isinstance(self.links, LearnedOrder) else self.links.expect
        best: dict[str, float] = {}
        for link, promise in zip(links, rank(links, self.model), strict=True):
            best[link.url] = max(promise, best.get(link.url, promise))
        return best


class Oracle:
    """Knows the labels: on-topic pages first, then those that lead to most of them."""

    def __init__(self, graph: Graph, topic: str) -> None:
        self._graph = graph
        self._topic = topic

    def observe(
        self,
        fetched: Fetched,
        led_here: list[LinkContext],  # noqa: ARG002 - part of the interface
        waiting: Waiting,
    ) -> Mapping[str, float]:
        """Promise by label."""
        return {link.url: self._promise(link.url) for link in fetched.links if link.url in waiting}

    def _promise(self, url: str) -> float:
        targets = self._graph.targets(url)
        good = sum(self._graph.is_on_topic(target, self._topic) is True for target in targets)
        on_topic = self._graph.is_on_topic(url, self._topic)
        # Unlabelled pages cost budget and nothing else, so they come before pages off topic.
        worth = {True: 2.0, None: 1.0, False: 0.0}[on_topic]
        return worth + good / (len(targets) + 10)


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
