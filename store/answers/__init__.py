"""Announced pages for readers, and their marks: ``store.answers``.

::

    new(NewQuery)      NewsAnswer: filters, full-text search, cursor
    page, history, versions, text           of one page
    counts             announced, unread, starred; by site
    mark               read, unread, starred
    searches           saved queries

A cursor is a row id.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from peewee import JOIN, SQL, chunked, fn

from store.answers.announced import *  # noqa: F403 - passed on with the values
from store.answers.announced import AnnouncedPage
from store.answers.excerpts import unpacked
from store.answers.news import new_pages, news_rows, topics_of
from store.answers.values import *  # noqa: F403 - likewise
from store.answers.values import (
    Counts,
    HistoryEntry,
    NewQuery,
    NewsAnswer,
    PageDetail,
    SavedSearchRow,
    StoredText,
    Version,
)
from store.database import writing
from store.database.failures import storage_errors
from store.database.repository import Repository, Shape
from store.database.statements import Prepared, upsert
from store.database.texts import MAX_TEXT, storable
from store.models import Change, Hub, News, Page, PageText, Refresh, SavedSearch, Site
from store.values import NEVER_DUE

MAX_HISTORY = 500
# Conditions of what is counted: announced, unread, starred.
_COUNTED = (None, News.read_at.is_null(), News.starred_at.is_null(is_null=False))
_BY = Page.alias()
_DETAIL = Shape(
    PageDetail,
    Page,
    ("is_hub", "news", "text", "topics", "history", "next_refresh_at"),
    page_id=Page.id,
    site=Site.name,
    site_id=Page.site,
    moved_to=_BY.url,
)
_HISTORY = Shape(HistoryEntry, Change, hub_url=_BY.url)
_SEARCH = Shape(SavedSearchRow, SavedSearch)
_TEXT = (
    PageText.title,
    PageText.text,
    PageText.md5,
    PageText.language,
    PageText.cluster,
    PageText.at,
    PageText.forgotten_at,
)

# The first version is that of the first fetch; each change of text starts another.
_CHANGED = Prepared(
    lambda page: (
        Change.select(Change.at, Change.body_before, Change.body_after)
        .where((Change.page == page) & Change.body_after.is_null(is_null=False))
        .order_by(Change.id)
    )
)
_FIRST = Prepared(
    lambda page: Page.select(
        Page.verified_at, Page.first_seen_at, Page.body_md5, Page.changes_from
    ).where(Page.id == page)
)


class Answers(Repository):
    """Queries of readers, on one database."""

    # Lists.

    def new(self, query: NewQuery) -> NewsAnswer:
        """Return announced pages; no query is an error."""
        with storage_errors(self._where):
            return new_pages(self._db, query)

    def all_new(self, query: NewQuery) -> Iterator[AnnouncedPage]:
        """Yield all matching pages, in the order of *query*; its limit is that of a batch."""
        while True:
            answer = self.new(query)
            yield from answer.rows
            if not answer.more:
                return
            query = replace(query, after=answer.cursor)

    def latest_cursor(self) -> int:
        """Return the cursor of the latest announced page; 0 if none."""
        # Ids grow as pages are announced: paging down from the newest, or following from the oldest, neither
        # skips nor repeats a row meanwhile.
        return int(self._scalar(News.select(fn.MAX(News.id))) or 0)

    def totals(self) -> Counts:
        """Count announced pages of all sites; faster than :meth:`counts`."""
        number = fn.COUNT(SQL("*"))
        return Counts(*(self._scalar(_where(News.select(number), one)) for one in _COUNTED))

    def counts(self) -> dict[int, Counts]:
        """Count announced pages by site id; the total is under 0."""
        by_site = News.select(News.site, fn.COUNT(SQL("*"))).group_by(News.site)
        announced, unread, starred = (dict(self._rows(_where(by_site, one))) for one in _COUNTED)
        counts = {
            site: Counts(number, unread.get(site, 0), starred.get(site, 0))
            for site, number in announced.items()
        }
        total = (sum(part.values()) for part in (announced, unread, starred))
        return counts | {0: Counts(*total)}

    # One page.

    def page(self, page_id: int, *, most: int = 100) -> PageDetail | None:
        """Return the facts of a page and the latest *most* entries of its history."""
        query = _DETAIL.select().join(Site, on=Site.id == Page.site)
        query = query.join(_BY, JOIN.LEFT_OUTER, on=_BY.id == Page.moved_to)
        detail = self._first(_DETAIL, query.where(Page.id == page_id))
        if detail is None:
            return None
        planned = (Refresh.page == page_id) & (Refresh.due_at < NEVER_DUE)
        news = self._scalar(News.select(News.id).where(News.page == page_id))
        with storage_errors(self._where):
            return replace(
                detail,
                is_hub=bool(self._rows(Hub.select(Hub.page).where(Hub.page == page_id))),
                news=news_rows(self._db, [news]).get(news) if news is not None else None,
                text=self.text(page_id),
                topics=tuple(topics_of(self._db, [page_id]).get(page_id, ())),
                history=tuple(self.history(page_id, limit=most)),
                next_refresh_at=self._scalar(Refresh.select(Refresh.due_at).where(planned)),
            )

    def history(
        self, page_id: int, *, limit: int = 100, before: int | None = None
    ) -> list[HistoryEntry]:
        """Return a page's changes, newest first; *before* is the id of the last entry read."""
        query = _HISTORY.select().join(_BY, JOIN.LEFT_OUTER, on=_BY.id == Change.hub_id)
        query = query.where(Change.page == page_id).order_by(Change.id.desc())
        if before is not None:
            query = query.where(Change.id < before)
        return self._all(_HISTORY, query.limit(min(max(limit, 1), MAX_HISTORY)))

    def versions(self, page_id: int) -> list[Version]:
        """Return a page's bodies, oldest first."""
        rows, page = self._asked(_CHANGED, page=page_id), self._asked(_FIRST, page=page_id)
        if not page:
            return []
        verified_at, first_seen_at, body, changes_from = page[0]
        if not rows:
            since = changes_from or verified_at or first_seen_at
            return [] if body is None else [Version(since, body)]
        # If earlier changes expired, the text before the first remaining one dates from the latest of them.
        first = [] if rows[0][1] is None else [Version(changes_from or first_seen_at, rows[0][1])]
        return [*first, *(Version(at, after) for at, _, after in rows)]

    def named_bodies(self) -> list[tuple[str, str]]:
        """Return URL and MD5 of each body named in a page's history."""
        query = (
            Change.select(Page.url, Change.body_before, Change.body_after)
            .join(Page, on=Page.id == Change.page)
            .where(Change.kind == "changed")
        )
        rows = self._rows(query)
        return [(url, digest) for url, *both in rows for digest in both if digest]

    def text(self, page_id: int) -> StoredText | None:
        """Return a page's latest text; None = never fetched or announced."""
        for title, packed, *rest in self._rows(
            PageText.select(*_TEXT).where(PageText.page == page_id)
        ):
            return StoredText(title, unpacked(packed), *rest)
        return None

    # Marks and saved searches.

    def mark(
        self,
        page_ids: Sequence[int],
        *,
        now: float,
        read: bool | None = None,
        starred: bool | None = None,
    ) -> list[int]:
        """Mark announced pages; None leaves a mark unchanged. Return the announced ones, in order."""
        marks = ((News.read_at, read), (News.starred_at, starred))
        announced: set[int] = set()
        with writing(self._db, self._where):
            for batch in chunked(page_ids, 500):
                for column, wanted in marks:
                    if wanted is not None:
                        # A page already marked keeps the time of its mark.
                        changed = News.page.in_(batch) & column.is_null(wanted)
                        update = News.update({column: now if wanted else None})
                        update.where(changed).execute(self._db)
                query = News.select(News.page).where(News.page.in_(batch))
                announced |= {page for (page,) in query.tuples().execute(self._db)}
        return [page for page in dict.fromkeys(page_ids) if page in announced]

    def searches(self) -> list[SavedSearchRow]:
        """Return the saved searches by name."""
        return self._all(_SEARCH, _SEARCH.select().order_by(SavedSearch.name))

    def search(self, name: str) -> SavedSearchRow | None:
        """Return the saved search of this name."""
        return next((row for row in self.searches() if row.name == storable(name, MAX_TEXT)), None)

    def save_search(self, name: str, query: str, *, now: float) -> None:
        """Save a search, replacing one of this name. *query* is JSON that interfaces define."""
        row = {"query": storable(query, None), "changed_at": now}
        kept = {"name": storable(name, MAX_TEXT), "created_at": now, **row}
        self._write(upsert(SavedSearch, kept, ["name"], row))

    def remove_search(self, name: str) -> bool:
        """Delete a saved search; return whether it existed."""
        gone = SavedSearch.delete().where(SavedSearch.name == storable(name, MAX_TEXT))
        return bool(self._write(gone))


def _where(query: Any, condition: Any) -> Any:  # noqa: ANN401 - a peewee query and condition
    return query if condition is None else query.where(condition)
