"""Changes of watched pages: one result for the command line, the API and hooks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from incremental.base.plain_text import clean
from incremental.interfaces.results.schema import result_of
from store.watched_changes import WatchedChangeRow


@dataclass(frozen=True, slots=True)
class TextChange:
    """A change of a watched page; its lines are untrusted: escape them."""

    id: int
    at: datetime
    page_id: int
    watch_id: int | None
    """null = its watch was removed."""
    url: str
    title: str
    site: str
    site_id: int
    removed: list[str]
    added: list[str]
    lines: list[str]
    """Both in order, each with `-` or `+`; shortened."""
    words_removed: int
    words_added: int


def change_result(change: WatchedChangeRow) -> TextChange:
    """Return a change."""
    return result_of(
        TextChange,
        change,
        title=clean(change.name),
        removed=[line for sign, line in change.lines if sign == "-"],
        added=[line for sign, line in change.lines if sign == "+"],
        lines=[f"{sign} {line}" for sign, line in change.lines],
    )
