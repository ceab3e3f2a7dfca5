"""Changes of watched pages as JSON: one schema for the command line, the API and hooks."""

from __future__ import annotations

from typing import Any

from incremental.base.plain_text import clean
from incremental.interfaces.results.schema import utc
from store.watched_changes import WatchedChangeRow


def change_json(change: WatchedChangeRow) -> dict[str, Any]:
    """Return a change: *removed* and *added* are its shortened lines, *lines* both in order."""
    return {
        "id": change.id,
        "at": utc(change.at),
        "page_id": change.page_id,
        "watch_id": change.watch_id,
        "url": change.url,
        "title": clean(change.name),
        "site": change.site,
        "site_id": change.site_id,
        "removed": [line for sign, line in change.lines if sign == "-"],
        "added": [line for sign, line in change.lines if sign == "+"],
        "lines": [f"{sign} {line}" for sign, line in change.lines],
        "words_removed": change.words_removed,
        "words_added": change.words_added,
    }
