"""What was found: ``new hubs status``."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Any

import typer

from incremental.cli.backfilled import (
    backfilled,
    refuse_narrowing,
    show_backfilled,
    show_events,
)
from incremental.cli.common import (
    Json,
    State,
    find_sites,
    now,
    print_csv,
    print_json,
    print_table,
    say,
    utc,
    when,
)
from incremental.cli.judged import shown_score, told_pages, topic_fields
from incremental.errors import InputError
from incremental.learning.topics import find_topic
from incremental.plain_text import clean
from incremental.readable_urls import readable
from incremental.times import moment
from store.answers import NewQuery, NewsRow
from store.backfills import BackfillQuery

_BAR_WIDTH = 48


class Format(StrEnum):
    """How to print new pages."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    URLS = "urls"


def new(  # noqa: PLR0913 - each is an option of the command
    context: typer.Context,
    *,
    since: Annotated[str | None, typer.Option(help="A span (90m, 3h, 1d, 2w) or a date.")] = None,
    until: Annotated[str | None, typer.Option(help="A span or a date.")] = None,
    site: Annotated[list[str], typer.Option(help="Only this site; may be repeated.")] = [],  # noqa: B006 - Typer's way
    topic: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only what is, or may be, on this topic.")
    ] = None,
    min_score: Annotated[
        float | None, typer.Option(min=0, max=1, help="With --topic: at least this score.")
    ] = None,
    irrelevant: Annotated[
        bool, typer.Option("--irrelevant", help="With --topic: also what it rejected.")
    ] = False,
    language: Annotated[str | None, typer.Option(help="Only this language, such as zh.")] = None,
    unread: Annotated[bool, typer.Option("--unread", help="Only what is unread.")] = False,
    starred: Annotated[bool, typer.Option("--starred", help="Only what is starred.")] = False,
    backfill: Annotated[
        bool, typer.Option("--backfill", help="Instead: older pages that lists gained, one by one.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="At most so many, the newest.")] = 100,
    after: Annotated[
        int | None, typer.Option(help="Only what came after this cursor, oldest first.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print.")] = Format.TABLE,
    as_json: Json = False,
) -> None:
    """List new pages, the newest first."""
    state: State = context.obj
    at = now()
    if topic is None and (min_score is not None or irrelevant):
        raise InputError("--min-score or --irrelevant", "", "needs --topic NAME: a topic judges")
    with state.open() as store:
        gained = BackfillQuery(
            since=moment(since, at) if since else None,
            until=moment(until, at) if until else None,
            sites=tuple(row.id for row in find_sites(store, site)) if site else None,
        )
        if backfill:
            refuse_narrowing(topic=topic, language=language, unread=unread, starred=starred)
            older = backfilled(store, gained, limit, after)
            show_backfilled(older, Format.JSON.value if as_json else form.value)
            return
        query = NewQuery(
            since=gained.since,
            until=gained.until,
            after=after,
            sites=gained.sites,
            topic=find_topic(store, topic).id if topic else None,
            min_score=min_score,
            hidden_verdict=None if irrelevant else "irrelevant",
            language=language,
            read=False if unread else None,
            starred=True if starred else None,
            order="newest" if after is None else "oldest",
        )
        pages = told_pages(store, query, limit)
        narrowed = topic or language or starred or after is not None
        events = [] if narrowed else store.backfills.events(replace(gained, unread=unread))
    rows = [_page(page) | topic_fields(page, query.topic) for page in pages]
    form = Format.JSON if as_json else form
    if form is Format.JSON:
        print_json(rows)
    elif form is Format.URLS:
        for row in rows:
            print(row["url"])  # noqa: T201 - canonical URLs hold no control characters
    elif form is Format.CSV:
        columns = ["cursor", "found", "published", "site", "title", "url", "hub"]
        columns += ["score", "verdict", "guess"] if topic else []
        print_csv(columns, [[row[column] for column in columns] for row in rows])
    elif not rows:
        say("nothing new yet" + (f" since {since}" if since else ""))
        show_events(events)
    else:
        table = [[when(p.found_at), p.site, p.title or p.anchor, readable(p.url)] for p in pages]
        columns = ["found", "site", "title", "url"]
        if topic:
            columns.append("score")
            table = [[*cells, shown_score(row)] for row, cells in zip(rows, table, strict=True)]
        print_table(f"{len(rows)} new pages", columns, table)
        say(f"what comes after these: --after {max(row.cursor for row in pages)}")
        show_events(events)


def _page(page: NewsRow) -> dict[str, Any]:
    return {
        "cursor": page.cursor,
        "url": page.url,
        "title": clean(page.title or page.anchor),
        "site": page.site,
        "found": utc(page.found_at),
        "published": utc(page.published_at),
        "hub": page.hub_url,
        "language": page.language,
        "state": page.state,
        "read": utc(page.read_at),
        "starred": utc(page.starred_at),
        "copies": page.copies,
        "cluster": page.cluster,
    }
