"""Topics in a round: guess links, judge pages.

::

    hub visit           unknown links ── guess ──> scores that order verification fetches
                        a later step: refine ────> the same, by meaning too (link_guesses.py)
    verification fetch  text ── opinion ─────────> scores, shown by `new --topic`; the link that led
                                                   here trains the guesses
    topic fetch         example ─────────────────> topic_fetches.py
    a later step        vectors of examples ─────> the topic learns again (topics/example_vectors.py)

Scores are written in the visit's transaction.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, TypeVar

from classifier.links.text import says_something
from classifier.words.values import LinkContext, PageText, Relevance
from incremental.base.attempts import Bug, attempt
from incremental.crawl.link_guesses import LinkGuesses, WaitingGuess
from incremental.crawl.part import Part
from incremental.crawl.quarantine import CrawlQuarantine
from incremental.crawl.topic_fetches import TopicFetches
from incremental.decide.decision import Decision
from incremental.decide.hub_facts import Guesses, HubView
from incremental.parse import Page
from incremental.parse.topic_text import link_contexts, page_text
from incremental.sandbox import Read
from incremental.settings import Settings
from incremental.topics.example_vectors import ExampleVectors
from incremental.topics.judging import (
    from_context,
    is_empty,
    score_of,
    to_context,
)
from incremental.visit.visit import Outcome, Purpose
from store import Store
from store.crawl.quarantine import QuarantineKind
from store.enums import HubKind, TopicState
from store.topics.values import KeptPage, TopicRow
from store.values import (
    TopicScore,
    VisitRecord,
)

if TYPE_CHECKING:
    from classifier.embedding.meaning import Meaning
    from incremental.topics.active_topic import ActiveTopic
    from incremental.topics.embedding.page_embedder import PageEmbedder
    from incremental.topics.model_store import TopicModelStore

logger = logging.getLogger("hubwatch.topics")

T = TypeVar("T")

# How often what was learned of links and words is written, and retraining considered, beside the doublings
# of the pages seen; a kill loses that much.
KEEP_SECONDS = 600.0
CAUGHT_UP_AT_ONCE = 5


class TopicWatch:
    """Topics at work. Used by the crawler's thread only."""

    def __init__(  # noqa: PLR0913 - what the crawler hands on
        self,
        store: Store,
        settings: Settings,
        quarantine: CrawlQuarantine,
        *,
        read: Read,
        embedder: PageEmbedder | None,
        part: Part,
    ) -> None:
        self._part = part
        self._embedder = embedder
        self._store = store
        self._quarantine = quarantine
        self._settings = settings
        self._read = read
        # Without a topic no model is loaded.
        self._model_store: TopicModelStore | None = None
        self._active_topics: dict[int, ActiveTopic] = {}
        self._kept_at = 0.0
        self._learned_more = False
        self._examples_changed = False
        self._example_vectors: ExampleVectors | None = None
        self._link_guesses = LinkGuesses(embedder) if embedder is not None else None
        self._led = False
        self.topic_fetches = TopicFetches(store)

    @property
    def active(self) -> bool:
        """Whether any topic judges pages."""
        return bool(self._active_topics)

    def load(self, now: float) -> None:
        """Load the topics from the store; those that changed learn first."""
        if self._part.is_leader and not self._led and self._model_store is not None:
            # What the last leader learned and kept goes on here.
            self._model_store.forget()
        self._led = self._part.is_leader
        rows = self._store.topics.topics()
        if rows and self._model_store is None:
            # The models' libraries take a second to load; without a topic nobody needs them.
            from incremental.topics.model_store import TopicModelStore  # noqa: PLC0415

            self._model_store = TopicModelStore(
                self._store,
                self._settings.topics.tree,
                embedder=self._embedder,
                waits=False,
            )
            if self._embedder is not None:
                self._example_vectors = ExampleVectors(self._model_store, self._embedder)
        if self._model_store is not None:
            if not self._led:
                self._model_store.follow(rows)
            self._activate(self._model_store, rows, now)
        self.topic_fetches.load(now)

    def _activate(
        self,
        model_store: TopicModelStore,
        rows: Iterable[TopicRow],
        now: float,
        *,
        again: Collection[int] = (),
    ) -> None:
        """Let the topics of *rows* judge, after those that changed learned, and those of *again*."""
        ready = []
        for row in rows:
            if self._quarantine.holds(QuarantineKind.TOPIC, row.id, now):
                continue
            # Of several daemons one lets topics learn; the others read what came of it.
            changed = row.learned_at != row.changed_at and self._part.is_leader
            changed |= row.id in again
            learned = attempt(partial(model_store.learn, row)) if changed else row
            if isinstance(learned, Bug):
                self._quarantine.hold(QuarantineKind.TOPIC, row.id, learned, now)
            elif learned.state == TopicState.READY:
                ready.append(learned)
        self._active_topics = model_store.active_topics(ready)
        for active_topic in self._active_topics.values() if self._part.is_leader else ():
            model_store.note_warnings(active_topic)

    def step(self, now: float) -> None:
        """Learn from vectors that were made since the last step, and refine guesses; never waits for any."""
        if self._embedder is not None:
            self._learn_meanings(now)
            self._refine(now)

    def _learn_meanings(self, now: float) -> None:
        """Let topics learn again whose examples got vectors that they lacked."""
        vectors, model_store = self._example_vectors, self._model_store
        if vectors is None or model_store is None or not self._part.is_leader:
            return
        lacking = [one for one in self._active_topics.values() if one.lacking]

        def unplaced(topic: ActiveTopic) -> dict[int, PageText]:
            work = partial(model_store.unplaced, topic)
            return self._without_bug(topic.row.id, work, now) or {}

        due = vectors.came(lacking, unplaced, now)
        if due:
            self._activate(model_store, self._store.topics.topics(), now, again=due)

    @property
    def awaits_vectors(self) -> bool:
        """Whether topics learn again as soon as vectors of their examples are made."""
        vectors = self._example_vectors
        return vectors is not None and self._part.is_leader and vectors.under_way

    def _without_bug(self, topic_id: int, work: Callable[[], T], now: float) -> T | None:
        """Return what a topic's work returns; None after a bug, which deactivates the topic."""
        done = attempt(work)
        if isinstance(done, Bug):
            self._active_topics.pop(topic_id, None)
            self._quarantine.hold(QuarantineKind.TOPIC, topic_id, done, now)
            return None
        self._quarantine.passed(QuarantineKind.TOPIC, topic_id)
        return done

    # Hubs.

    def guess(self, page: Page, view: HubView, now: float) -> Guesses | None:
        """Return what topics expect of a hub's unknown links, if these may be news."""
        if not self._active_topics:
            return None
        # On a baseline nothing is news but what a feed or a new section shows.
        baseline = (
            view.hub.baseline_at is None
            and not view.is_new_section
            and view.hub.kind != HubKind.FEED
        )
        unknown = {t.url: t.canonical_key for t in view.found if t.canonical_key not in view.known}
        if baseline or not unknown:
            return Guesses()
        text, links = page_text(page), link_contexts(page)
        scores: dict[str, tuple[TopicScore, ...]] = {}
        contexts: dict[str, str] = {}
        usual: list[float] = []
        for topic_id, active_topic in list(self._active_topics.items()):
            work = partial(_guesses, active_topic, text, links, unknown)
            guessed = self._without_bug(topic_id, work, now)
            if guessed is None:
                continue
            usual.append(guessed.usual)
            contexts |= guessed.contexts
            for key, score in guessed.scores.items():
                scores[key] = (*scores.get(key, ()), *score)
        return Guesses(scores, contexts, max(usual)) if usual else None

    def refine_later(self, record: VisitRecord) -> None:
        """Let the guesses of a recorded visit be refined by meaning, in later steps."""
        if self._link_guesses is not None and record.topic_scores:
            self._link_guesses.offer_visit(record)

    def _refine(self, now: float) -> None:
        """Store the guesses that were refined since, and hand over what waits."""
        if self._link_guesses is None or not self._active_topics:
            return
        ready = self._link_guesses.step(now)
        for topic_id, active_topic in list(self._active_topics.items()):
            own = [(one, said) for one, said in ready if one.topic_id == topic_id]
            if not own:
                continue
            scores = self._without_bug(topic_id, partial(_refined, active_topic, own), now) or ()
            for site_id in dict.fromkeys(one.site_id for one, _ in own):
                keys = {one.canonical_key for one, _ in own if one.site_id == site_id}
                of_site = [score for score in scores if score.canonical_key in keys]
                self._store.topics.refine_guesses(site_id, of_site, now=now)

    def refines_at(self, now: float) -> float:
        """Return when :meth:`step` has something to do again."""
        if self._link_guesses is None or not self._active_topics:
            return inf
        learns_at = inf
        if self._example_vectors is not None and self._part.is_leader:
            learns_at = self._example_vectors.next_at(now)
        return min(self._link_guesses.next_at(now), learns_at)

    # Pages.

    def opinion(
        self, decision: Decision, outcome: Outcome, now: float
    ) -> tuple[TopicScore, ...] | None:
        """Return every topic's judgement of the visited page; None = it was not judged."""
        page, text = outcome.page, outcome.text
        if not self._active_topics or not decision.judge_topics or page is None:
            return None
        row = self._store.read.page(outcome.task.page_id)
        if text is None or row is None or is_empty(text):
            return None
        assert self._model_store is not None
        self._model_store.background.observe_page(text)
        self._learned_more = True
        again = outcome.task.purpose is Purpose.REFRESH
        context, links = from_context(row.link_context), link_contexts(page)

        def judged(active_topic: ActiveTopic) -> Relevance:
            relevance = active_topic.judge(text, again=again)
            active_topic.learn_links(text, context, links, relevance)
            return relevance

        return tuple(self._scores(row.canonical_key, judged, now))

    def _scores(
        self, key: str, judge: Callable[[ActiveTopic], Relevance], now: float
    ) -> list[TopicScore]:
        """Return the judgement of a page by every topic that meets no bug."""
        scores = []
        for topic_id, active_topic in list(self._active_topics.items()):
            relevance = self._without_bug(topic_id, partial(judge, active_topic), now)
            if relevance is not None:
                scores.append(score_of(key, topic_id, relevance))
        return scores

    def catch_up(self, now: float) -> bool:
        """Judge a few pages that a topic's present model has not judged.

        Return whether more wait.
        """
        # Only after its examples were tried: the first of three alone is a poor judge.
        if self.topic_fetches.next_at() <= now:
            return False
        for topic_id, active_topic in list(self._active_topics.items()):
            if active_topic.outdated:
                pages = active_topic.outdated[:CAUGHT_UP_AT_ONCE]
                for page in pages:
                    self._judge_kept(page, now, again=True)
                # By all topics.
                for one in self._active_topics.values():
                    one.outdated = [page for page in one.outdated if page not in pages]
                return True
            if active_topic.caught_up:
                continue
            kept = self._store.topics.unjudged(
                topic_id, limit=CAUGHT_UP_AT_ONCE + active_topic.unreadable
            )
            for page in kept[active_topic.unreadable :]:
                if not self._judge_kept(page, now):
                    active_topic.unreadable += 1
            active_topic.caught_up = len(kept) < CAUGHT_UP_AT_ONCE + active_topic.unreadable
            return True
        return False

    def _judge_kept(self, page: KeptPage, now: float, *, again: bool = False) -> bool:
        assert self._model_store is not None
        from incremental.topics.latest import read_again  # noqa: PLC0415 - quick without topics

        text = attempt(partial(read_again, self._store, self._model_store, page, self._read))
        if text is None or isinstance(text, Bug):
            return False
        # The sample may lack it: after another model is chosen, vectors come with the pages judged again.
        self._model_store.know_page(text)
        scores = self._scores(page.canonical_key, lambda one: one.judge(text, again=again), now)
        self._learned_more = True
        self._store.topics.put_scores(page.site_id, scores, now=now)
        return True

    def keep(self, now: float, *, at_once: bool = False) -> None:
        """Write what was learned of links and words, and let topics learn again that learned from far less.

        Every ten minutes, and whenever the pages seen have doubled, from 15 on: commands train with what is
        stored. Who does not lead reads it, every ten minutes.
        """
        model_store = self._model_store
        if model_store is None or not self._learned_more:
            return
        is_leader, late = self._part.is_leader, now - self._kept_at >= KEEP_SECONDS
        if not (at_once or late or (is_leader and model_store.has_doubled)):
            return
        self._kept_at, self._learned_more = now, False
        if not is_leader:
            # The leader may have trained all topics again, of which nothing else tells.
            if not at_once:
                self.load(now)
            return
        outgrown = set() if at_once else model_store.outgrown(self._active_topics.values())
        model_store.keep(self._active_topics.values(), now)
        if outgrown:
            rows = [active_topic.row for active_topic in self._active_topics.values()]
            self._activate(model_store, rows, now, again=outgrown)

    # Topic fetches.

    def settle_topic_fetch(self, outcome: Outcome, now: float) -> None:
        """Write what came of an example."""
        if outcome.text is not None and self._model_store is not None:
            self._model_store.know_page(outcome.text)
        self.topic_fetches.settle(outcome, now)
        self._examples_changed = True

    def learn_examples(self, now: float) -> bool:
        """Let topics learn from examples that were fetched; return whether topics begin or cease to judge."""
        if not self._examples_changed:
            return False
        before, self._examples_changed = self.active, False
        self.load(now)
        return self.active != before


def _guesses(
    active_topic: ActiveTopic,
    text: PageText,
    links: Sequence[LinkContext],
    unknown: Mapping[str, str],
) -> Guesses:
    """Return what one topic expects of the *unknown* links (keys by URL) of a hub."""
    parent = active_topic.read_hub(text, links)
    fresh = [replace(link, parent_score=parent) for link in links if link.url in unknown]
    scores: dict[str, tuple[TopicScore, ...]] = {}
    contexts: dict[str, str] = {}
    for link, value in zip(fresh, active_topic.expect(fresh), strict=True):
        key = unknown[link.url]
        contexts[key] = to_context(link)
        scores[key] = (*scores.get(key, ()), active_topic.guess(key, value))
    return Guesses(scores, contexts, active_topic.links.usual(active_topic.model))


def _refined(
    active_topic: ActiveTopic, ready: Sequence[tuple[WaitingGuess, Meaning]]
) -> list[TopicScore]:
    """Feed newly computed embeddings to the topic; return updated scores of links of more than one word."""
    refinable = [(one, said) for one, said in ready if says_something(one.text)]
    active_topic.links.learn_anchors({one.text: said for one, said in ready})
    again = active_topic.expect([one.link for one, _ in refinable])
    return active_topic.refine(
        [
            (one.canonical_key, guess, said)
            for (one, said), guess in zip(refinable, again, strict=True)
        ]
    )
