"""One page: its history, versions, text."""

from __future__ import annotations

from peewee import JOIN, Database

from store.answers.excerpts import unpacked
from store.answers.values import HistoryEntry, StoredText, Version
from store.database.statements import Prepared
from store.models import Change, Page, PageText

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


def history(
    database: Database, page_id: int, limit: int, before: int | None = None
) -> list[HistoryEntry]:
    """Return a page's changes, newest first; *before* is the id of the last entry read."""
    by = Page.alias()
    query = (
        Change.select(
            Change.id,
            Change.at,
            Change.kind,
            Change.detail,
            Change.hub_id,
            by.url,
            Change.body_before,
            Change.body_after,
        )
        .join(by, JOIN.LEFT_OUTER, on=by.id == Change.hub_id)
        .where(Change.page == page_id)
        .order_by(Change.id.desc())
        .limit(limit)
    )
    if before is not None:
        query = query.where(Change.id < before)
    return [HistoryEntry(*row) for row in query.tuples().execute(database)]


def versions(database: Database, page_id: int) -> list[Version]:
    """Return a page's bodies, oldest first."""
    rows = _CHANGED.rows(database, page=page_id)
    page = next(iter(_FIRST.rows(database, page=page_id)), None)
    if page is None:
        return []
    verified_at, first_seen_at, body, changes_from = page
    if not rows:
        since = changes_from or verified_at or first_seen_at
        return [] if body is None else [Version(since, body)]
    # If earlier changes expired, the text before the first remaining one dates from the latest of them.
    first = [] if rows[0][1] is None else [Version(changes_from or first_seen_at, rows[0][1])]
    return [*first, *(Version(at, after) for at, _, after in rows)]


def text(database: Database, page_id: int) -> StoredText | None:
    """Return a page's latest text."""
    query = PageText.select(*_TEXT).where(PageText.page == page_id)
    for title, packed, *rest in query.tuples().execute(database):
        return StoredText(title, unpacked(packed), *rest)
    return None
