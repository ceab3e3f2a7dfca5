"""The command ``tally``."""

from __future__ import annotations

import typer

from hubwatch_sample.tallying import tallies
from incremental.interfaces.cli.common import Json, open_store, print_json, print_table


def tally(context: typer.Context, *, as_json: Json = False) -> None:
    """Show how many pages each site has announced."""
    with open_store(context) as store:
        found = tallies(store)
    if as_json:
        print_json(found)
    else:
        print_table("Tally", ("site", "pages"), [(site, f"{n:,}") for site, n in found.items()])
