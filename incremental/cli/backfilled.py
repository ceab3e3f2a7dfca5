"""Older pages that lists gained: one line for each event, or page by page with ``new --backfill``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from incremental.cli.common import print_csv, print_json, print_table, say, utc, when
from incremental.errors import InputError
from incremental.explain.backfill import headline
from incremental.plain_text import clean
from incremental.readable_urls import readable
from store import Store
from store.backfills import BackfillEvent, BackfillQuery, BackfillRow

_COLUMNS = ("cursor", "event", "found", "published", "site", "title", "url", "hub")
_SHOWN_EVENTS = 5


def refuse_narrowing(**options: object) -> None:
    """Refuse what cannot narrow pages that nobody judged or marked.

    Raises:
        InputError: names the option.
    """
    for name, value in options.items():
        if value:
            raise InputError(f"--{name}", "", "does not go with --backfill: nobody judged these")


def backfilled(
    store: Store, query: BackfillQuery, limit: int, after: int | None
) -> list[BackfillRow]:
    """Return pages of events: the newest, or what came after a cursor, oldest first."""
    order = "newest" if after is None else "oldest"
    asked = replace(query, after=after, order=order)
    return list(islice(store.backfills.all_pages(asked), limit))


def show_backfilled(pages: Sequence[BackfillRow], form: str) -> None:
    """Print pages of events as ``table``, ``json``, ``csv`` or ``urls``."""
    rows = [_row(page) for page in pages]
    if form == "json":
        print_json(rows)
    elif form == "urls":
        for row in rows:
            print(row["url"])  # noqa: T201 - canonical URLs hold no control characters
    elif form == "csv":
        print_csv(_COLUMNS, [[row[column] for column in _COLUMNS] for row in rows])
    elif not rows:
        say("no list has gained older pages")
    else:
        table = [[when(p.found_at), p.site, p.title or p.anchor, readable(p.url)] for p in pages]
        print_table(f"{len(rows)} older pages", ("found", "site", "title", "url"), table)
        say(f"what comes after these: --backfill --after {max(row.cursor for row in pages)}")


def _row(page: BackfillRow) -> dict[str, Any]:
    return {
        "cursor": page.cursor,
        "event": page.event,
        "url": page.url,
        "title": clean(page.title or page.anchor),
        "site": page.site,
        "found": utc(page.found_at),
        "published": utc(page.published_at),
        "hub": page.hub_url,
        "language": page.language,
        "state": page.state,
    }


def show_events(events: Sequence[BackfillEvent]) -> None:
    """Say in a line each what lists gained, the newest first."""
    for event in events[:_SHOWN_EVENTS]:
        title = f": {clean(event.title)}" if event.pages == 1 and event.title else ""
        say(f"{when(event.found_at)} {event.site}: {headline(event)}{title}")
    if len(events) > _SHOWN_EVENTS:
        say(f"and {len(events) - _SHOWN_EVENTS} times more")
    if events:
        say("page by page: hubwatch new --backfill")
