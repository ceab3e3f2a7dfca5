"""What is new: ``new``, with one line per backfill event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import islice
from typing import Annotated, Any

import typer

from incremental.cli.common import (
    Json,
    counted,
    now,
    open_store,
    print_csv,
    print_json,
    print_table,
    say,
)
from incremental.errors import InputError
from incremental.explain.backfill import headline
from incremental.plain_text import clean
from incremental.readable_urls import readable
from incremental.results.judged import MOST_JUDGED, judged_for
from incremental.results.lookup import check_tag, find_sites, find_topic
from incremental.results.schema import page_line, when
from incremental.texts import read_text
from incremental.times import moment
from store import Store
from store.announced import AnnouncedPage
from store.answers import NewQuery
from store.backfills import BackfillEvent, BackfillQuery
from store.enums import TopicState
from store.topic_values import TopicRow

_SHOWN_EVENTS = 5
# Of CSV.
_COLUMNS = ("cursor", "found", "published", "site", "title", "url", "hub")


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
        str | None, typer.Option(metavar="NAME", help="Only relevant and grey pages of this topic.")
    ] = None,
    min_score: Annotated[
        float | None, typer.Option(min=0, max=1, help="With --topic: at least this score.")
    ] = None,
    irrelevant: Annotated[
        bool, typer.Option("--irrelevant", help="With --topic: irrelevant pages as well.")
    ] = False,
    tag: Annotated[
        str | None, typer.Option(help="Only pages of the sites and topics with this tag.")
    ] = None,
    language: Annotated[str | None, typer.Option(help="Only this language, such as zh.")] = None,
    unread: Annotated[bool, typer.Option("--unread", help="Only unread pages.")] = False,
    starred: Annotated[bool, typer.Option("--starred", help="Only starred pages.")] = False,
    backfill: Annotated[
        bool, typer.Option("--backfill", help="List older pages added to lists instead.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number, newest first.")] = 100,
    after: Annotated[
        int | None, typer.Option(help="Only pages after this cursor, oldest first.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TABLE,
    as_json: Json = False,
) -> None:
    """List new pages, newest first."""
    if topic is None and (min_score is not None or irrelevant):
        raise InputError("--min-score or --irrelevant", "", "needs --topic NAME")
    if backfill:
        _refuse_beside_backfill(topic=topic, language=language, unread=unread, starred=starred)
    form = Format.JSON if as_json else form
    with open_store(context) as store:
        sites = tuple(row.id for row in find_sites(store, site)) if site else None
        part = BackfillQuery(
            since=moment(since, now()) if since else None,
            until=moment(until, now()) if until else None,
            sites=_with_tag(store, sites, tag),
            after=after,
            order="newest" if after is None else "oldest",
        )
        if backfill:
            _print_older(list(islice(store.backfills.all_pages(part), limit)), form)
            return
        query = NewQuery(
            since=part.since,
            until=part.until,
            after=after,
            sites=sites,
            tag=tag,
            topic=topic and topic.strip(),
            min_score=min_score,
            hidden_verdict=None if irrelevant else "irrelevant",
            language=language,
            read=False if unread else None,
            starred=True if starred else None,
            limit=limit,
            order=part.order,
        )
        pages = store.answers.new(query).rows
        empty = ""
        if topic and not pages:
            row = find_topic(store, topic)
            empty = _why_empty(store, query, row) if form is Format.TABLE else ""
        narrowed = topic or language or starred or after is not None
        shows_events = form is Format.TABLE and not narrowed
        events = store.backfills.events(replace(part, unread=unread)) if shows_events else []
    if empty:
        say(empty)
    else:
        _print_new(pages, form, topic and topic.strip(), since)
    if events:
        _say_events(events)


def _refuse_beside_backfill(**given: object) -> None:
    """Refuse what older pages have not: nobody judged, read or starred them."""
    for name, value in given.items():
        if value:
            raise InputError(f"--{name}", "", "cannot be combined with --backfill")


def _with_tag(
    store: Store, sites: tuple[int, ...] | None, tag: str | None
) -> tuple[int, ...] | None:
    """Return those of *sites* with a tag; None = all."""
    if tag is None:
        return sites
    check_tag(store, tag)
    return _both(sites, store.tags.sites_tagged(tag))


def _both(sites: tuple[int, ...] | None, tagged: tuple[int, ...]) -> tuple[int, ...]:
    return tagged if sites is None else tuple(one for one in sites if one in tagged)


def _why_empty(store: Store, query: NewQuery, row: TopicRow) -> str:
    """Say why no page of a topic is listed; empty = there is no new page."""
    found = judged_for(store, query)
    waiting = f"{counted(found.waiting, 'new page')} not scored yet for {row.name}"
    if row.state != TopicState.READY and found.waiting:
        waiting += f", which is {row.state}" + (f": {read_text(row.why)}" if row.why else "")
    if not found.irrelevant or query.hidden_verdict is None:
        return waiting if found.waiting else ""
    number = counted(found.irrelevant, "new page")
    of = "the latest" if found.irrelevant >= MOST_JUDGED else "the"
    if query.min_score is not None:
        none = f"no new page scores {query.min_score:g} or more for {row.name}"
    elif found.irrelevant == 1:
        none = f"{number} is not relevant to {row.name}; --irrelevant shows it"
    else:
        none = f"none of {of} {number} is relevant to {row.name}; --irrelevant shows them"
    return none + (f"; {waiting}" if found.waiting else "")


def _print_new(
    pages: Sequence[AnnouncedPage], form: Format, topic: str | None, since: str | None
) -> None:
    rows = [page_line(page, topic) for page in pages]
    if form is not Format.TABLE:
        _print_plain(rows, form, [*_COLUMNS, *(("score", "verdict", "guess") if topic else ())])
    elif not pages:
        say("nothing new yet" + (f" since {since}" if since else ""))
    else:
        _print_pages(pages, "new", [_score(row) for row in rows] if topic else None)
        _say_cursor(pages, "--after")


def _print_older(pages: Sequence[AnnouncedPage], form: Format) -> None:
    """Print pages of backfill events, which carry the event's id."""
    if form is not Format.TABLE:
        columns = [_COLUMNS[0], "event", *_COLUMNS[1:]]
        _print_plain([page_line(page) for page in pages], form, columns)
    elif not pages:
        say("no older pages have been added to lists")
    else:
        _print_pages(pages, "older")
        _say_cursor(pages, "--backfill --after")


def _print_plain(rows: Sequence[dict[str, Any]], form: Format, columns: Sequence[str]) -> None:
    """Print what programs read."""
    if form is Format.URLS:
        for row in rows:
            print(row["url"])  # noqa: T201 - canonical URLs hold no control characters
    elif form is Format.JSON:
        print_json(rows)
    else:
        print_csv(columns, [[row[column] for column in columns] for row in rows])


def _print_pages(
    pages: Sequence[AnnouncedPage], what: str, scores: Sequence[str] | None = None
) -> None:
    table = [[when(p.found_at), p.site, p.name, readable(p.url)] for p in pages]
    columns = ["found", "site", "title", "url"]
    if scores is not None:
        columns.append("score")
        table = [[*cells, score] for cells, score in zip(table, scores, strict=True)]
    print_table(counted(len(pages), f"{what} page"), columns, table)


def _say_cursor(pages: Sequence[AnnouncedPage], option: str) -> None:
    say(f"to continue from here: {option} {max(page.cursor for page in pages)}")


def _score(line: dict[str, Any]) -> str:
    """Return a score for one cell: ``0.83``, ``0.47 grey``, ``0.61 guess``."""
    note = "guess" if line["guess"] else line["verdict"]
    return f"{line['score']:.2f}" + ("" if note == "relevant" else f" {note}")


def _say_events(events: Sequence[BackfillEvent]) -> None:
    """Print one line per backfill event, newest first."""
    for event in events[:_SHOWN_EVENTS]:
        title = f": {clean(event.title)}" if event.pages == 1 and event.title else ""
        say(f"{when(event.found_at)} {event.site}: {headline(event)}{title}")
    if len(events) > _SHOWN_EVENTS:
        say(f"and {counted(len(events) - _SHOWN_EVENTS, 'more event')}")
    say("list the pages: hubwatch new --backfill")
