"""The models of topics: learned from what the store holds, kept there as JSON, handed out to judge.

::

    examples + corrections ─┐
    kept pages (negatives) ─┤
    pages judged relevant  ─┼─ learn ── topic.model (JSON) ── voices ── judge ── adapt, as far as the
    background, tree       ─┘                                    │               method does (paper 000)
                                                                 └ expect, learn_links ── topic.links (JSON)

A lesson takes all that was ever said, so that nothing counts twice and what is taken back is
forgotten. Whoever changes what a topic learns from (a command, the daemon) lets it learn at once; the
others notice by the version.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from classifier.topic.background import Background
from classifier.topic.errors import TopicError, TopicModelError
from classifier.topic.evidence import MAX_JUDGED
from classifier.topic.link_order import LINK_ORDERS, LinkOrder, from_kept, new_order, to_kept
from classifier.topic.model import TopicModel
from classifier.topic.semantic_tree import SemanticTree, TreeError, joined
from classifier.topic.text import weighted_terms
from classifier.topic.trees import read_tree
from classifier.topic.values import LinkContext, PageText, Relevance, Verdict
from incremental.judge.topics import (
    IRRELEVANT,
    LIKELY,
    RELEVANT,
    Standing,
    from_text,
    is_empty,
    says_something,
    standing_of,
)
from incremental.learning.topics import find_topic
from store import Store
from store.topic_values import ExampleRow, KeptPage, TopicRow
from store.values import TopicScore

logger = logging.getLogger("hubwatch.topics")

NEGATIVES = 100
"""Pages looked at last that stand for what is off topic."""
FEW_PAGES = 15
BACKGROUND = "pages"
"""Name under which the document frequencies of fetched pages are kept."""


@dataclass
class TopicVoice:
    """A ready topic: its model, and what it learned of links. Only the crawler's thread touches it."""

    row: TopicRow
    model: TopicModel
    links: LinkOrder
    caught_up: bool = False
    """Whether the pages that were told before it was ready have been judged."""
    unreadable: int = 0
    """Pages among them whose bodies are lost or hold no text."""
    hubs_read: set[str] = field(default_factory=set)
    """URLs of hubs that were observed: their words are learned once."""

    def read_hub(self, page: PageText, links: Sequence[LinkContext]) -> float:
        """Return the relevance of a page that leads to others; what it leads to will speak for it."""
        score = self.model.judge(page).score
        if page.url in self.hubs_read:
            self.links.renew(page, links, score, self.model)
        else:
            self.hubs_read.add(page.url)
            self.links.observe(page, (), links, score, self.model)
        return score

    def judge(self, page: PageText, *, again: bool = False) -> Relevance:
        """Judge a fetched page; a relevant one moves the centre of a method that adapts.

        *again*: a page that was judged before; it has moved what it can.
        """
        relevance = self.model.judge(page)
        if not again:
            self.model = self.model.adapted(page, relevance)
        return relevance

    def expect(self, links: Sequence[LinkContext]) -> list[float]:
        """Return what is expected of each link, 0 to 1, before its page is fetched."""
        return self.links.expect(links, self.model)

    def usual(self) -> float:
        """Return what is expected of a link that nothing speaks for or against; above 0."""
        return self.links.usual(self.model)

    def learn_links(
        self,
        page: PageText,
        led_here: LinkContext | None,
        links: Sequence[LinkContext],
        relevance: Relevance,
    ) -> None:
        """Let a fetched page teach what links like the one that led to it are worth."""
        parents = () if led_here is None else (led_here,)
        self.links.observe(page, parents, links, relevance, self.model)

    def guess(self, key: str, score: float) -> TopicScore:
        """Return what it expects of a link, as the store keeps it. A guess never rejects."""
        verdict = Verdict.RELEVANT if score >= LIKELY else Verdict.GREY
        return TopicScore(
            identity=key,
            topic_id=self.row.id,
            score=round(score, 4),
            verdict=verdict.value,
            fetched=False,
            method="links",
            version=self.model.version,
        )


class TopicShelf:
    """Learns models and reads them back. One instance for a process."""

    def __init__(
        self, store: Store, trees: Sequence[str], *, link_order: str = LINK_ORDERS[0]
    ) -> None:
        self._store = store
        self._trees = trees
        self._link_order = link_order
        self._tree: SemanticTree | None = None
        self._tree_problems: list[str] | None = None
        self._background: Background | None = None
        self._lesson_pages = 0
        self._voices: dict[int, TopicVoice] = {}

    # Lessons.

    def learn(self, row: TopicRow) -> TopicRow:
        """Let a topic learn all that was said of it; return it as it stands then.

        What it could not learn from is said in its row: ``state``, ``why``, ``warnings``.
        """
        examples = self._store.topics.examples(row.id)
        keywords: list[str] = json.loads(row.keywords)
        standing = standing_of(examples, keywords)
        fields: dict[str, Any] = {"model": "", "version": "", "warnings": "[]"}
        if standing.ready:
            try:
                model = self._taught(row, examples, keywords)
            except TopicError as error:
                standing = Standing(ready=False, why=f"nothing can be learned from it: {error}")
            else:
                fields = _columns(model, self._problems(row.method))
        state = "ready" if standing.ready else "waiting"
        fields |= {"state": "paused" if row.state == "paused" else state, "why": standing.why}
        # Not the time of the clock: what is said during the lesson must lead to another one.
        self._store.topics.update(row.id, learned_at=row.changed_at, **fields)
        logger.info("topic %s is %s %s", row.name, fields["state"], fields["version"])
        return find_topic(self._store, row.name)

    def _taught(
        self, row: TopicRow, examples: Sequence[ExampleRow], keywords: Sequence[str]
    ) -> TopicModel:
        texts: dict[str, list[PageText]] = {}
        for one in examples:
            if one.text is not None and says_something(one):
                texts.setdefault(one.origin, []).append(from_text(one.text))
        said = {RELEVANT, IRRELEVANT}
        return TopicModel.learn(
            [text for origin, pages in texts.items() if origin not in said for text in pages],
            keywords,
            background=self.background,
            negatives=self._negatives(row, examples),
            relevant=texts.get(RELEVANT, []),
            judged=self._judged(row, examples),
            irrelevant=texts.get(IRRELEVANT, []),
            method=row.method,
            tree=self._semantic_tree(row.method),
        )

    def _negatives(self, row: TopicRow, examples: Sequence[ExampleRow]) -> list[PageText]:
        """Return ordinary pages: looked at lately, and neither taught nor taken for relevant."""
        pages = self._store.topics.kept_pages(limit=2 * NEGATIVES)
        taught = {one.identity for one in examples}
        judged = self._store.topics.scores([page.page_id for page in pages], row.id)
        liked = {one.page_id for one in judged if one.verdict != Verdict.IRRELEVANT}
        plain = (p for p in pages if p.identity not in taught and p.page_id not in liked)
        texts = (self._text(page) for page in plain)
        found = (text for text in texts if text is not None and not is_empty(text))
        return list(islice(found, NEGATIVES))

    def _judged(self, row: TopicRow, examples: Sequence[ExampleRow]) -> list[PageText]:
        """Return the pages that the topic judged relevant, the oldest first, but those a user spoke of."""
        taught = {one.identity for one in examples}
        pages = self._store.topics.judged_relevant(row.id, limit=MAX_JUDGED)
        texts = (self._text(page) for page in reversed(pages) if page.identity not in taught)
        return [text for text in texts if text is not None and not is_empty(text)]

    def _text(self, page: KeptPage) -> PageText | None:
        """Return a page's text as it was kept beside its history: nothing is parsed again."""
        kept = self._store.answers.text(page.page_id)
        if kept is None:
            return None
        return PageText(page.url, title=kept.title, body=kept.text, language=kept.language)

    # What all topics share.

    @property
    def background(self) -> Background:
        """How rare terms are; what was observed before is read once."""
        if self._background is None:
            kept = self._store.topics.background(BACKGROUND)
            try:
                self._background = Background.from_json(json.loads(kept)) if kept else Background()
            except (TopicModelError, ValueError) as error:
                logger.warning("the background of topics is begun anew: %s", error)
                self._background = Background()
            self._lesson_pages = self._background.pages
        return self._background

    def observe(self, text: PageText) -> None:
        """Count a page that was fetched."""
        self.background.observe(weighted_terms(text))

    def outgrown(self) -> bool:
        """Tell whether so much more was seen since the last lessons that all topics should have new ones.

        When the number of pages has doubled: a topic of the first day knew nothing to compare with.
        Which words go together is learned then as well; at thousands of pages that takes seconds.
        """
        pages = self.background.pages
        if pages < 2 * max(self._lesson_pages, FEW_PAGES):
            return False
        self._lesson_pages = pages
        self.background.learn_concepts()
        return True

    def _semantic_tree(self, method: str) -> SemanticTree | None:
        """Return the tree of the settings, read when a method first needs it."""
        if method not in ("semantic", "fused"):
            return None
        if self._tree_problems is None:
            found, self._tree_problems = [], []
            for source in self._trees:
                try:
                    found.append(read_tree(source))
                except TreeError as error:
                    self._tree_problems.append(f"semantic tree left out: {error}")
            self._tree = joined(found)
        return self._tree

    def _problems(self, method: str) -> list[str]:
        return (self._tree_problems or []) if method in ("semantic", "fused") else []

    # At work.

    def voices(self, rows: Iterable[TopicRow]) -> dict[int, TopicVoice]:
        """Return the topics of *rows* at work, by id; one whose model is damaged learns anew."""
        before, self._voices = self._voices, {}
        for row in rows:
            voice = before.get(row.id)
            if voice is None or voice.row.version != row.version:
                model = self._model(row)
                if model is None:
                    continue
                links = voice.links if voice is not None else self._links(row)
                done = voice is not None and voice.caught_up
                voice = TopicVoice(row, model, links, caught_up=done)
            voice.row = row
            self._voices[row.id] = voice
        return self._voices

    def model(self, row: TopicRow) -> TopicModel | None:
        """Return a topic's model; None when it waits for something."""
        return self._model(row)

    def _model(self, row: TopicRow) -> TopicModel | None:
        try:
            return self._read(row)
        except (TopicError, ValueError) as error:
            logger.warning("the model of topic %s is learned anew: %s", row.name, error)
            row = self.learn(row)
            return self._read(row) if row.version else None

    def _read(self, row: TopicRow) -> TopicModel:
        data = json.loads(self._store.topics.model(row.id))
        tree = self._semantic_tree(row.method)
        return TopicModel.from_json(data, background=self.background, tree=tree)

    def _links(self, row: TopicRow) -> LinkOrder:
        kept = self._store.topics.links(row.id)
        name = self._link_order
        try:
            return from_kept(json.loads(kept), name) if kept else new_order(name)
        except (TopicError, ValueError) as error:
            logger.warning("what topic %s learned of links is lost: %s", row.name, error)
            return new_order(name)

    def keep(self, voices: Iterable[TopicVoice], now: float) -> None:
        """Write what was learned of links and of words, and models that the pages moved."""
        self._store.topics.put_background(BACKGROUND, _json(self.background.to_json()), now=now)
        for voice in voices:
            self._store.topics.update(voice.row.id, links=_json(to_kept(voice.links)))
            self._keep_model(voice)

    def _keep_model(self, voice: TopicVoice) -> None:
        """Write a model that moved; what another process taught meanwhile outranks it."""
        model, before = voice.model, voice.row.version
        if model.version != before:
            data = _json(model.to_json())
            if self._store.topics.put_model(voice.row.id, data, model.version, before=before):
                voice.row = replace(voice.row, version=model.version)


def _columns(model: TopicModel, problems: Sequence[str]) -> dict[str, Any]:
    return {
        "model": _json(model.to_json()),
        "version": model.version,
        "warnings": _json([*problems, *model.warnings]),
    }


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
