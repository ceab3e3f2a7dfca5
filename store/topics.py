"""Topics: what users want, what it is learned from, and what it makes of pages.

What a visit brings (scores, leads) is written by the visit's own transaction, with
:func:`put_scores` and :func:`put_leads`; everything else is read and written here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from peewee import EXCLUDED, Database, chunked, fn

from store.database import storage_errors, writing
from store.models import Page, PageTopic, Topic, TopicBackground, TopicExample, TopicLead, Visit
from store.reader import Reader
from store.texts import MAX_ADDRESS, MAX_TEXT, storable
from store.topic_values import ExampleRow, KeptPage, LeadRow, NewExample, PageScore, TopicRow
from store.values import NewLead, TopicScore

MAX_LEADS = 100_000
"""Leads kept of one topic, as many as the queue of paper 004; the least promising give way."""
YOU = "you"
"""The method of a score that is a user's own word."""
_RECENT_VISITS = 2_000
_BOUNDS = {"title": MAX_TEXT} | dict.fromkeys(("url", "identity", "found_on"), MAX_ADDRESS)

_TOPIC_COLUMNS = [getattr(Topic, f.name) for f in fields(TopicRow)]
_EXAMPLE_COLUMNS = [
    {"topic_id": TopicExample.topic}.get(f.name) or getattr(TopicExample, f.name)
    for f in fields(ExampleRow)
]
_SCORE_COLUMNS = [
    {"page_id": PageTopic.page, "topic_id": PageTopic.topic}.get(f.name)
    or getattr(PageTopic, f.name)
    for f in fields(PageScore)
]
_LEAD_COLUMNS = [
    {"topic_id": TopicLead.topic}.get(f.name) or getattr(TopicLead, f.name) for f in fields(LeadRow)
]
_KEPT_COLUMNS = [Page.id, Page.site, Page.url, Page.identity, Page.body_md5]


class Topics(Reader):
    """The questions and the writes, on one database."""

    # Topics.

    def topics(self) -> list[TopicRow]:
        """Return all topics in the order in which they were added."""
        return [
            TopicRow(*row) for row in self._rows(Topic.select(*_TOPIC_COLUMNS).order_by(Topic.id))
        ]

    def topic(self, name: str) -> TopicRow | None:
        """Return the topic of a name."""
        query = Topic.select(*_TOPIC_COLUMNS).where(Topic.name == storable(name))
        rows = self._rows(query)
        return TopicRow(*rows[0]) if rows else None

    def add(self, name: str, keywords: Sequence[str], method: str, *, now: float) -> int:
        """Add a topic that waits for its first lesson; return its id.

        One of that name is given these key words and this method, and learns anew; what it was taught
        stays.
        """
        row = {
            "name": storable(name),
            "keywords": storable(json.dumps(list(keywords), ensure_ascii=False), None),
            "method": method,
            "created_at": now,
            "changed_at": now,
        }
        with writing(self._db, self._where):
            query = Topic.insert(row).on_conflict(
                conflict_target=[Topic.name],
                update={
                    getattr(Topic, column): getattr(EXCLUDED, column)
                    for column in ("keywords", "method", "changed_at")
                },
            )
            query.execute(self._db)
            found = Topic.select(Topic.id).where(Topic.name == row["name"])
            return int(found.scalar(self._db))

    def update(self, topic_id: int, **fields: object) -> None:
        """Set columns of a topic."""
        with storage_errors(self._where):
            Topic.update(_whole(fields)).where(Topic.id == topic_id).execute(self._db)

    def remove(self, topic_id: int) -> None:
        """Delete a topic with its examples, its scores of pages and its leads."""
        with writing(self._db, self._where):
            Topic.delete().where(Topic.id == topic_id).execute(self._db)

    def model(self, topic_id: int) -> str:
        """Return the JSON of a topic's model; empty = it has none."""
        return self._text(Topic.model, topic_id)

    def put_model(self, topic_id: int, model: str, version: str, *, before: str) -> bool:
        """Replace a model of version *before*; False = another one is there by now, and stays."""
        with storage_errors(self._where):
            query = Topic.update(model=storable(model, None), version=storable(version)).where(
                (Topic.id == topic_id) & (Topic.version == before)
            )
            return bool(query.execute(self._db))

    def links(self, topic_id: int) -> str:
        """Return the JSON of what a topic learned of links; empty = nothing yet."""
        return self._text(Topic.links, topic_id)

    def _text(self, column: Any, topic_id: int) -> str:  # noqa: ANN401 - a peewee field
        rows = self._rows(Topic.select(column).where(Topic.id == topic_id))
        return str(rows[0][0]) if rows else ""

    # Examples.

    def put_examples(self, topic_id: int, examples: Iterable[NewExample], *, now: float) -> None:
        """Add pages to learn from; the topic is to learn anew. The last word on a page counts.

        A text that is there already stays when the new example has none.
        """
        with writing(self._db, self._where):
            for example in examples:
                self._put_example(topic_id, example, now)
            Topic.update(changed_at=now).where(Topic.id == topic_id).execute(self._db)

    def _put_example(self, topic_id: int, example: NewExample, now: float) -> None:
        row = {"topic": topic_id, "added_at": now, **_whole(asdict(example))}
        changed = ["origin", "url"]
        if example.text is not None:
            changed += ["title", "text", "due_at"]
        elif example.due_at is not None:
            changed.append("due_at")
        query = TopicExample.insert(row).on_conflict(
            conflict_target=[TopicExample.topic, TopicExample.identity],
            update={getattr(TopicExample, column): getattr(EXCLUDED, column) for column in changed},
        )
        query.execute(self._db)

    def examples(self, topic_id: int) -> list[ExampleRow]:
        """Return what a topic learns from, in the order in which it was given."""
        query = TopicExample.select(*_EXAMPLE_COLUMNS).where(TopicExample.topic == topic_id)
        return [ExampleRow(*row) for row in self._rows(query.order_by(TopicExample.id))]

    def said_of(self, identities: Sequence[str]) -> dict[tuple[int, str], str]:
        """Return what users said of pages, relevant or irrelevant, by topic id and identity."""
        found: dict[tuple[int, str], str] = {}
        for batch in chunked(identities, 500):
            said = TopicExample.identity.in_(batch) & (TopicExample.origin != "example")
            # The topics are named because the index of identities begins with them.
            of = TopicExample.topic.in_(Topic.select(Topic.id))
            columns = (TopicExample.topic, TopicExample.identity, TopicExample.origin)
            rows = self._rows(TopicExample.select(*columns).where(of & said))
            found |= {(topic, identity): origin for topic, identity, origin in rows}
        return found

    def score_counts(self, topic_id: int, *, parts: int = 20) -> list[int]:
        """Count the pages that a topic judged by score: from 0 to 1 in so many equal parts."""
        step = 1 / parts
        counts = []
        for number in range(parts):
            above = PageTopic.score >= number * step
            below = PageTopic.score < (number + 1) * step if number + 1 < parts else True
            judged = (PageTopic.topic == topic_id) & above & below & PageTopic.fetched
            counts.append(
                int(self._rows(PageTopic.select(fn.COUNT(PageTopic.page)).where(judged))[0][0])
            )
        return counts

    def example_counts(self) -> dict[int, dict[str, int]]:
        """Count what topics learn from, by topic id and origin."""
        query = TopicExample.select(
            TopicExample.topic, TopicExample.origin, fn.COUNT(TopicExample.id)
        ).group_by(TopicExample.topic, TopicExample.origin)
        counts: dict[int, dict[str, int]] = {}
        for topic, origin, count in self._rows(query):
            counts.setdefault(topic, {})[origin] = count
        return counts

    def example(self, example_id: int) -> ExampleRow | None:
        """Return one example."""
        query = TopicExample.select(*_EXAMPLE_COLUMNS).where(TopicExample.id == example_id)
        rows = self._rows(query)
        return ExampleRow(*rows[0]) if rows else None

    def due_examples(self, now: float, *, limit: int = 20) -> list[ExampleRow]:
        """Return examples that are to be fetched at *now*, those due longest first."""
        query = (
            TopicExample.select(*_EXAMPLE_COLUMNS)
            .where(TopicExample.due_at <= now)
            .order_by(TopicExample.due_at, TopicExample.id)
            .limit(limit)
        )
        return [ExampleRow(*row) for row in self._rows(query)]

    def update_example(self, example_id: int, **fields: object) -> None:
        """Set columns of an example."""
        with storage_errors(self._where):
            query = TopicExample.update(_whole(fields)).where(TopicExample.id == example_id)
            query.execute(self._db)

    def forget_example(self, example_id: int) -> None:
        """Delete an example."""
        with storage_errors(self._where):
            TopicExample.delete().where(TopicExample.id == example_id).execute(self._db)

    # What topics make of pages.

    def scores(self, page_ids: Sequence[int], topic_id: int | None = None) -> list[PageScore]:
        """Return what topics, or one of them, make of these pages."""
        found: list[PageScore] = []
        for batch in chunked(page_ids, 500):
            query = PageTopic.select(*_SCORE_COLUMNS).where(PageTopic.page.in_(batch))
            if topic_id is not None:
                query = query.where(PageTopic.topic == topic_id)
            found += [PageScore(*row) for row in self._rows(query)]
        return found

    def counts(self) -> dict[int, dict[str, int]]:
        """Count the pages that each topic judged, by topic id and verdict; guesses as ``guess``."""
        query = PageTopic.select(
            PageTopic.topic, PageTopic.verdict, PageTopic.fetched, fn.COUNT(PageTopic.page)
        ).group_by(PageTopic.topic, PageTopic.verdict, PageTopic.fetched)
        counts: dict[int, dict[str, int]] = {}
        for topic, verdict, fetched, count in self._rows(query):
            of = counts.setdefault(topic, {})
            name = verdict if fetched else "guess"
            of[name] = of.get(name, 0) + count
        return counts

    def put_scores(self, site_id: int, scores: Sequence[TopicScore], *, now: float) -> None:
        """Record judgements of pages that no visit brought (bodies kept from before)."""
        with writing(self._db, self._where):
            put_scores(self._db, site_id, scores, now)

    def unjudged(self, topic_id: int, *, limit: int) -> list[KeptPage]:
        """Return told pages whose bodies were kept and that a topic never judged, the latest first.

        Of the pages that were visited last; older ones are left as they are.
        """
        judged = PageTopic.select(PageTopic.page).where(
            (PageTopic.topic == topic_id) & PageTopic.fetched
        )
        told = Page.announced_at.is_null(is_null=False) & Page.id.not_in(judged)
        return self._kept(told, limit)

    def kept_pages(self, *, limit: int) -> list[KeptPage]:
        """Return pages that were looked at last and whose bodies were kept, the latest first."""
        return self._kept(Page.looked_at.is_null(is_null=False), limit)

    def judged_relevant(self, topic_id: int, *, limit: int) -> list[KeptPage]:
        """Return the fetched pages that a topic found relevant by itself, the latest judged first."""
        own = (PageTopic.topic == topic_id) & PageTopic.fetched & (PageTopic.method != YOU)
        query = (
            Page.select(*_KEPT_COLUMNS)
            .join(PageTopic, on=PageTopic.page == Page.id)
            .where(own & (PageTopic.verdict == "relevant") & Page.body_md5.is_null(is_null=False))
            .order_by(PageTopic.at.desc(), Page.id.desc())
            .limit(limit)
        )
        return [KeptPage(*row) for row in self._rows(query)]

    def _kept(self, which: Any, limit: int) -> list[KeptPage]:  # noqa: ANN401 - a peewee expression
        latest = (
            Visit.select(Visit.page, Visit.at)
            .order_by(Visit.at.desc())
            .limit(_RECENT_VISITS)
            .alias("latest")
        )
        query = (
            Page.select(*_KEPT_COLUMNS)
            .join(latest, on=latest.c.page_id == Page.id)
            .where(which & Page.body_md5.is_null(is_null=False))
            .group_by(*_KEPT_COLUMNS)
            .order_by(fn.MAX(latest.c.at).desc())
            .limit(limit)
        )
        return [KeptPage(*row) for row in self._rows(query)]

    # Leads.

    def leads_after(self, lead_id: int, *, limit: int) -> list[tuple[int, str, float]]:
        """Return id, URL and score of the waiting leads that came after one, in their order."""
        later = (TopicLead.state == "waiting") & (TopicLead.id > lead_id)
        columns = (TopicLead.id, TopicLead.url, TopicLead.score)
        rows = self._rows(
            TopicLead.select(*columns).where(later).order_by(TopicLead.id).limit(limit)
        )
        return [(int(number), str(url), float(score)) for number, url, score in rows]

    def waiting_lead(self, url: str) -> LeadRow | None:
        """Return the lead to an address if it still waits; of several topics', the most promising."""
        same = (TopicLead.url == url) & (TopicLead.state == "waiting")
        query = TopicLead.select(*_LEAD_COLUMNS).where(same).order_by(TopicLead.score.desc())
        rows = self._rows(query.limit(1))
        return LeadRow(*rows[0]) if rows else None

    def lead(self, lead_id: int) -> LeadRow | None:
        """Return one lead."""
        rows = self._rows(TopicLead.select(*_LEAD_COLUMNS).where(TopicLead.id == lead_id))
        return LeadRow(*rows[0]) if rows else None

    def put_leads(self, leads: Sequence[NewLead], *, now: float) -> None:
        """Record leads that no visit brought (an example's own site)."""
        with writing(self._db, self._where):
            put_leads(self._db, leads, now)

    def close_lead(self, lead_id: int, state: str) -> None:
        """Say what became of a lead."""
        with storage_errors(self._where):
            query = TopicLead.update(state=storable(state)).where(TopicLead.id == lead_id)
            query.execute(self._db)

    def close_leads_to(self, domain: str, state: str) -> None:
        """Say what became of all waiting leads to a domain."""
        waiting = (TopicLead.domain == domain) & (TopicLead.state == "waiting")
        with storage_errors(self._where):
            TopicLead.update(state=storable(state)).where(waiting).execute(self._db)

    # Background.

    def background(self, name: str) -> str:
        """Return what was kept under a name; empty = nothing."""
        query = TopicBackground.select(TopicBackground.data).where(TopicBackground.name == name)
        rows = self._rows(query)
        return str(rows[0][0]) if rows else ""

    def put_background(self, name: str, data: str, *, now: float) -> None:
        """Keep *data* under a name, instead of what was there."""
        row = {"name": name, "data": storable(data, None), "at": now}
        with storage_errors(self._where):
            query = TopicBackground.insert(row).on_conflict(
                conflict_target=[TopicBackground.name],
                update={TopicBackground.data: EXCLUDED.data, TopicBackground.at: EXCLUDED.at},
            )
            query.execute(self._db)


def put_scores(db: Database, site_id: int, scores: Sequence[TopicScore], now: float) -> None:
    """Write judgements and guesses; the caller has begun a transaction.

    A guess never replaces a judgement, and a judgement never what a user said (method ``you``). Pages and
    topics that are gone meanwhile are passed over.
    """
    ids = _page_ids(db, site_id, [score.identity for score in scores])
    query = Topic.select(Topic.id).where(Topic.id.in_({score.topic_id for score in scores}))
    known = {topic for (topic,) in query.tuples().execute(db)} if scores else set()
    for score in scores:
        page_id = ids.get(score.identity)
        if page_id is None or score.topic_id not in known:
            continue
        insert = PageTopic.insert(_score_row(page_id, score, now))
        if not score.fetched:
            insert.on_conflict_ignore().execute(db)
            continue
        of = [PageTopic.page, PageTopic.topic]
        named = ("score", "verdict", "fetched", "method", "version", "terms", "at")
        update = {getattr(PageTopic, name): getattr(EXCLUDED, name) for name in named}
        outranked = (PageTopic.method != YOU) | (EXCLUDED.method == YOU)
        insert.on_conflict(conflict_target=of, update=update, where=outranked).execute(db)


def _score_row(page_id: int, score: TopicScore, now: float) -> dict[str, object]:
    terms = json.dumps([[term, round(share, 4)] for term, share in score.terms], ensure_ascii=False)
    return {
        "page": page_id,
        "topic": score.topic_id,
        "score": score.score,
        "verdict": score.verdict,
        "fetched": score.fetched,
        "method": score.method,
        "version": score.version,
        "terms": storable(terms, None),
        "at": now,
    }


def put_leads(db: Database, leads: Sequence[NewLead], now: float) -> None:
    """Write leads; one that is known keeps its better score. The caller has begun a transaction."""
    for lead in leads:
        row = {"topic": lead.topic_id, "found_at": now, **_whole(asdict(lead))}
        del row["topic_id"]
        query = TopicLead.insert(row).on_conflict(
            conflict_target=[TopicLead.topic, TopicLead.identity],
            update={TopicLead.score: EXCLUDED.score},
            where=EXCLUDED.score > TopicLead.score,
        )
        query.execute(db)
    for topic_id in {lead.topic_id for lead in leads}:
        waiting = (TopicLead.topic == topic_id) & (TopicLead.state == "waiting")
        best = TopicLead.select(TopicLead.id).where(waiting).order_by(TopicLead.score.desc())
        lowest = best.offset(MAX_LEADS).limit(MAX_LEADS)
        doomed = [one for (one,) in lowest.tuples().execute(db)]
        for batch in chunked(doomed, 500):
            TopicLead.delete().where(TopicLead.id.in_(batch)).execute(db)


def _page_ids(db: Database, site_id: int, identities: Sequence[str]) -> Mapping[str, int]:
    ids: dict[str, int] = {}
    for batch in chunked(dict.fromkeys(identities), 500):
        same = (Page.site == site_id) & Page.identity.in_(batch)
        ids.update(Page.select(Page.identity, Page.id).where(same).tuples().execute(db))
    return ids


def _whole(fields: Mapping[str, object]) -> dict[str, Any]:
    """Return column values with every text storable; JSON and texts of pages are not cut."""
    return {
        name: storable(value, _BOUNDS.get(name)) if isinstance(value, str) else value
        for name, value in fields.items()
    }
