"""Searching: ``search searches``."""

from typing import Annotated

import typer

from incremental.base.errors import InputError, NotFoundError
from incremental.base.lookup import find_page
from incremental.base.plain_text import clean
from incremental.base.readable_urls import readable
from incremental.interfaces.cli.common import (
    counted,
    now,
    open_store,
    print_list,
    report,
    say,
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
from incremental.interfaces.filters import from_json, to_json
from incremental.interfaces.results.schema import NewPages, by_name, dated, page_result, when
from store import Store
from store.answers import NewQuery, SavedSearchRow
from store.search.words import read_query

Words = Annotated[
    list[str] | None,
    typer.Argument(metavar="[WORDS]...", help='All must match; "phrase", -without, prefix*.'),
]
Like = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="Pages like this announced one in meaning, the most alike first."
    ),
]


@filtered()
def search(  # noqa: PLR0913 - each is an option of the command
    context: typer.Context,
    words: Words = None,
    *,
    like: Like = None,
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
