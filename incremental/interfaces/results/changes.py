"""Watches and changes of watched pages as JSON: one schema for the command line, the API and hooks."""

from __future__ import annotations

from typing import Any

from incremental.base.plain_text import clean
from incremental.base.times import MINUTE
from incremental.interfaces.results.schema import utc
from store.values import RefreshRow
from store.watch_values import WatchedChangeRow, WatchRow, WatchStanding


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


def watch_json(watch: WatchRow, standing: WatchStanding) -> dict[str, Any]:
    """Return a watch with what became of it; intervals are minutes, None = the site's."""
    spans = (watch.min_interval_seconds, watch.max_interval_seconds)
    least, most = (None if one is None else one / MINUTE for one in spans)
    return {
        "id": watch.id,
        "pattern": watch.pattern,
        "site_id": watch.site_id,
        "state": watch.state,
        "min_minutes": least,
        "max_minutes": most,
        "channels": list(watch.channels),
        "include": list(watch.include),
        "exclude": list(watch.exclude),
        "added_at": utc(watch.added_at),
        "pages": standing.pages,
        "gone": standing.gone,
        "checked_at": utc(standing.checked_at),
        "changed_at": utc(standing.changed_at),
        "next_at": utc(standing.next_at or None),
    }


def watched_page_json(page: RefreshRow) -> dict[str, Any]:
    """Return a watched page; *due_at* None = its watch is paused, or it is to be checked now."""
    return {
        "page_id": page.page_id,
        "url": page.url,
        "title": clean(page.title),
        "checked_at": utc(page.checked_at),
        "changed_at": utc(page.changed_at),
        "gone_at": utc(page.gone_at),
        "status": page.status,
        "checks": page.checks,
        "due_at": utc(page.next_at),
    }
