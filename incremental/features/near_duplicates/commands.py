"""``hubwatch copies``."""

from typing import Annotated

import typer

from incremental.base.lookup import find_page
from incremental.interfaces.cli.common import counted, open_store, print_list
from incremental.interfaces.results.schema import dated, when


def copies(
    context: typer.Context, url: Annotated[str, typer.Argument(help="A page's URL.")]
) -> None:
    """List other pages with nearly the same text, on all sites, first seen first."""
    with open_store(context) as store:
        page = find_page(store, url)
        found = store.near_duplicates.of(page["id"])
        text = store.answers.text(page["id"])
    rows = [
        (when(row.first_seen_at), when(row.published_at), row.site, f"{row.alike:.0%}", row.url)
        for row in found
    ]
    columns = ("first seen", "published", "site", "similarity", "url")
    facts, title = [dated(row) for row in found], counted(len(found), "page")
    empty = "no copies" if text and text.cluster else "no text yet, or too short to compare"
    print_list(context, facts, title, columns, rows, empty=empty)
