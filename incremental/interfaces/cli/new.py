"""Announced pages: ``new``, with the older pages that were added to lists, ``search``, ``searches``."""

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Annotated, Literal

import typer

from incremental.base.errors import InputError, NotFoundError
from incremental.base.lookup import find_page
from incremental.base.plain_text import clean
from incremental.base.readable_urls import readable
from incremental.base.texts import named
from incremental.interfaces.cli.common import (
    counted,
    now,
    open_store,
    print_json,
    print_list,
    print_table,
    report,
    say,
    settings_of,
    wants_json,
)
from incremental.interfaces.cli.filtering import (
    Given,
    check_only,
    filtered,
    filters_of,
    in_words,
    query_of,
)
from incremental.interfaces.explain.backfill import headline
from incremental.interfaces.filters import from_json, to_json
from incremental.interfaces.results.schema import (
    NewPages,
    Page,
    by_name,
    dated,
    page_result,
    when,
)
from incremental.interfaces.results.tables import columns_of, write_csv
from incremental.interfaces.results.topics import why_empty
from incremental.settings.storage import daemon_at_work
from store import Store
from store.answers import NewQuery, SavedSearchRow
from store.crawl.backfills import MAX_LIMIT
from store.search.words import read_query

_SHOWN_EVENTS = 5
Format = Literal["table", "json", "csv", "urls"]


@filtered()
def new(  # noqa: PLR0913 - each is an option of the command
    context: typer.Context,
    *,
    given: Given,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number, newest first.")] = 100,
    after: Annotated[
        int | None, typer.Option(help="Only pages after this cursor, oldest first.")
    ] = None,
    backfills: Annotated[
        bool,
        typer.Option("--backfills", help="Instead: older pages that were added to lists."),
    ] = False,
    form: Annotated[Format, typer.Option("--format", help="Output format.")] = "table",
) -> None:
    """List new pages, newest first."""
    form = "json" if wants_json(context) else form
    if backfills:
        mark = () if given.get("show") == "starred" else ("show",)
        check_only(given, "since", "until", "site", "tag", *mark, beside="--backfills")
    topic = given.get("topic", "").strip()
    with open_store(context) as store:
        order = "newest" if after is None else "oldest"
        query = query_of(store, given, after=after, limit=limit, order=order)
        if backfills:
            rows = list(islice(store.backfills.all_pages(query), limit))
        else:
            rows = list(store.answers.new(query).rows)
        pages = list(map(page_result, rows))
        if form != "table":
            _print_plain(store, pages, form)
        elif pages:
            _print_pages(pages, "older" if backfills else "new", topic)
        elif backfills:
            say("no older pages have been added to lists")
        else:
            say(why_empty(store, query, topic) or _nothing(context, store, given))
        narrowed = (
            given.keys() & {"topic", "verdict", "language"} or query.starred or after is not None
        )
        if form == "table" and not (backfills or narrowed):
            _say_backfills(store, query)


def _nothing(context: typer.Context, store: Store, given: Given) -> str:
    """Say that no page is listed: because of the filters, or because none came."""
    if given.keys() - {"since", "site"} and store.answers.new(NewQuery(limit=1)).rows:
        return "no page meets these filters"
    since = f" since {given['since']}" if "since" in given else ""
    return f"nothing new yet{since}{_next_look(context, store)}"


def _next_look(context: typer.Context, store: Store) -> str:
    """Return when there may be something new, and how to look at once."""
    if not store.read.seeds():
        return ""
    # It loads the parser, which a list that is not empty does without.
    from incremental.interfaces.results.status import next_look  # noqa: PLC0415

    settings, folder = settings_of(context)
    look = next_look(store, settings, now())
    if look is None:
        return ""
    name = f"'{look.site}'" if " " in look.site else look.site
    at_once = f"hubwatch visit {name} looks now"
    if not daemon_at_work(store, settings, folder):
        return ". Sites are visited while the daemon runs: hubwatch run"
    minutes = math.ceil((look.at - now()) / 60)
    if minutes <= 0:
        return f". {look.site} is being looked at"
    return f". Next look in {counted(minutes, 'minute')}; {at_once}"


def _print_plain(store: Store, pages: Sequence[Page], form: Format) -> None:
    """Print what programs read."""
    if form == "urls":
        for page in pages:
            print(page.url)  # noqa: T201 - canonical URLs hold no control characters
    elif form == "json":
        print_json(pages)
    else:
        topics = [row.name for row in store.topics.topics()]
        write_csv(pages, columns_of(Page, topics), sys.stdout)


def _print_pages(pages: Sequence[Page], what: str, topic: str = "") -> None:
    """Print pages as a table, with their scores for *topic*."""
    columns = ["found", "site", *(["score"] if topic else []), "title", "url"]
    table = [
        [when(page.found_at), page.site]
        + ([_score(page, topic)] if topic else [])
        + [page.title, readable(page.url)]
        for page in pages
    ]
    print_table(counted(len(pages), f"{what} page"), columns, table)
    say(f"to continue from here: --after {max(page.cursor for page in pages)}")


def _score(page: Page, topic: str) -> str:
    """Return a score for one cell: ``0.83``, ``0.47 doubtful``, ``0.61 guess``."""
    found = next((one for one in page.topics if one.topic == topic), None)
    if found is None:
        return "-"
    note = named("topics", found.verdict).lower() if found.fetched else "guess"
    return f"{found.score:.2f}" + ("" if note == "relevant" else f" {note}")


def _say_backfills(store: Store, query: NewQuery) -> None:
    """Print one line per backfill event that *query* has room for, newest first."""
    events = store.backfills.events(replace(query, limit=MAX_LIMIT))
    for event in events[:_SHOWN_EVENTS]:
        title = f": {clean(event.title)}" if event.pages == 1 and event.title else ""
        say(f"{when(event.found_at)} {event.site}: {headline(event)}{title}")
    if len(events) > _SHOWN_EVENTS:
        say(f"and {counted(len(events) - _SHOWN_EVENTS, 'more event')}")
    if events:
        say("list the pages: hubwatch new --backfills")


@filtered()
def search(  # noqa: PLR0913 - each is an option of the command
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WORDS]...", help='All must match; "phrase", -without, prefix*.'),
    ] = None,
    *,
    like: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Pages like this announced one in meaning, the most alike first."
        ),
    ] = None,
    saved: Annotated[str, typer.Option(metavar="NAME", help="Run this saved search.")] = "",
    given: Given,
    limit: Annotated[
        int, typer.Option(min=1, max=1_000, help="Maximum number, newest first.")
    ] = 20,
    after: Annotated[int | None, typer.Option(help="Continue after this cursor.")] = None,
) -> None:
    """Search announced pages by words in title and text, newest first, or by meaning."""
    if sum((bool("".join(words or ()).strip()), like is not None, bool(saved))) != 1:
        raise InputError(
            "WORDS", "", "give words to search for, a page (--like URL) or --saved NAME"
        )
    with open_store(context) as store:
        if saved:
            check_only(given, beside="--saved, which has filters of its own")
            filters = from_json(_saved(store, saved).query)
            query = filters.query(now(), limit=limit, after=after)
        else:
            query = query_of(store, given, " ".join(words or ()), limit=limit, after=after)
        if like is None:
            _answer(context, store, query)
        elif after is not None:
            raise InputError("--after", after, "goes without --like; for more, raise --limit")
        else:
            _answer_like(context, store, find_page(store, like)["id"], query)


def _saved(store: Store, name: str) -> SavedSearchRow:
    row = store.answers.search(name)
    if row is None:
        raise NotFoundError(f"no search is called {name!r}")
    return row


def _answer(context: typer.Context, store: Store, query: NewQuery) -> None:
    if query.text.strip() and not any(not p.excluded for p in read_query(query.text)):
        raise InputError("words", query.text, "contains no word to search for")
    answer = store.answers.new(query)
    pages = [page_result(row) for row in answer.rows]
    found = NewPages(pages, answer.cursor, answer.more)
    rows = [
        (when(row.found_at), row.site, row.name, row.excerpt, readable(row.url))
        for row in answer.rows
    ]
    columns = ("found", "site", "title", "text", "url")
    title = counted(len(rows), "page")
    print_list(context, found, title, columns, rows, empty="nothing found")
    if answer.more and not wants_json(context):
        say(f"more: --after {answer.cursor}")


def _answer_like(context: typer.Context, store: Store, page_id: int, query: NewQuery) -> None:
    """Print the announced pages nearest in meaning to a page that has a vector."""
    from incremental.topics.embedding.likeness import pages_like, vector_of  # noqa: PLC0415 - numpy

    found = pages_like(store, *vector_of(store, page_id), query, but=page_id)
    result = {
        "pages": [
            by_name(page_result(one.page)) | {"likeness": round(one.likeness, 4)} for one in found
        ]
    }
    rows = [
        (
            *(f"{one.likeness:.2f}", when(one.page.found_at), one.page.site, one.page.name),
            readable(one.page.url),
        )
        for one in found
    ]
    columns = ("likeness", "found", "site", "title", "url")
    title = counted(len(rows), "page")
    print_list(context, result, title, columns, rows, empty="nothing found")


@filtered()
def save(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Its name; an existing one is replaced.")],
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[WORDS]...", help="As for search.")
    ] = None,
    *,
    given: Given,
) -> None:
    """Save a search; the web page, feeds and messages can use it."""
    if not clean(name):
        raise InputError("name", name, "must have a letter or a digit")
    with open_store(context) as store:
        filters = filters_of(store, given, " ".join(words or ()))
        filters.query(now())  # refuse an invalid time now, not at every use
        store.answers.save_search(clean(name), to_json(filters), now=now())
    report(context, {"saved": clean(name)}, f"saved {clean(name)}")


def list_searches(context: typer.Context) -> None:
    """List the saved searches."""
    with open_store(context) as store:
        rows = store.answers.searches()
        searches = [(row.name, in_words(store, from_json(row.query))) for row in rows]
    empty = "no saved search yet; save one: hubwatch searches save NAME WORDS"
    facts = [dated(row) for row in rows]
    print_list(context, facts, "Searches", ("name", "search"), searches, empty=empty)


def remove(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Of a saved search.")],
) -> None:
    """Delete a saved search."""
    with open_store(context) as store:
        store.answers.remove_search(_saved(store, name).name)
    report(context, {"removed": name}, f"removed {name}")
