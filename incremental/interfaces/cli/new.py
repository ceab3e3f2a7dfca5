"""What is new: ``new``."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer

from incremental.base.plain_text import clean
from incremental.base.readable_urls import readable
from incremental.base.texts import named
from incremental.interfaces.cli.common import (
    Json,
    counted,
    open_store,
    print_csv,
    print_json,
    print_table,
    say,
)
from incremental.interfaces.cli.filtering import Given, filtered
from incremental.interfaces.explain.backfill import headline
from incremental.interfaces.results.judged import why_empty
from incremental.interfaces.results.schema import page_line, when
from store import Store
from store.answers import NewQuery
from store.answers.announced import AnnouncedPage
from store.crawl.backfills import BackfillQuery

_SHOWN_EVENTS = 5
# Of CSV.
_COLUMNS = ("cursor", "found_at", "published_at", "site", "title", "url", "hub_url")


class Format(StrEnum):
    """How to print new pages."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    URLS = "urls"


@filtered
def new(  # noqa: PLR0913 - each is an option of the command
    context: typer.Context,
    *,
    given: Given,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number, newest first.")] = 100,
    after: Annotated[
        int | None, typer.Option(help="Only pages after this cursor, oldest first.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TABLE,
    as_json: Json = False,
) -> None:
    """List new pages, newest first."""
    form = Format.JSON if as_json else form
    topic = given.topic.strip()
    with open_store(context) as store:
        order = "newest" if after is None else "oldest"
        query = given.query(store, after=after, limit=limit, order=order)
        pages = store.answers.new(query).rows
        if form is not Format.TABLE:
            scored = ("score", "verdict", "guess") if topic else ()
            rows = [page_line(page, topic or None) for page in pages]
            print_plain(rows, form, [*_COLUMNS, *scored])
            return
        if pages:
            scores = [_score(page_line(page, topic)) for page in pages] if topic else None
            print_pages(pages, "new", scores)
            say_cursor(pages)
        else:
            nothing = "nothing new yet" + (f" since {given.since}" if given.since else "")
            say(why_empty(store, query, topic) or nothing)
        if not (topic or given.language or given.starred) and after is None:
            _say_backfills(store, query)


def print_plain(rows: Sequence[dict[str, Any]], form: Format, columns: Sequence[str]) -> None:
    """Print what programs read."""
    if form is Format.URLS:
        for row in rows:
            print(row["url"])  # noqa: T201 - canonical URLs hold no control characters
    elif form is Format.JSON:
        print_json(rows)
    else:
        print_csv(columns, [[row[column] for column in columns] for row in rows])


def print_pages(
    pages: Sequence[AnnouncedPage], what: str, scores: Sequence[str] | None = None
) -> None:
    """Print pages as a table."""
    table = [[when(p.found_at), p.site, p.name, readable(p.url)] for p in pages]
    columns = ["found", "site", "title", "url"]
    if scores is not None:
        columns.append("score")
        table = [[*cells, score] for cells, score in zip(table, scores, strict=True)]
    print_table(counted(len(pages), f"{what} page"), columns, table)


def say_cursor(pages: Sequence[AnnouncedPage]) -> None:
    """Say how to continue."""
    say(f"to continue from here: --after {max(page.cursor for page in pages)}")


def _score(line: dict[str, Any]) -> str:
    """Return a score for one cell: ``0.83``, ``0.47 doubtful``, ``0.61 guess``."""
    note = "guess" if line["guess"] else named("topics", line["verdict"]).lower()
    return f"{line['score']:.2f}" + ("" if note == "relevant" else f" {note}")


def _say_backfills(store: Store, query: NewQuery) -> None:
    """Print one line per backfill event that *query* has room for, newest first."""
    sites = query.sites
    if query.tag is not None:
        tagged = store.tags.sites_tagged(query.tag)
        sites = tagged if sites is None else tuple(one for one in sites if one in tagged)
    unread = query.read is False
    asked = BackfillQuery(query.since, query.until, sites=sites, unread=unread)
    events = store.backfills.events(asked)
    for event in events[:_SHOWN_EVENTS]:
        title = f": {clean(event.title)}" if event.pages == 1 and event.title else ""
        say(f"{when(event.found_at)} {event.site}: {headline(event)}{title}")
    if len(events) > _SHOWN_EVENTS:
        say(f"and {counted(len(events) - _SHOWN_EVENTS, 'more event')}")
    if events:
        say("list the pages: hubwatch backfills")
