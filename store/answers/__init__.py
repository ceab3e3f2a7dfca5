"""Announced pages for readers, and their marks: ``store.answers``.

::

    new(NewQuery)      NewsAnswer: filters, full-text search, cursor
    page, history, versions, text           of one page
    counts             announced, unread, starred; by site
    mark               read, unread, starred
    searches           saved queries

A cursor is a row id.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from peewee import SQL, chunked, fn

from store.answers import one_page
from store.answers.announced import AnnouncedPage, TopicMark
from store.answers.news import new_pages, news_rows, topics_of
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
from store.database.repository import Repository
from store.database.texts import MAX_TEXT, storable
from store.models import Change, Hub, News, Page, Refresh, SavedSearch, Site
from store.values import NEVER_DUE

__all__ = [
    "AnnouncedPage",
    "Answers",
    "Counts",
    "HistoryEntry",
    "NewQuery",
    "NewsAnswer",
    "PageDetail",
    "SavedSearchRow",
    "StoredText",
    "TopicMark",
    "Version",
]

MAX_HISTORY = 500


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
        with storage_errors(self._where):
            return int(News.select(fn.MAX(News.id)).scalar(self._db) or 0)

    def totals(self) -> Counts:
        """Count announced pages of all sites; faster than :meth:`counts`."""
        of = (None, News.read_at.is_null(), News.starred_at.is_null(is_null=False))
        with storage_errors(self._where):
            return Counts(*(self._count(condition) for condition in of))

    def _count(self, condition: Any) -> int:  # noqa: ANN401 - a peewee condition
        query = News.select(fn.COUNT(SQL("*")))
        query = query if condition is None else query.where(condition)
        return int(query.scalar(self._db))

    def counts(self) -> dict[int, Counts]:
        """Count announced pages by site id; the total is under 0."""
        announced, unread, starred = (
            self._count_by_site(*condition)
            for condition in (
                (),
                (News.read_at.is_null(),),
                (News.starred_at.is_null(is_null=False),),
            )
        )
        counts = {
            site: Counts(number, unread.get(site, 0), starred.get(site, 0))
            for site, number in announced.items()
        }
        total = (sum(part.values()) for part in (announced, unread, starred))
        return counts | {0: Counts(*total)}

    def _count_by_site(self, *conditions: Any) -> dict[int, int]:  # noqa: ANN401 - peewee conditions
        query = News.select(News.site, fn.COUNT(SQL("*"))).group_by(News.site)
        if conditions:
            query = query.where(*conditions)
        with storage_errors(self._where):
            return dict(query.tuples().execute(self._db))

    # One page.

    def page(self, page_id: int, *, most: int = 100) -> PageDetail | None:
        """Return the facts of a page and the latest *most* entries of its history."""
        with storage_errors(self._where):
            facts = self._facts(page_id)
            if facts is None:
                return None
            news = News.select(News.id).where(News.page == page_id).scalar(self._db)
            planned = (Refresh.page == page_id) & (Refresh.due_at < NEVER_DUE)
            next_at = Refresh.select(Refresh.due_at).where(planned).scalar(self._db)
            return PageDetail(
                **facts,
                news=news_rows(self._db, [news]).get(news) if news is not None else None,
                text=one_page.text(self._db, page_id),
                topics=tuple(topics_of(self._db, [page_id]).get(page_id, ())),
                history=tuple(one_page.history(self._db, page_id, most)),
                next_refresh_at=next_at,
            )

    def _facts(self, page_id: int) -> dict[str, Any] | None:
        now = Page.alias()
        query = (
            Page.select(
                Page.id.alias("page_id"),
                Page.url,
                Page.canonical_key,
                Page.title,
                Page.anchor,
                Site.name.alias("site"),
                Page.site.alias("site_id"),
                Page.state,
                Page.language,
                Page.published_at,
                Page.first_seen_at,
                Page.verified_at,
                Page.rule,
                Page.body_md5,
                Page.moved_to,
                Page.changes_from,
            )
            .join(Site, on=Site.id == Page.site)
            .where(Page.id == page_id)
        )
        rows = list(query.dicts().execute(self._db))
        if not rows:
            return None
        facts: dict[str, Any] = rows[0]
        moved_to = facts.pop("moved_to")
        facts["moved_to"] = None
        if moved_to is not None:
            facts["moved_to"] = now.select(now.url).where(now.id == moved_to).scalar(self._db)
        facts["is_hub"] = Hub.select(Hub.page).where(Hub.page == page_id).exists(self._db)
        return facts

    def history(
        self, page_id: int, *, limit: int = 100, before: int | None = None
    ) -> list[HistoryEntry]:
        """Return a page's changes, newest first; *before* is the id of the last entry read."""
        with storage_errors(self._where):
            return one_page.history(self._db, page_id, min(max(limit, 1), MAX_HISTORY), before)

    def versions(self, page_id: int) -> list[Version]:
        """Return a page's bodies, oldest first."""
        with storage_errors(self._where):
            return one_page.versions(self._db, page_id)

    def named_bodies(self) -> list[tuple[str, str]]:
        """Return URL and MD5 of each body named in a page's history."""
        query = (
            Change.select(Page.url, Change.body_before, Change.body_after)
            .join(Page, on=Page.id == Change.page)
            .where(Change.kind == "changed")
        )
        with storage_errors(self._where):
            rows = query.tuples().execute(self._db)
            return [(url, digest) for url, *both in rows for digest in both if digest]

    def text(self, page_id: int) -> StoredText | None:
        """Return a page's latest text; None = never fetched or announced."""
        with storage_errors(self._where):
            return one_page.text(self._db, page_id)

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
        columns = (
            SavedSearch.name,
            SavedSearch.query,
            SavedSearch.created_at,
            SavedSearch.changed_at,
        )
        query = SavedSearch.select(*columns).order_by(SavedSearch.name)
        with storage_errors(self._where):
            return [SavedSearchRow(*row) for row in query.tuples().execute(self._db)]

    def search(self, name: str) -> SavedSearchRow | None:
        """Return the saved search of this name."""
        return next((row for row in self.searches() if row.name == storable(name, MAX_TEXT)), None)

    def save_search(self, name: str, query: str, *, now: float) -> None:
        """Save a search, replacing one of this name. *query* is JSON that interfaces define."""
        row = {"query": storable(query, None), "changed_at": now}
        kept = {"name": storable(name, MAX_TEXT), "created_at": now, **row}
        with writing(self._db, self._where):
            saved = SavedSearch.insert(kept)
            saved.on_conflict(conflict_target=[SavedSearch.name], update=row).execute(self._db)

    def remove_search(self, name: str) -> bool:
        """Delete a saved search; return whether it existed."""
        gone = SavedSearch.delete().where(SavedSearch.name == storable(name, MAX_TEXT))
        with writing(self._db, self._where):
            return bool(gone.execute(self._db))
