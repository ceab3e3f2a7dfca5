"""The orderings that the harvest benchmark compares, by name.

::

    bfs                    nothing: the oldest link first
    best_first, _anchor    cosine of the best known parent to the seeds' mean (+ the anchor's)
    fused                  the product as it stands: what was learned orders links
    oracle                 reads the labels

``fused`` runs the very code of the crawler (``TopicModel``, ``LearnedOrder``).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from classifier.links.learned_order import LearnedOrder
from classifier.topic.model import TopicModel
from classifier.words.background import Background, tf_idf
from classifier.words.segmentation import tokens
from classifier.words.text import language_of_page, weighted_terms
from classifier.words.values import LinkContext, PageText
from classifier.words.vectors import Vector, dot, mean, unit
from lab.harvest_graph import Fetched, Graph, Ordering, Waiting
from lab.kept_vectors import Meanings

METHODS: Final = ("bfs", "best_first", "best_first_anchor", "fused", "oracle")
# A crawl that grew by this ranks its whole queue again, if its ordering learned something.
_GROWTH: Final = 1.15
_RANK_EVERY: Final = 10
_FIRST_TRAINING: Final = 20


@dataclass(frozen=True, slots=True)
class Task:
    """What a method knows of the topic: the pages that the crawl starts from, never a label."""

    examples: tuple[PageText, ...]
    meanings: Meanings | None = None
    """Vectors for ``fused``; None = words alone."""

    @property
    def seeds(self) -> frozenset[str]:
        """Addresses of the examples."""
        return frozenset(page.url for page in self.examples)


def ordering(name: str, task: Task, graph: Graph, topic: str) -> Ordering:
    """Return a fresh ordering; *graph* and *topic* are for ``oracle`` only.

    Raises:
        KeyError: an unknown name.
    """
    made: dict[str, Callable[[], Ordering]] = {
        "bfs": BreadthFirst,
        "best_first": lambda: BestFirst(task, use_anchor=False),
        "best_first_anchor": lambda: BestFirst(task, use_anchor=True),
        "fused": lambda: Product(task),
        "oracle": lambda: Oracle(graph, topic),
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
            self._centre = unit(self._mean_of_seeds())
            self._anchors.clear()
            self._scores = {url: self._score(known) for url, (known, _) in self._pages.items()}
            chosen = list(waiting)
        else:
            self._scores[page.url] = self._score(terms)
            chosen = [link.url for link in fetched.links if link.url in waiting]
        return {url: self._promise(waiting[url]) for url in chosen}

    def _mean_of_seeds(self) -> Vector:
        pages = (weighted_terms(page) for page in self._task.examples)
        return mean([unit(tf_idf(terms, self._background)) for terms in pages])

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


class Product:
    """The product: the topic's model judges each page, the order of links learns from it and promises."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._links = LearnedOrder()
        self._background = Background()
        self._ranking = Ranking()
        self._retrain_at = _FIRST_TRAINING
        self._pages: dict[str, Fetched] = {}
        for page in task.examples:
            self._background.observe(dict(weighted_terms(page)))
        self._model = self._learned()

    def _learned(self) -> TopicModel:
        examples = [self._with_meaning(page) for page in self._task.examples]
        return TopicModel.learn(examples, (), background=self._background)

    def _with_meaning(self, page: PageText) -> PageText:
        return self._task.meanings.with_meaning(page) if self._task.meanings else page

    def observe(
        self, fetched: Fetched, led_here: list[LinkContext], waiting: Waiting
    ) -> Mapping[str, float]:
        """Judge the page, teach, and order what waits."""
        page, is_seed = self._with_meaning(fetched.text), fetched.text.url in self._task.seeds
        self._pages[page.url] = fetched
        if not is_seed:
            self._background.observe(dict(weighted_terms(page)))
        self._background.meanings.put(weighted_terms(page), page.meaning)
        relevance = 1.0 if is_seed else self._model.judge(page).score
        self._links.observe(page, led_here, fetched.links, relevance, self._model)
        if self._task.meanings is not None:
            self._links.learn_anchors(self._task.meanings.of_anchors(fetched.links))
        self._learn_when_due()
        if self._ranking.is_due():
            return self._promises(list(waiting), waiting)
        return self._promises([link.url for link in fetched.links if link.url in waiting], waiting)

    def _learn_when_due(self) -> None:
        """Fit the model again on what was seen, whenever that has doubled; judge all pages again."""
        if len(self._pages) < self._retrain_at:
            return
        self._retrain_at = 2 * len(self._pages)
        self._background.learn_concepts()
        self._model = self._learned()
        others = [url for url in self._pages if url not in self._task.seeds]
        judged = self._model.judge_many([self._pages[url].text for url in others])
        terms = [weighted_terms(page.text) for page in self._pages.values()]
        opinions = zip(self._pages, self._links.likeness(terms, self._model), strict=True)
        self._links.revalue(
            {url: one.score for url, one in zip(others, judged, strict=True)},
            {url: (opinion, None) for url, (opinion, _) in opinions},
        )

    def _promises(self, urls: list[str], waiting: Waiting) -> dict[str, float]:
        """Return the best promise of each URL; the order knows all its parents by itself."""
        links = [
            link for url in urls for link in {one.anchor: one for one in waiting[url]}.values()
        ]
        best: dict[str, float] = {}
        # The order's own scale: as a number from 0 to 1 it would move with the crawl.
        for link, promise in zip(links, self._links.order(links, self._model), strict=True):
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
