"""The changes recorded of watched pages, each with its shortened difference."""

from dataclasses import dataclass
from typing import Any

from peewee import Database

from store.crawl.refreshes import WATCHED
from store.database.repository import Repository, Shape
from store.database.statements import Inserted, Prepared, Updated
from store.database.texts import storable, to_json
from store.models import Change, Page, Refresh, Site, WatchedChange
from store.values import PageChange, VisitRecord


@dataclass(frozen=True, slots=True)
class WatchedChangeRow:
    """A recorded change of a watched page."""

    id: int
    """Id of the change: a cursor that grows with time."""
    page_id: int
    watch_id: int | None
    at: float
    url: str
    title: str
    site_id: int
    site: str
    lines: tuple[tuple[str, str], ...]
    words_added: int
    words_removed: int
    body_before: str | None
    body_after: str | None

    @property
    def name(self) -> str:
        """Title, or URL."""
        return self.title or self.url

    @property
    def text(self) -> str:
        """Title and changed lines, as words are looked for in them."""
        return "\n".join([self.title, *(line for _, line in self.lines)])


@dataclass(frozen=True, slots=True)
class ChangeQuery:
    """Which recorded changes to return; None = any."""

    after: int | None = None
    """Cursor: only changes recorded later."""
    before: int | None = None
    """Cursor: only changes recorded earlier."""
    since: float | None = None
    site_id: int | None = None
    watch_id: int | None = None
    page_id: int | None = None
    limit: int = 50
    oldest_first: bool = False


_CHANGE = Shape(
    WatchedChangeRow,
    WatchedChange,
    id=WatchedChange.change,
    page_id=WatchedChange.page,
    watch_id=WatchedChange.watch,
    lines=WatchedChange.difference,
    url=Page.url,
    site_id=Site.id,
    site=Site.name,
    body_before=Change.body_before,
    body_after=Change.body_after,
)
_WATCH_OF = Prepared(
    lambda page: Refresh.select(Refresh.watch).where((Refresh.page == page) & WATCHED)
)
_SET = Updated(Refresh, lambda page: Refresh.page == page)
_NEW_CHANGE = Inserted(WatchedChange)


class WatchedChanges(Repository):
    """Queries, on one database."""

    def changes(self, query: ChangeQuery) -> list[WatchedChangeRow]:
        """Return recorded changes, newest first unless the query orders otherwise."""
        found = (
            _CHANGE.select()
            .join(Change, on=Change.id == WatchedChange.change)
            .join(Page, on=Page.id == WatchedChange.page)
            .join(Site, on=Site.id == Page.site)
        )
        conditions: tuple[tuple[Any, Any], ...] = (
            (query.after, WatchedChange.change > query.after),
            (query.before, WatchedChange.change < query.before),
            (query.since, WatchedChange.at >= query.since),
            (query.site_id, Site.id == query.site_id),
            (query.watch_id, WatchedChange.watch == query.watch_id),
            (query.page_id, WatchedChange.page == query.page_id),
        )
        for value, condition in conditions:
            found = found if value is None else found.where(condition)
        order = WatchedChange.change if query.oldest_first else WatchedChange.change.desc()
        return self._all(_CHANGE, found.order_by(order).limit(query.limit))

    def change(self, change_id: int) -> WatchedChangeRow | None:
        """Return a recorded change."""
        found = self.changes(ChangeQuery(after=change_id - 1, before=change_id + 1, limit=1))
        return found[0] if found else None


def put_watched_change(
    database: Database, record: VisitRecord, change: PageChange, change_id: int
) -> None:
    """Keep the difference of a change, if its page is watched. Called in the visit's transaction."""
    watch = _WATCH_OF.rows(database, page=record.page_id) if change.difference else []
    if not watch:
        return
    title = record.text.title if record.text is not None else ""
    row = {
        "change": change_id,
        "page": record.page_id,
        "watch": watch[0][0],
        "at": record.at,
        "title": storable(title),
        "difference": to_json([[sign, storable(line)] for sign, line in change.difference]),
        "words_added": change.words_added,
        "words_removed": change.words_removed,
    }
    _NEW_CHANGE.run(database, [row])
    _SET.run(database, {"changed_at": record.at}, page=record.page_id)
