"""From a query of told pages to ids, within a bounded number of looked-at rows, and to rows.

Rows are walked in the order of their ids, which is that of telling, along the index of what narrows
the most (a hub, a site, a language, what is unread or starred)::

    several hubs or sites   -> a walk for each, merged
    since, until            -> two ids between which the walk stays
    topic                   -> few pages: the walk is over those alone;  many: each row is asked
    words                   -> few rows: those alone;  all else leaves few: each of those is asked;
                               else what the index of words gives in the same order, piece by piece

A row is always filtered by every condition: the ids between which a walk stays save time, and decide
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import and_
from typing import Any

from peewee import SQL, Database, Expression, chunked, fn

from store.answers.values import NewQuery
from store.fulltext import count_news, found_news, is_searchable, news_ids, stands_in
from store.models import News, PageTopic, Topic
from store.news import primary_language
from store.words import Phrase, read_query, simplified

MAX_LIMIT = 1_000
FEW_ROWS = 5_000
"""Up to so many pages of a topic, or with certain words, are taken one by one."""
NARROW_ROWS = 1_000
"""Up to so many rows that meet all else are asked for the words one by one."""
_FENCE_ROWS = 5_000
_BATCH = 900
_MAX_ID = 2**63 - 1


class NewsIds:
    """Finds the ids of one query's rows."""

    def __init__(self, database: Database, query: NewQuery) -> None:
        self._db = database
        self._query = query
        self._newest = query.order != "oldest"
        self._phrases = read_query(query.text) if query.text.strip() else None
        self._few = False
        """A topic leaves few pages."""
        self._judged_by: list[Any] | None = None

    def after(self, cursor: int | None, count: int) -> list[int]:
        """Return the next *count* ids behind *cursor*, in the query's order."""
        query = self._query
        if query.sites == () or query.hubs == ():
            return []
        if self._phrases is not None and not is_searchable(self._phrases):
            return []
        found: set[int] = set()
        for key in self._keys():
            found |= set(self._walk(key, cursor, count))
        return sorted(found, reverse=self._newest)[:count]

    def _keys(self) -> Iterator[Expression | None]:
        """Yield one condition for each walk."""
        query = self._query
        if query.hubs is not None:
            yield from (News.hub_id == hub for hub in query.hubs)
        elif query.sites is not None:
            yield from (News.site == site for site in query.sites)
        else:
            yield None

    def _walk(self, key: Expression | None, cursor: int | None, count: int) -> list[int]:
        conditions = [*self._conditions(), *self._judgements()]
        if key is not None:
            conditions.append(key)
        low, high = self._between(cursor)
        if self._phrases is None:
            return self._listed(conditions, low, high, count)
        return self._found(self._phrases, conditions, (low, high), count)

    def _listed(
        self,
        conditions: list[Any],
        low: int | None,
        high: int | None,
        count: int,
        *,
        along_ids: bool = True,
    ) -> list[int]:
        """Return ids of rows that meet the conditions, in the query's order."""
        conditions = list(conditions)
        if low is not None:
            conditions.append(News.id >= low)
        if high is not None:
            conditions.append(News.id <= high)
        # Over few rows the order must not tempt the planner to walk over all instead.
        order: Any = News.id if along_ids and not self._few else News.id + 0
        rows = News.select(News.id).order_by(order.desc() if self._newest else order).limit(count)
        if conditions:
            rows = rows.where(reduce(and_, conditions))
        return [row for (row,) in rows.tuples().execute(self._db)]

    # Words.

    def _found(
        self,
        phrases: Sequence[Phrase],
        conditions: list[Any],
        between: tuple[int | None, int | None],
        count: int,
    ) -> list[int]:
        """Return ids of rows with certain words, by the way that looks at the fewest rows."""
        low, high = between
        if count_news(self._db, phrases, most=FEW_ROWS + 1) <= FEW_ROWS:
            found = found_news(self._db, phrases, between)
            return self._listed(
                [*conditions, News.id.in_(found)], None, None, count, along_ids=False
            )
        if conditions and self._narrow(conditions) and not any(p.prefix for p in phrases):
            asked = stands_in(self._db, phrases, '"t1"."id"')
            return self._listed([*conditions, asked], low, high, count)
        if not conditions:
            piece = found_news(self._db, phrases, between, newest=self._newest, most=count)
            return self._listed([News.id.in_(piece)], None, None, count, along_ids=False)
        return self._streamed(phrases, conditions, between, count)

    def _narrow(self, conditions: list[Any]) -> bool:
        """Tell whether so few rows meet the conditions that each can be asked for the words."""
        few = News.select(News.id).where(reduce(and_, conditions)).limit(NARROW_ROWS + 1)
        return len(list(few.tuples().execute(self._db))) <= NARROW_ROWS

    def _streamed(
        self,
        phrases: Sequence[Phrase],
        conditions: list[Any],
        between: tuple[int | None, int | None],
        count: int,
    ) -> list[int]:
        """Take what has the words in the order of ids, in growing pieces, until enough of it is meant."""
        (low, high), size = between, 4 * count
        ids: list[int] = []
        while True:
            here = news_ids(self._db, phrases, (low, high), newest=self._newest, most=size)
            for batch in chunked(here, _BATCH):
                wanted = [*conditions, News.id.in_(batch)]
                ids += self._listed(wanted, None, None, count - len(ids), along_ids=False)
                if len(ids) >= count:
                    return ids
            if len(here) < size:
                return ids
            low, high = (low, here[-1] - 1) if self._newest else (here[-1] + 1, high)
            size = min(4 * size, FEW_ROWS)

    def _conditions(self) -> Iterator[Any]:
        query = self._query
        if query.since is not None:
            yield News.found_at >= query.since
        if query.until is not None:
            yield News.found_at < query.until
        if query.hubs is not None and query.sites is not None:
            yield News.site.in_(query.sites)
        if query.language is not None:
            yield News.language == (primary_language(query.language) or "")
        if query.read is not None:
            yield News.read_at.is_null(not query.read)
        if query.starred is not None:
            yield News.starred_at.is_null(not query.starred)

    # Places in the order.

    def _between(self, cursor: int | None) -> tuple[int | None, int | None]:
        """Return the lowest and the highest id that the query leaves; None = no bound."""
        low, high = self._fence()
        if cursor is not None and self._newest:
            below = min(max(cursor, 0), _MAX_ID) - 1
            high = below if high is None else min(high, below)
        elif cursor is not None:
            above = min(max(cursor, -1), _MAX_ID - 1) + 1
            low = above if low is None else max(low, above)
        return low, high

    def _fence(self) -> tuple[int | None, int | None]:
        """Return the lowest and highest id that *since* and *until* leave; None = no bound.

        Ids grow with time unless the clock was set back, so the extremes are sought among many rows
        next to the bound. Only a clock set back over thousands of told pages could hide one.
        """
        since, until = self._query.since, self._query.until
        first = last = None
        if since is not None:
            near = News.select(News.id).where(News.found_at >= since).order_by(News.found_at)
            near = near.limit(_FENCE_ROWS).alias("near")
            lowest = News.select(fn.MIN(near.c.id)).from_(near).scalar(self._db)
            first = _MAX_ID if lowest is None else int(lowest)
        if until is not None:
            near = News.select(News.id).where(News.found_at < until).order_by(News.found_at.desc())
            near = near.limit(_FENCE_ROWS).alias("near")
            highest = News.select(fn.MAX(near.c.id)).from_(near).scalar(self._db)
            last = -1 if highest is None else int(highest)
        return first, last

    # Pages of a topic.

    def _judgements(self) -> list[Any]:
        """Return the condition on what topics say; looked up once for all walks of the query."""
        if self._judged_by is None:
            self._judged_by = []
            judged = self._judged()
            if judged is not None:
                self._few = self._count(judged) <= FEW_ROWS
                pages = PageTopic.select(PageTopic.page).where(judged)
                same = PageTopic.select(SQL("1")).where(judged & (PageTopic.page == News.page))
                self._judged_by = [News.page.in_(pages) if self._few else fn.EXISTS(same)]
        return self._judged_by

    def _count(self, judged: Any) -> int:  # noqa: ANN401 - a peewee condition
        """Count the judgements of a kind, up to one more than are few."""
        inner = PageTopic.select(PageTopic.page).where(judged).limit(FEW_ROWS + 1).alias("found")
        return int(PageTopic.select(fn.COUNT(SQL("1"))).from_(inner).scalar(self._db))

    def _judged(self) -> Any:  # noqa: ANN401 - a peewee condition
        query = self._query
        wanted: list[Any] = []
        if query.topic is not None:
            wanted.append(PageTopic.topic == query.topic)
            if query.hidden_verdict is not None:
                wanted.append(PageTopic.verdict != query.hidden_verdict)
        elif query.verdict is not None or query.min_score is not None:
            # The indexes begin with the topic.
            wanted.append(PageTopic.topic.in_(Topic.select(Topic.id)))
        if query.verdict is not None:
            wanted.append(PageTopic.verdict == query.verdict)
        if query.min_score is not None:
            wanted.append(PageTopic.score >= query.min_score)
        return reduce(and_, wanted) if wanted else None


def bounded(query: NewQuery) -> NewQuery:
    """Return a query with its limit within bounds."""
    return replace(query, limit=min(max(query.limit, 1), MAX_LIMIT))


def excerpt(text: str, phrases: Sequence[Phrase], *, width: int = 200) -> str:
    """Return a piece of *text* around the first wanted word that stands there as it was written."""
    low = simplified(text.casefold())
    wanted = (phrase.words[0] for phrase in phrases if not phrase.excluded)
    places = (low.find(word) for word in wanted)
    # Folding may change lengths, so the place is near, which is enough for a look.
    at = next((place for place in places if place >= 0), 0)
    start = max(at - width // 3, 0)
    piece = text[start : start + width]
    # Half words go where words are short enough for spaces to divide them.
    if start:
        piece = "…" + re.sub(r"^\S{0,20}\s", "", piece)
    if start + width < len(text):
        piece = re.sub(r"\s\S{0,20}$", "", piece) + "…"
    return " ".join(piece.split())
