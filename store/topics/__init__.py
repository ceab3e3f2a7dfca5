"""Topics: training examples, models and scores.

What a visit brings is written in its transaction by :func:`put_scores`.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from peewee import EXCLUDED, Database, fn

from store.database import writing
from store.database.repository import Repository, Shape, batches
from store.database.statements import upsert
from store.database.texts import MAX_ADDRESS, MAX_TEXT, columns, storable
from store.enums import ExampleOrigin, TopicVerdict
from store.models import (
    LIVING,
    News,
    Page,
    PageTopic,
    Topic,
    TopicExample,
    Visit,
)
from store.topics.values import (
    ExampleRow,
    KeptPage,
    NewExample,
    PageScore,
    TopicRow,
)
from store.values import TopicScore

# Method of a score that a user set.
YOU = "you"
_RECENT_VISITS = 2_000
# JSON and page texts are not cut.
_BOUNDS = {"title": MAX_TEXT} | dict.fromkeys(("url", "canonical_key"), MAX_ADDRESS)
_TOPIC = Shape(TopicRow, Topic)
_EXAMPLE = Shape(ExampleRow, TopicExample)
_SCORE = Shape(PageScore, PageTopic)
_KEPT = Shape(KeptPage, Page, page_id=Page.id)


class Topics(Repository):
    """Queries and writes, on one database."""

    # Topics.

    def topics(self) -> list[TopicRow]:
        """Return all topics in the order of their creation."""
        return self._all(_TOPIC, _TOPIC.select().order_by(Topic.id))

    def topic(self, name: str) -> TopicRow | None:
        """Return the topic of this name."""
        return self._first(_TOPIC, _TOPIC.select().where(Topic.name == storable(name)))

    def add(
        self,
        name: str,
        keywords: Sequence[str],
        method: str,
        *,
        now: float,
        description: str = "",
    ) -> int:
        """Add a topic that waits for its first training; return its id.

        An existing one gets these key words, this description and this method and is trained again; its
        examples stay.
        """
        row = {
            "name": storable(name),
            "keywords": storable(json.dumps(list(keywords), ensure_ascii=False), None),
            "description": storable(description, None),
            "method": method,
            "created_at": now,
            "changed_at": now,
        }
        with writing(self._db, self._where):
            query = upsert(
                Topic, row, ["name"], ("keywords", "description", "method", "changed_at")
            )
            query.execute(self._db)
            found = Topic.select(Topic.id).where(Topic.name == row["name"])
            return int(found.scalar(self._db))

    def update(self, topic_id: int, **fields: object) -> None:
        """Set columns of a topic."""
        self._write(Topic.update(columns(fields, _BOUNDS)).where(Topic.id == topic_id))

    def remove(self, topic_id: int) -> None:
        """Delete a topic with its examples and scores."""
        self._write(Topic.delete().where(Topic.id == topic_id))

    def model(self, topic_id: int) -> str:
        """Return a topic's model as JSON; empty = none."""
        return str(self._scalar(Topic.select(Topic.model).where(Topic.id == topic_id)) or "")

    def put_model(self, topic_id: int, model: str, version: str, *, before: str) -> bool:
        """Replace a model of version *before*; False = it was replaced meanwhile, and stays."""
        # Training in another process outranks an adapted model.
        query = Topic.update(model=storable(model, None), version=storable(version))
        return bool(self._write(query.where((Topic.id == topic_id) & (Topic.version == before))))

    def links(self, topic_id: int) -> str:
        """Return the JSON of a topic's link-order model; empty = none."""
        return str(self._scalar(Topic.select(Topic.links).where(Topic.id == topic_id)) or "")

    # Examples.

    def put_examples(self, topic_id: int, examples: Iterable[NewExample], *, now: float) -> None:
        """Add training examples and schedule training. The latest example of a page wins."""
        with writing(self._db, self._where):
            for example in examples:
                row = {"topic": topic_id, "added_at": now, **columns(asdict(example), _BOUNDS)}
                # The known text of a page stays if the new example has none.
                changed = ["origin", "url"]
                if example.text is not None:
                    changed += ["title", "text", "due_at"]
                elif example.due_at is not None:
                    changed.append("due_at")
                query = upsert(TopicExample, row, ("topic", "canonical_key"), changed)
                query.execute(self._db)
            Topic.update(changed_at=now).where(Topic.id == topic_id).execute(self._db)

    def examples(self, topic_id: int) -> list[ExampleRow]:
        """Return a topic's training examples in the order they were given."""
        query = _EXAMPLE.select().where(TopicExample.topic == topic_id)
        return self._all(_EXAMPLE, query.order_by(TopicExample.id))

    def said_of(self, canonical_keys: Sequence[str]) -> dict[tuple[int, str], str]:
        """Return users' judgements (relevant, irrelevant) by topic id and canonical key."""
        found: dict[tuple[int, str], str] = {}
        said = TopicExample.origin != ExampleOrigin.EXAMPLE
        # Topics are listed because the index of canonical keys begins with them.
        said &= TopicExample.topic.in_(Topic.select(Topic.id))
        wanted = TopicExample.select(
            TopicExample.topic, TopicExample.canonical_key, TopicExample.origin
        )
        for batch in batches(canonical_keys):
            rows = self._rows(wanted.where(said & TopicExample.canonical_key.in_(batch)))
            found |= {(topic, canonical_key): origin for topic, canonical_key, origin in rows}
        return found

    def example_counts(self) -> dict[int, dict[str, int]]:
        """Count training examples by topic id and origin."""
        key = (TopicExample.topic, TopicExample.origin)
        return self._counts(TopicExample.select(*key, fn.COUNT(TopicExample.id)).group_by(*key))

    def example(self, example_id: int) -> ExampleRow | None:
        """Return one example."""
        query = _EXAMPLE.select().where(TopicExample.id == example_id)
        return self._first(_EXAMPLE, query)

    def due_examples(self, now: float, *, limit: int = 20) -> list[ExampleRow]:
        """Return examples to fetch at *now*, longest due first."""
        query = _EXAMPLE.select().where(TopicExample.due_at <= now)
        query = query.order_by(TopicExample.due_at, TopicExample.id)
        return self._all(_EXAMPLE, query.limit(limit))

    def update_example(self, example_id: int, **fields: object) -> None:
        """Set columns of an example."""
        query = TopicExample.update(columns(fields, _BOUNDS))
        self._write(query.where(TopicExample.id == example_id))

    def forget_example(self, example_id: int) -> None:
        """Delete an example."""
        self._write(TopicExample.delete().where(TopicExample.id == example_id))

    # Scores of pages.

    def scores(self, page_ids: Sequence[int], topic_id: int | None = None) -> list[PageScore]:
        """Return scores of these pages, by all topics or one."""
        found: list[PageScore] = []
        for batch in batches(page_ids):
            query = _SCORE.select().where(PageTopic.page.in_(batch))
            if topic_id is not None:
                query = query.where(PageTopic.topic == topic_id)
            found += self._all(_SCORE, query)
        return found

    def counts(self) -> dict[int, dict[str, int]]:
        """Count announced pages by topic id and verdict; guesses as ``guess``."""
        key = (PageTopic.topic, PageTopic.verdict, PageTopic.fetched)
        query = PageTopic.select(*key, fn.COUNT(PageTopic.page)).group_by(*key)
        query = query.join(News, on=News.page == PageTopic.page)
        counts: dict[int, dict[str, int]] = {}
        for topic, verdict, fetched, count in self._rows(query):
            of = counts.setdefault(topic, {})
            name = verdict if fetched else "guess"
            of[name] = of.get(name, 0) + count
        return counts

    def put_scores(self, site_id: int, scores: Sequence[TopicScore], *, now: float) -> None:
        """Record scores outside a visit (from cached bodies)."""
        with writing(self._db, self._where):
            put_scores(self._db, site_id, scores, now)

    def refine_guesses(self, site_id: int, scores: Sequence[TopicScore], *, now: float) -> None:
        """Replace guesses of pages that still are guessed, and when they are verified.

        What was judged, answered by a user or deleted meanwhile stays as it is.
        """
        with writing(self._db, self._where):
            for score in scores:
                self._refine_guess(site_id, score, now)

    def _refine_guess(self, site_id: int, score: TopicScore, now: float) -> None:
        pages = Page.select(LIVING).where(
            (Page.site == site_id) & (Page.canonical_key == score.canonical_key)
        )
        page_id = pages.scalar(self._db)
        own = (PageTopic.page == page_id) & (PageTopic.topic == score.topic_id)
        guess = PageTopic.update(
            score=score.score,
            verdict=score.verdict,
            method=score.method,
            version=score.version,
            terms=storable(json.dumps(score.terms, ensure_ascii=False), None),
            at=now,
        ).where(own & ~PageTopic.fetched & (PageTopic.method != YOU))
        if page_id is None or not guess.execute(self._db):
            return
        best = PageTopic.select(fn.MAX(PageTopic.score)).where(
            (PageTopic.page == page_id) & ~PageTopic.fetched
        )
        Page.update(verify_score=best.scalar(self._db)).where(
            (Page.id == page_id) & Page.verify_score.is_null(is_null=False)
        ).execute(self._db)

    def unjudged(self, topic_id: int, *, limit: int) -> list[KeptPage]:
        """Return pages announced or read, with cached bodies, that a topic has not judged, newest first.

        Only among the pages visited last.
        """
        judged = PageTopic.select(PageTopic.page).where(
            (PageTopic.topic == topic_id) & PageTopic.fetched
        )
        # A page that was read may be announced later, by another hub, and is not read again then.
        read = Page.announced_at.is_null(is_null=False) | Page.verified_at.is_null(is_null=False)
        return self._kept(read & Page.id.not_in(judged), limit)

    def kept_pages(self, *, limit: int) -> list[KeptPage]:
        """Return the pages visited last whose bodies are cached, newest first."""
        return self._kept(Page.verified_at.is_null(is_null=False), limit)

    def kept(self, page_ids: Sequence[int]) -> list[KeptPage]:
        """Return those of some pages whose bodies are cached, in the order of *page_ids*."""
        own = Page.id.in_(page_ids) & Page.body_md5.is_null(is_null=False)
        found = {page.page_id: page for page in self._all(_KEPT, _KEPT.select().where(own))}
        return [found[page_id] for page_id in page_ids if page_id in found]

    def judged_relevant(self, topic_id: int, *, limit: int) -> list[KeptPage]:
        """Return fetched pages that the topic itself judged relevant, last judged first."""
        own = (PageTopic.topic == topic_id) & PageTopic.fetched & (PageTopic.method != YOU)
        query = (
            _KEPT.select()
            .join(PageTopic, on=PageTopic.page == Page.id)
            .where(
                own
                & (PageTopic.verdict == TopicVerdict.RELEVANT)
                & Page.body_md5.is_null(is_null=False)
            )
            .order_by(PageTopic.at.desc(), Page.id.desc())
            .limit(limit)
        )
        return self._all(_KEPT, query)

    def _kept(self, which: Any, limit: int) -> list[KeptPage]:  # noqa: ANN401 - a peewee expression
        latest = (
            Visit.select(Visit.page, Visit.at)
            .order_by(Visit.at.desc())
            .limit(_RECENT_VISITS)
            .alias("latest")
        )
        query = (
            _KEPT.select()
            .join(latest, on=latest.c.page_id == Page.id)
            .where(which & Page.body_md5.is_null(is_null=False))
            .group_by(*_KEPT.columns)
            .order_by(fn.MAX(latest.c.at).desc())
            .limit(limit)
        )
        return self._all(_KEPT, query)


def put_scores(db: Database, site_id: int, scores: Sequence[TopicScore], now: float) -> None:
    """Write judgements and guesses inside the caller's transaction.

    Pages and topics deleted meanwhile are skipped.
    """
    if not scores:
        return
    ids: dict[str, int] = {}
    for batch in batches(score.canonical_key for score in scores):
        same = (Page.site == site_id) & Page.canonical_key.in_(batch)
        ids.update(Page.select(Page.canonical_key, LIVING).where(same).tuples().execute(db))
    query = Topic.select(Topic.id).where(Topic.id.in_({score.topic_id for score in scores}))
    known = {topic for (topic,) in query.tuples().execute(db)}
    named = ("score", "verdict", "fetched", "method", "version", "terms", "at")
    # A guess never replaces a judgement, nor a judgement a user's mark.
    outranked = (PageTopic.method != YOU) | (EXCLUDED.method == YOU)
    for score in scores:
        page_id = ids.get(score.canonical_key)
        if page_id is None or score.topic_id not in known:
            continue
        row = {"page": page_id, "topic": score.topic_id, "at": now, **asdict(score)}
        del row["canonical_key"], row["topic_id"]
        terms = [[term, round(share, 4)] for term, share in score.terms]
        row["terms"] = storable(json.dumps(terms, ensure_ascii=False), None)
        insert = upsert(PageTopic, row, ("page", "topic"), named, outranked)
        if not score.fetched:
            insert = PageTopic.insert(row).on_conflict_ignore()
        insert.execute(db)
