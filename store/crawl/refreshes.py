"""Pages that are fetched again for changes of their text, and when.

An announced page is refreshed by its age; a page that a user watches by the
intervals of its watch. Each page has one row.
"""

from dataclasses import asdict
from typing import Any

from peewee import Database

from store.database import writing
from store.database.repository import Repository, Shape
from store.database.statements import Inserted, Prepared, Updated
from store.database.texts import columns
from store.models import News, Page, PageWatch, Refresh
from store.values import NEVER_DUE, NextRefresh, RefreshRow

_ROW = Shape(
    RefreshRow,
    Refresh,
    page_id=Refresh.page,
    watch_id=Refresh.watch,
    url=Page.url,
    canonical_key=Page.canonical_key,
    title=Page.title,
    body_md5=Page.body_md5,
    state=Page.state,
    every_seconds=PageWatch.every_seconds,
    found_at=News.found_at,
)
PLANNED = Refresh.watch.is_null()
# As a range: SQLite uses no index for ``IS NOT NULL``.
WATCHED = Refresh.watch > 0


def _rows() -> Any:  # noqa: ANN401 - a peewee query
    return (
        _ROW.select()
        .join(Page, on=Page.id == Refresh.page)
        .join(News, "LEFT OUTER JOIN", on=News.page == Refresh.page)
        .join(PageWatch, "LEFT OUTER JOIN", on=PageWatch.id == Refresh.watch)
    )


def _due(of_kind: Any, *order: Any) -> Prepared:  # noqa: ANN401 - peewee expressions
    return Prepared(
        lambda site, now: (
            _rows()
            .where((Refresh.site_id == site) & of_kind & (Refresh.due_at <= now))
            .order_by(*order, Refresh.page)
            .limit(1)
        )
    )


_ONE = Prepared(lambda page: _rows().where(Refresh.page == page))
# If the budget does not cover all, pages that never were go first, so that what each came to link to is seen
# once (of 144 articles of a weblog, refreshes so show 9 of 10 instead of half), then young ones, because they
# still change.
_DUE = {
    False: _due(PLANNED, Refresh.checks > 0, Refresh.due_at.desc()),
    True: _due(WATCHED, Refresh.due_at),
}
_SET = {
    False: Updated(Refresh, lambda page: (Refresh.page == page) & PLANNED),
    True: Updated(Refresh, lambda page: (Refresh.page == page) & WATCHED),
}
_NEW = Inserted(Refresh, ignore=True)
_NO_REFRESH = Prepared(lambda page: Refresh.delete().where((Refresh.page == page) & PLANNED))


class Refreshes(Repository):
    """Queries and writes, on one database."""

    def due(self, site_id: int, now: float, *, watched: bool) -> RefreshRow | None:
        """Return the page of a site to refresh next.

        Of watches the longest due; else one that never was, and of several the latest due.
        """
        return self._asked_one(_ROW, _DUE[watched], site=site_id, now=now)

    def row(self, page_id: int) -> RefreshRow | None:
        """Return a page's scheduled refresh."""
        return self._asked_one(_ROW, _ONE, page=page_id)

    def postpone(self, page_id: int, until: float) -> None:
        """Postpone a page's next refresh unless it is paused."""
        planned = (Refresh.page == page_id) & (Refresh.due_at < NEVER_DUE)
        with writing(self._db, self._where):
            Refresh.update(due_at=until).where(planned).execute(self._db)


def put_refresh(database: Database, site_id: int, page_id: int, following: NextRefresh) -> None:
    """Schedule the next refresh of a page, or none. Called in the visit's transaction.

    A page whose watch was added or removed during the visit keeps the schedule set by that.
    """
    if following.due_at is None:
        _NO_REFRESH.run(database, page=page_id)
        return
    fields = columns(asdict(following))
    watched = fields.pop("watched")
    if not _SET[bool(watched)].run(database, fields, page=page_id) and not watched:
        _NEW.run(database, [{"page": page_id, "site_id": site_id, **fields}])
