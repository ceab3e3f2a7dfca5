"""Models of topics: trained from the store, kept there as JSON, loaded to judge.

::

    examples + corrections ─┐
    kept pages (negatives) ─┤
    pages judged relevant  ─┼─ learn ── topic.model (JSON) ── active topic ── judge ── adapt, if the
    background, tree       ─┘                                      │          method does (paper 000)
                                                                   └ expect, learn_links ── topic.links

Whoever changes training examples trains at once, but for a command beside a daemon, which notices within
seconds; other processes notice by the version. Vectors that a topic or this process knows are used again. A
command waits half a minute for the others, the crawler's thread not at all: what is missing then comes later
(:mod:`.example_vectors`).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import wait
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from classifier.links.learned_order import LearnedOrder
from classifier.papers.adaptive import AdaptiveCentre
from classifier.papers.semantic_tree import SemanticTree, TreeError
from classifier.papers.trees import read_tree
from classifier.topic.model import TopicModel
from classifier.words.background import Background
from classifier.words.errors import TopicError, TopicModelError
from classifier.words.evidence import MAX_JUDGED, Evidence, heaviest_terms, spoken
from classifier.words.sample import page_key
from classifier.words.stored import restored
from classifier.words.values import PageText
from classifier.words.vectors import Vector
from incremental.base.lookup import find_topic
from incremental.base.texts import Text, stored
from incremental.topics.active_topic import ActiveTopic
from incremental.topics.judging import (
    Readiness,
    from_text,
    is_empty,
    note_text,
    other_warnings,
    readiness,
    says_something,
    stored_warnings,
    vector_warnings,
    warnings_of,
)
from incremental.topics.latest import LATEST, outdated_pages
from store import Store
from store.database.texts import to_json
from store.enums import ExampleOrigin, TopicState, TopicVerdict
from store.topics.values import ExampleRow, KeptPage, TopicRow

if TYPE_CHECKING:  # without an embedder nobody loads it
    from classifier.embedding.meaning import Meaning
    from incremental.topics.embedding.page_embedder import PageEmbedder

logger = logging.getLogger("hubwatch.topics")

# Latest visited pages that stand for off-topic text.
NEGATIVES = 100
FEW_PAGES = 15
# How long a training that waits for vectors does so.
PATIENCE_SECONDS = 30.0
# Methods that use semantic similarity of words.
WITH_TREE = ("semantic", "fused")
# Methods that judge by meaning.
WITH_MEANING = ("fused",)
# Key of the stored document frequencies of fetched pages.
BACKGROUND = "pages"

Said = tuple[ExampleOrigin, PageText]
"""A text to learn from, and as what it was given."""


class TopicModelStore:
    """Trains and loads models. One instance per process."""

    def __init__(
        self,
        store: Store,
        tree: str = "",
        *,
        embedder: PageEmbedder | None = None,
        waits: bool = True,
    ) -> None:
        """Make a store of models; *waits* = training waits half a minute for vectors of examples."""
        self.embedder = embedder
        """None = words alone judge."""
        self._waits = waits
        self._store = store
        self._tree_source = tree
        self._tree: SemanticTree | None = None
        self._tree_problems: list[str] = []
        self._background: Background | None = None
        self._kept_pages = 0
        # Of the sample's.
        self._trained_vectors = 0
        self._active_topics: dict[int, ActiveTopic] = {}

    # Training.

    def learn(self, row: TopicRow) -> TopicRow:
        """Train a topic; the returned row says what it waits for (state, why, warnings)."""
        # Always from everything ever said, so that nothing counts twice and what is withdrawn is forgotten.
        examples = self._store.topics.examples(row.id)
        keywords: list[str] = json.loads(row.keywords)
        standing = readiness(examples, keywords, row.description)
        fields: dict[str, object] = {"model": "", "version": "", "warnings": "[]"}
        if standing.ready:
            try:
                model = self._trained(row, examples, keywords)
            except TopicError as error:
                standing = Readiness(ready=False, why=Text("lacks.untrained", reason=str(error)))
            else:
                problems = self._vector_warnings(row, model.evidence)
                problems += self._tree_problems if row.method in WITH_TREE else []
                fields = {
                    "model": to_json(model.to_json()),
                    "version": model.version,
                    "warnings": stored_warnings([*problems, *map(note_text, model.warnings)]),
                }
        state = TopicState.READY if standing.ready else TopicState.WAITING
        paused = row.state == TopicState.PAUSED
        fields |= {"state": TopicState.PAUSED if paused else state, "why": stored(standing.why)}
        # Not the current time: examples added during training must trigger another one.
        fields["learned_at"] = row.changed_at
        self._store.topics.update(row.id, **fields)
        logger.info("topic %s is %s %s", row.name, fields["state"], fields["version"])
        return find_topic(self._store, row.name)

    def trial(self, row: TopicRow, examples: Sequence[ExampleRow]) -> TopicModel | None:
        """Return the model that a topic would learn, without storing it; None = it could not judge."""
        keywords = json.loads(row.keywords)
        if not readiness(examples, keywords, row.description).ready:
            return None
        try:
            return self._trained(row, examples, keywords)
        except TopicError:
            return None

    def _trained(
        self, row: TopicRow, examples: Sequence[ExampleRow], keywords: Sequence[str]
    ) -> TopicModel:
        texts: dict[str, list[PageText]] = {origin: [] for origin in ExampleOrigin}
        said = _said(row, examples)
        *placed, (_, words) = self._placed(row, [*said, (ExampleOrigin.EXAMPLE, spoken(keywords))])
        for origin, page in placed:
            texts[origin].append(page)
        return TopicModel.learn(
            texts[ExampleOrigin.EXAMPLE],
            keywords,
            background=self.background,
            negatives=self._negatives(row, examples),
            relevant=texts[ExampleOrigin.RELEVANT],
            judged=self._judged(row, examples),
            irrelevant=texts[ExampleOrigin.IRRELEVANT],
            keywords_meaning=words.meaning,
            method=row.method,
            tree=self._semantic_tree(row.method),
        )

    def positives(self, row: TopicRow) -> list[PageText]:
        """Return the pages that a topic learns from, without rejected ones; its sentence has no URL."""
        said = _said(row, self._store.topics.examples(row.id))
        liked = [(origin, page) for origin, page in said if origin != ExampleOrigin.IRRELEVANT]
        return [page for _, page in self._placed(row, liked)]

    def _placed(self, row: TopicRow, said: Sequence[Said]) -> list[Said]:
        """Return *said* with vectors: known ones, and others as far as they come in time."""
        if self.embedder is None:
            return list(said)
        self.background.meanings.put_all(self._evidence(row).meanings)
        placed = [(origin, replace(page, meaning=self.meaning_of(page))) for origin, page in said]
        if not self._waits:
            return placed
        # In small batches: what is not done in time is lost with the process.
        asked = {
            place: self.embedder.start_later(page)
            for place, (_, page) in enumerate(placed)
            if page.meaning is None
        }
        done, _ = wait(asked.values(), timeout=PATIENCE_SECONDS)
        for place, answer in asked.items():
            if answer in done:
                origin, page = placed[place]
                placed[place] = (origin, replace(page, meaning=answer.result()))
        return placed

    def _evidence(self, row: TopicRow) -> Evidence:
        """Return what a topic's stored model learned from; of a damaged one, or of none, nothing."""
        try:
            kept = json.loads(self._store.topics.model(row.id) or "{}")
            return restored(kept["evidence"], Evidence, "topic")
        except (LookupError, TypeError, ValueError, RecursionError, TopicModelError):
            return Evidence()  # it is trained again, from its examples

    def meaning_of(self, page: PageText) -> Meaning | None:
        """Return the vector that is known of a text; None = none is."""
        return self.background.meanings.of(self._terms(page))

    def announced_meanings(self, page_ids: Sequence[int]) -> dict[int, Meaning]:
        """Return the vectors that are kept of announced pages, by id."""
        if self.embedder is None:
            return {}
        from incremental.topics.embedding.keeping import kept_meanings  # noqa: PLC0415 - as the embedder

        known = self.background.meanings
        return kept_meanings(self._store, known.space, page_ids, known.dimension)

    def _terms(self, page: PageText) -> Vector:
        return heaviest_terms(self.background.templates.without(page))

    def _negatives(self, row: TopicRow, examples: Sequence[ExampleRow]) -> list[PageText]:
        """Return ordinary pages, visited lately, neither training examples nor relevant."""
        pages = self._store.topics.kept_pages(limit=2 * NEGATIVES)
        trained = {one.canonical_key for one in examples}
        judged = self._store.topics.scores([page.page_id for page in pages], row.id)
        liked = {one.page_id for one in judged if one.verdict != TopicVerdict.IRRELEVANT}
        plain = (p for p in pages if p.canonical_key not in trained and p.page_id not in liked)
        return list(islice(self._texts(plain), NEGATIVES))

    def _judged(self, row: TopicRow, examples: Sequence[ExampleRow]) -> list[PageText]:
        """Return pages the topic judged relevant, oldest first, except those that users labelled."""
        trained = {one.canonical_key for one in examples}
        pages = self._store.topics.judged_relevant(row.id, limit=MAX_JUDGED)
        return list(
            self._texts(page for page in reversed(pages) if page.canonical_key not in trained)
        )

    def _texts(self, pages: Iterable[KeptPage]) -> Iterator[PageText]:
        """Yield texts kept with the pages' history."""
        # So that nothing is parsed again.
        for page in pages:
            kept = self._store.answers.text(page.page_id)
            if kept is not None:
                text = PageText(page.url, kept.title, body=kept.text, language=kept.language)
                if not is_empty(text):
                    yield text

    # Shared by all topics.

    @property
    def background(self) -> Background:
        """Document frequencies of terms; what was observed before is loaded once."""
        if self._background is None:
            _, kept = self._store.space.noted(BACKGROUND)
            try:
                self._background = Background.from_json(json.loads(kept)) if kept else Background()
            except (TopicModelError, ValueError, RecursionError) as error:
                logger.warning("restarting the topics' term counts: %s", error)
                self._background = Background()
            if self.embedder is not None:
                self._background.meanings.use(self.embedder.space)
            if not self._background.pages:
                self._catch_up(self._background)
            self._kept_pages = self._background.pages
            self._trained_vectors = _vectors_of(self._background)
        return self._background

    def _catch_up(self, background: Background) -> None:
        """Count the pages that were read before there was any topic."""
        # Without them the first topic would have nothing to compare with, and take most of what there is.
        pages = self._store.topics.kept_pages(limit=LATEST)
        meanings = self.announced_meanings([page.page_id for page in pages])
        for page in pages:
            for text in self._texts([page]):
                background.observe_page(replace(text, meaning=meanings.get(page.page_id)))
        background.learn_concepts()

    @property
    def has_doubled(self) -> bool:
        """Whether the pages seen reached 15, 30, 60 and so on since they were stored last."""
        return _doubling(self.background.pages) > _doubling(self._kept_pages)

    def outgrown(self, topics: Iterable[ActiveTopic]) -> set[int]:
        """Return the ids of topics due for retraining: the page count has doubled.

        That is at 15, 30, 60 pages and so on; and for all topics, when the sample's vectors have doubled.
        """
        # Early topics had nothing to compare with, nor have those of another model of embeddings.
        trained = {one.row.id: one.model.pages for one in topics}
        enough, vectors = _doubling(self.background.pages), _vectors_of(self.background)
        early = {topic_id for topic_id, pages in trained.items() if pages < enough}
        more_vectors = vectors >= 2 * max(self._trained_vectors, FEW_PAGES)
        # Topics of other concepts could not judge, and to learn which words go together takes seconds at
        # thousands of pages. A topic that a command trained on older counts learns alone.
        if early and early == trained.keys():
            self.background.learn_concepts()
        if early == trained.keys() or more_vectors:
            self._trained_vectors = vectors
        return set(trained) if more_vectors else early

    def _semantic_tree(self, method: str) -> SemanticTree | None:
        if method not in WITH_TREE or not self._tree_source or self._tree_problems:
            return None
        if self._tree is None:
            try:
                self._tree = read_tree(self._tree_source)
            except TreeError as error:
                self._tree_problems = [Text("lacks.tree", reason=str(error))]
        return self._tree

    def forget(self) -> None:
        """Forget what this process learned and loaded: what is stored is read again."""
        self._background, self._active_topics = None, {}

    def follow(self, rows: Iterable[TopicRow]) -> None:
        """Read the term counts again if a topic of *rows* was trained elsewhere; link orders stay.

        A model is judged with the counts and concepts that it was trained with.
        """
        active = self._active_topics
        if any(row.id in active and active[row.id].row.version != row.version for row in rows):
            self._background = None
            for one in active.values():
                one.row = replace(one.row, version="")

    # Vectors of what topics learn from.

    def unplaced(self, topic: ActiveTopic) -> dict[int, PageText]:
        """Return the texts that a topic learned from without a vector, by key, with the one now known."""
        from incremental.topics.embedding.passages import passages_of  # noqa: PLC0415 - as the embedder

        pages = [page for _, page in _said(topic.row, self._store.topics.examples(topic.row.id))]
        found = {
            page_key(self._terms(page)): replace(page, meaning=self.meaning_of(page))
            for page in (*pages, spoken(json.loads(topic.row.keywords)))
            if passages_of(page)
        }
        return {key: page for key, page in found.items() if key in topic.lacking}

    def know_page(self, page: PageText) -> None:
        """Keep the vector of a page that a topic may learn from, if it has one."""
        if page.meaning is not None and self.embedder is not None:
            self.background.meanings.put(self._terms(page), page.meaning)

    def note_warnings(self, topic: ActiveTopic) -> None:
        """Store what vectors a topic lacks now, which its last training could not know."""
        others = other_warnings(warnings_of(topic.row))
        lacking = self._vector_warnings(topic.row, topic.model.evidence)
        warnings = stored_warnings([*lacking, *others])
        if json.loads(warnings) != json.loads(topic.row.warnings):
            self._store.topics.update(topic.row.id, warnings=warnings)
            topic.row = replace(topic.row, warnings=warnings)

    def _vector_warnings(self, row: TopicRow, evidence: Evidence) -> list[str]:
        if self.embedder is None or row.method not in WITH_MEANING:
            return []
        space = self.embedder.space
        return vector_warnings(len(evidence.lacking(space)), len(evidence.keys), space)

    # Active topics.

    def active_topics(self, rows: Iterable[TopicRow]) -> dict[int, ActiveTopic]:
        """Return the active topics of *rows* by id; one with a damaged model is trained again."""
        before, self._active_topics = self._active_topics, {}
        for row in rows:
            active_topic = before.get(row.id)
            if active_topic is None or active_topic.row.version != row.version:
                model = self.model(row)
                if model is None:
                    continue
                links = active_topic.links if active_topic is not None else self._links(row)
                done = active_topic is not None and active_topic.caught_up
                # Its verdicts follow, also on pages that a former model judged, perhaps of another process.
                # A model that adapts has a new version with every relevant page, which is no reason.
                adapts = isinstance(model.fit.scorer, AdaptiveCentre)
                outdated = outdated_pages(self._store, row) if done or not adapts else []
                lacking = set[int]()
                if self.embedder is not None:
                    lacking = model.evidence.lacking(self.embedder.space)
                active_topic = ActiveTopic(row, model, links, lacking, done, outdated)
            active_topic.row = row
            self._active_topics[row.id] = active_topic
        return self._active_topics

    def model(self, row: TopicRow) -> TopicModel | None:
        """Return a topic's model, retrained if damaged; None while it waits for something."""
        try:
            return self._read(row)
        except (TopicError, ValueError, RecursionError) as error:
            logger.warning("retraining the model of topic %s: %s", row.name, error)
            row = self.learn(row)
            return self._read(row) if row.version else None

    def _read(self, row: TopicRow) -> TopicModel:
        data = json.loads(self._store.topics.model(row.id))
        tree = self._semantic_tree(row.method)
        return TopicModel.from_json(data, background=self.background, tree=tree)

    def _links(self, row: TopicRow) -> LearnedOrder:
        kept = self._store.topics.links(row.id)
        try:
            return LearnedOrder.from_json(json.loads(kept)) if kept else LearnedOrder()
        except (TopicError, ValueError, RecursionError) as error:
            logger.warning("the link order of topic %s is lost: %s", row.name, error)
            return LearnedOrder()

    def keep(self, active_topics: Iterable[ActiveTopic], now: float) -> None:
        """Store link orders, term counts, and models that adapted to pages."""
        self.background.meanings.forget(self.background.sample.keys)
        self._store.space.note(BACKGROUND, to_json(self.background.to_json()), now=now)
        self._kept_pages = self.background.pages
        for active_topic in active_topics:
            self._store.topics.update(
                active_topic.row.id, links=to_json(active_topic.links.to_json())
            )
            model, before = active_topic.model, active_topic.row.version
            # Training in another process meanwhile outranks an adapted model.
            if model.version != before and self._store.topics.put_model(
                active_topic.row.id, to_json(model.to_json()), model.version, before=before
            ):
                active_topic.row = replace(active_topic.row, version=model.version)


def _said(row: TopicRow, examples: Iterable[ExampleRow]) -> list[Said]:
    """Return what a topic learns from: examples with text, and its sentence, which has no URL."""
    found = [
        (one.origin, from_text(one.text))
        for one in examples
        if one.text is not None and says_something(one)
    ]
    if row.description:
        # A sentence counts as one short example.
        found.append((ExampleOrigin.EXAMPLE, PageText("", title=row.description)))
    return found


def _doubling(pages: int) -> int:
    """Return the largest of 15, 30, 60 and so on up to *pages*; 0 = there are fewer."""
    return FEW_PAGES << ((pages // FEW_PAGES).bit_length() - 1) if pages >= FEW_PAGES else 0


def _vectors_of(background: Background) -> int:
    return background.meanings.count(background.sample.keys)
