"""Older pages that were added to lists: ``backfills``, and the lines about them below ``new``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Annotated

import typer

from incremental.base.lookup import check_tag, find_sites
from incremental.interfaces.cli.common import Json, now, open_store, say
from incremental.interfaces.cli.new import Format, print_pages, print_plain, say_cursor
from incremental.interfaces.filters import Filters
from incremental.interfaces.results.schema import page_line
from store import Store
from store.crawl.backfills import BackfillQuery


def backfills(  # noqa: PLR0913 - each is an option of the command
    context: typer.Context,
    *,
    since: Annotated[str, typer.Option(help="A span (90m, 3h, 1d, 2w) or a date.")] = "",
    until: Annotated[str, typer.Option(help="A span or a date.")] = "",
    site: Annotated[list[str], typer.Option(help="Only this site; may be repeated.")] = [],  # noqa: B006 - Typer's way
    tag: Annotated[str, typer.Option(help="Only pages of the sites with this tag.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="Maximum number, newest first.")] = 100,
    after: Annotated[
        int | None, typer.Option(help="Only pages after this cursor, oldest first.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TABLE,
    as_json: Json = False,
) -> None:
    """List older pages that were added to lists; newest first."""
    form = Format.JSON if as_json else form
    asked = Filters(since=since, until=until).query(now())
    with open_store(context) as store:
        query = BackfillQuery(
            since=asked.since,
            until=asked.until,
            sites=_sites(store, site, tag),
            after=after,
            order="newest" if after is None else "oldest",
        )
        pages = list(islice(store.backfills.all_pages(query), limit))
    if form is not Format.TABLE:
        columns = ("cursor", "event", "found_at", "published_at", "site", "title", "url", "hub_url")
        print_plain([page_line(page) for page in pages], form, columns)
    elif not pages:
        say("no older pages have been added to lists")
    else:
        print_pages(pages, "older")
        say_cursor(pages)


def _sites(store: Store, names: Sequence[str], tag: str) -> tuple[int, ...] | None:
    """Return the ids of the named sites with a tag; None = all."""
    named = tuple(row.id for row in find_sites(store, names)) if names else None
    if not tag:
        return named
    check_tag(store, tag)
    tagged = store.tags.sites_tagged(tag)
    return tagged if named is None else tuple(one for one in named if one in tagged)
