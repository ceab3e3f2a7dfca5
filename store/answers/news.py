"""Lists announced pages: a query yields ids, in a bounded number of rows, and these yield results.

Ids are walked in the order of announcement along the most selective index (site, language, unread
or starred)::

    several sites   a walk each, merged
    since, until            two ids that bound the walk
    topic                   few pages: walk only those; many: test each row
    words                   few matches: only those; few rows left by the rest: test each of them;
                            else read matches in id order from the full-text index, in pieces
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import and_, or_
from typing import Any

from peewee import JOIN, SQL, Database, chunked, fn

from store.answers.announced import AnnouncedPage, TopicMark
from store.answers.excerpts import LEAD_BYTES, lead, with_excerpts
from store.answers.values import NewQuery, NewsAnswer
from store.enums import TopicVerdict
from store.models import News, Page, PageText, PageTopic, Site, SiteTag, Topic, TopicTag
from store.search.fulltext import Match, all_of, any_of
from store.search.news import primary_language
from store.search.words import read_query

MOST_ROWS = 1_000_000
# Pages of a topic, or matches of words, up to which each is taken one by one.
FEW_ROWS = 5_000
# Rows left by the other conditions up to which each is tested for the words.
NARROW_ROWS = 1_000
# Ids grow with time unless the clock was set back, so the extremes are sought among this many rows next
# to a bound in time. Only a clock set back over more announced pages than that could hide one.
_FENCE_ROWS = 5_000
_BATCH = 500
# Sites of a tag up to which each is walked along its own index.
FEW_SITES = 50
_MAX_ID = 2**63 - 1
# Of the row that is tested, as peewee calls it.
_OWN_ID = '"t1"."id"'


def new_pages(database: Database, query: NewQuery) -> NewsAnswer:
    """Return announced pages; no query is an error."""
    ids = _NewsIds(database, query)
    limit = min(max(query.limit, 1), MOST_ROWS)
    rows: list[AnnouncedPage] = []
    cursor, more = query.after, True
    while more and len(rows) < limit:
        wanted = limit - len(rows)
        batch = ids.after(cursor, wanted + 1)
        more = len(batch) > wanted
        batch = batch[:wanted]
        # Pages merged into others are skipped, and so are their cursors.
        found = news_rows(database, batch)
        rows += [found[row] for row in batch if row in found]
        cursor = batch[-1] if batch else cursor
    if query.text.strip():
        rows = with_excerpts(database, rows, read_query(query.text))
    return NewsAnswer(tuple(rows), cursor, more)


def news_rows(database: Database, ids: Sequence[int]) -> dict[int, AnnouncedPage]:
    """Return announced pages by row id; pages folded into others are left out."""
    hub_page, other = Page.alias(), PageText.alias()
    same = other.select(fn.COUNT(other.page)).where(other.cluster == PageText.cluster)
    columns = (
        *(News.id, Page.id, Page.url, Page.title, Page.anchor, Site.name, Site.id),
        *(News.found_at, Page.published_at, News.hub_id, hub_page.url, Page.language, Page.state),
        *(News.read_at, News.starred_at, PageText.cluster, same),
        fn.SUBSTR(PageText.text, 1, LEAD_BYTES),
    )
    found: list[tuple[Any, ...]] = []
    for batch in chunked(ids, _BATCH):
        asked = (
            News.select(*columns)
            .join(Page, on=Page.id == News.page)
            .join(Site, on=Site.id == News.site)
            .join(hub_page, JOIN.LEFT_OUTER, on=hub_page.id == News.hub_id)
            .join(PageText, JOIN.LEFT_OUTER, on=PageText.page == Page.id)
            .where(News.id.in_(batch) & (Page.state != "moved"))
        )
        found += asked.tuples().execute(database)
    pages = [row[1] for row in found]
    marks = topics_of(database, pages)
    return {
        row[0]: replace(
            AnnouncedPage(*row[:-3]),
            topics=tuple(marks.get(row[1], ())),
            cluster=row[-3],
            copies=max(row[-2] - 1, 0),
            excerpt=lead(row[-1], row[3] or row[4]),
        )
        for row in found
    }


def topics_of(database: Database, page_ids: Sequence[int]) -> dict[int, list[TopicMark]]:
    """Return topic scores by page id, best first."""
    found: dict[int, list[TopicMark]] = {}
    for batch in chunked(page_ids, _BATCH):
        query = (
            PageTopic.select(
                *(PageTopic.page, Topic.id, Topic.name, PageTopic.score),
                *(PageTopic.verdict, PageTopic.fetched, PageTopic.terms),
            )
            .join(Topic, on=Topic.id == PageTopic.topic)
            .where(PageTopic.page.in_(batch))
            .order_by(PageTopic.score.desc())
        )
        for page, *mark in query.tuples().execute(database):
            found.setdefault(page, []).append(TopicMark(*mark))
    return found


class _NewsIds:
    """Finds the row ids of one query."""

    def __init__(self, database: Database, query: NewQuery) -> None:
        self._db = database
        self._query = query
        self._newest = query.order != "oldest"
        self._phrases = read_query(query.text) if query.text.strip() else None
        self._matching = None if self._phrases is None else all_of(database, self._phrases)
        # Whether a topic or words select few pages.
        self._few = False
        self._conditions = [
            *([News.found_at >= query.since] if query.since is not None else []),
            *([News.found_at < query.until] if query.until is not None else []),
            *([News.read_at.is_null(not query.read)] if query.read is not None else []),
            *([News.starred_at.is_null(not query.starred)] if query.starred is not None else []),
        ]
        if query.language is not None:
            self._conditions.append(News.language == (primary_language(query.language) or ""))
        if any(x is not None for x in (query.topic, query.verdict, query.min_score)):
            self._conditions.append(self._judged())
            self._conditions += self._words_of_topic(query.topic)
        if query.among is not None:
            self._few = True
            self._conditions.append(News.page.in_(query.among))
        if query.include:
            self._few = self._few or any_of(database, query.include).is_few(FEW_ROWS)
        self._conditions += self._with_words(query.include, query.exclude)
        # Walks along few sites; None = all rows, tested one by one.
        self._walked = query.sites
        if query.tag is not None:
            self._narrow_to_tag(query.tag)
        bounded = query.since is not None or query.until is not None
        self._fence = self._fenced() if bounded else (0, _MAX_ID)

    def after(self, cursor: int | None, count: int) -> list[int]:
        """Return the next *count* ids after *cursor*, in the query's order."""
        walks: list[list[Any]] = [[]]
        if self._walked is not None:
            walks = [[News.site == site] for site in self._walked]
        low, high = self._fence
        if cursor is not None and self._newest:
            high = min(high, min(max(cursor, 0), _MAX_ID) - 1)
        elif cursor is not None:
            low = max(low, min(max(cursor, -1), _MAX_ID - 1) + 1)
        found: set[int] = set()
        for key in walks:
            conditions = [*self._conditions, *key]
            if self._matching is None:
                found |= set(self._listed(conditions, low, high, count))
            else:
                found |= set(self._found(self._matching, conditions, (low, high), count))
        return sorted(found, reverse=self._newest)[:count]

    def _listed(
        self,
        conditions: Sequence[Any],
        low: int,
        high: int,
        count: int,
        *,
        along_ids: bool = True,
    ) -> list[int]:
        bounds = [News.id >= low] if low > 0 else []
        bounds += [News.id <= high] if high < _MAX_ID else []
        # With few rows, ordering by id would tempt the planner to walk all rows instead.
        order: Any = News.id if along_ids and not self._few else News.id + 0
        rows = News.select(News.id).order_by(order.desc() if self._newest else order).limit(count)
        if conditions or bounds:
            rows = rows.where(reduce(and_, [*conditions, *bounds]))
        return [row for (row,) in rows.tuples().execute(self._db)]

    def _found(
        self, matching: Match, conditions: list[Any], between: tuple[int, int], count: int
    ) -> list[int]:
        """Return ids of rows that match the words, by the cheapest plan."""
        if matching.is_few(FEW_ROWS):
            few = News.id.in_(matching.ids(between))
            return self._listed([*conditions, few], 0, _MAX_ID, count, along_ids=False)
        if not conditions:
            piece = matching.ids(between, newest=self._newest, most=count)
            return self._listed([News.id.in_(piece)], 0, _MAX_ID, count, along_ids=False)
        few_rows = News.select(News.id).where(reduce(and_, conditions)).limit(NARROW_ROWS + 1)
        narrow = len(list(few_rows.tuples().execute(self._db))) <= NARROW_ROWS
        if narrow and not any(phrase.prefix for phrase in self._phrases or ()):
            return self._listed([*conditions, matching.holds(_OWN_ID)], *between, count)
        return self._streamed(matching, conditions, between, count)

    def _streamed(
        self, matching: Match, conditions: list[Any], between: tuple[int, int], count: int
    ) -> list[int]:
        """Take full-text matches in id order, in growing pieces, until enough rows match the rest."""
        (low, high), size = between, 4 * count
        ids: list[int] = []
        while True:
            here = matching.listed((low, high), newest=self._newest, most=size)
            for batch in chunked(here, _BATCH):
                wanted = [*conditions, News.id.in_(batch)]
                ids += self._listed(wanted, 0, _MAX_ID, count - len(ids), along_ids=False)
                if len(ids) >= count:
                    return ids
            if len(here) < size:
                return ids
            low, high = (low, here[-1] - 1) if self._newest else (here[-1] + 1, high)
            size = min(4 * size, FEW_ROWS)

    def _fenced(self) -> tuple[int, int]:
        """Return the lowest and highest id that *since* and *until* allow."""
        # They only save time: every row is still filtered by every condition.
        since, until = self._query.since, self._query.until
        low, high = 0, _MAX_ID
        if since is not None:
            near = News.select(News.id).where(News.found_at >= since).order_by(News.found_at)
            near = near.limit(_FENCE_ROWS).alias("near")
            lowest = News.select(fn.MIN(near.c.id)).from_(near).scalar(self._db)
            low = _MAX_ID if lowest is None else int(lowest)
        if until is not None:
            near = News.select(News.id).where(News.found_at < until).order_by(News.found_at.desc())
            near = near.limit(_FENCE_ROWS).alias("near")
            highest = News.select(fn.MAX(near.c.id)).from_(near).scalar(self._db)
            high = -1 if highest is None else int(highest)
        return low, high

    def _narrow_to_tag(self, tag: str) -> None:
        """Add the condition of a tag; few sites without a topic are walked one by one."""
        sites = list(self._column(SiteTag.select(SiteTag.site).where(SiteTag.tag == tag)))
        topics = list(self._column(TopicTag.select(TopicTag.topic).where(TopicTag.tag == tag)))
        if not topics and len(sites) <= FEW_SITES and self._walked is None:
            self._walked = tuple(sites)
            return
        tagged = SiteTag.select(SiteTag.site).where(SiteTag.tag == tag)
        parts = [News.site.in_(tagged), *map(self._wanted_by, topics)]
        self._conditions.append(reduce(or_, parts))

    def _wanted_by(self, topic: int) -> Any:  # noqa: ANN401 - a peewee condition
        """Return the condition that a topic holds a page for relevant or doubtful."""
        judged = (PageTopic.topic == topic) & (PageTopic.verdict != TopicVerdict.IRRELEVANT)
        one = fn.EXISTS(PageTopic.select(SQL("1")).where(judged & (PageTopic.page == News.page)))
        return reduce(and_, [one, *self._words_of_topic(topic)])

    def _words_of_topic(self, topic: int | None) -> list[Any]:
        """Return the conditions of the words that a topic's pages must or must not have."""
        if topic is None:
            return []
        rows = Topic.select(Topic.include, Topic.exclude).where(Topic.id == topic).tuples()
        return [
            condition
            for include, exclude in rows.execute(self._db)
            for condition in self._with_words(json.loads(include), json.loads(exclude))
        ]

    def _with_words(self, include: Sequence[str], exclude: Sequence[str]) -> list[Any]:
        """Return the conditions on words: few matches are listed, many are tested row by row."""
        conditions: list[Any] = []
        if include:
            wanted = any_of(self._db, include)
            few = wanted.is_few(FEW_ROWS)
            conditions.append(News.id.in_(wanted.ids()) if few else wanted.holds(_OWN_ID))
        if exclude:
            conditions.append(any_of(self._db, exclude).holds(_OWN_ID, negated=True))
        return conditions

    def _column(self, query: Any) -> list[Any]:  # noqa: ANN401 - a peewee query
        return [row for (row,) in query.tuples().execute(self._db)]

    def _judged(self) -> Any:  # noqa: ANN401 - a peewee condition
        """Return the condition on topic scores; notes whether it leaves few pages."""
        query = self._query
        if query.topic is None:
            # The indexes begin with the topic.
            wanted: list[Any] = [PageTopic.topic.in_(Topic.select(Topic.id))]
        else:
            wanted = [PageTopic.topic == query.topic]
        if query.topic is not None and query.hidden_verdict is not None:
            wanted.append(PageTopic.verdict != query.hidden_verdict)
        if query.verdict is not None:
            wanted.append(PageTopic.verdict == query.verdict)
        if query.min_score is not None:
            wanted.append(PageTopic.score >= query.min_score)
        judged = reduce(and_, wanted)
        inner = PageTopic.select(PageTopic.page).where(judged).limit(FEW_ROWS + 1).alias("found")
        count = int(PageTopic.select(fn.COUNT(SQL("1"))).from_(inner).scalar(self._db))
        self._few = count <= FEW_ROWS
        if self._few:
            return News.page.in_(PageTopic.select(PageTopic.page).where(judged))
        return fn.EXISTS(PageTopic.select(SQL("1")).where(judged & (PageTopic.page == News.page)))
