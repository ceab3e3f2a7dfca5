"""The changes recorded of watched pages, each with its shortened difference."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from peewee import Database

from store.crawl.refreshes import WATCHED
from store.database.repository import Repository
from store.database.statements import Inserted, Prepared, Updated
from store.database.texts import storable, to_json
from store.models import Change, Page, Refresh, Site, WatchedChange
from store.values import PageChange, VisitRecord
from store.watch_values import ChangeQuery, WatchedChangeRow

_CHANGE = (
    *(WatchedChange.change, WatchedChange.page, WatchedChange.watch, WatchedChange.at),
    *(Page.url, WatchedChange.title, Site.id, Site.name, WatchedChange.difference),
    *(WatchedChange.words_added, WatchedChange.words_removed),
    *(Change.body_before, Change.body_after),
)
_WATCH_OF = Prepared(
    lambda page: Refresh.select(Refresh.watch).where((Refresh.page == page) & WATCHED)
)
_SET = Updated(Refresh, lambda page: Refresh.page == page)
_NEW_CHANGE = Inserted(
    WatchedChange,
    (
        *("change", "page", "watch", "at", "title", "difference"),
        *("words_added", "words_removed"),
    ),
)


class WatchedChanges(Repository):
    """Queries, on one database."""

    def changes(self, query: ChangeQuery) -> list[WatchedChangeRow]:
        """Return recorded changes, the newest first unless the query says otherwise."""
        found = (
            WatchedChange.select(*_CHANGE)
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
        return [_change(row) for row in self._rows(found.order_by(order).limit(query.limit))]

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


def _change(row: Sequence[Any]) -> WatchedChangeRow:
    change, page, watch, at, url, title, site, name, difference, *rest = row
    lines = tuple((str(sign), str(line)) for sign, line in json.loads(difference))
    added, removed, before, after = rest
    return WatchedChangeRow(
        *(change, page, watch, at, url, title, site, name),
        lines=lines,
        words_added=added,
        words_removed=removed,
        body_before=before,
        body_after=after,
    )
