"""The command ``tally``."""

from __future__ import annotations

import typer

from hubwatch_sample.tallying import tallies
from incremental.interfaces.cli.common import open_store, print_table, printed_json


def tally(context: typer.Context) -> None:
    """Show how many pages each site has announced."""
    with open_store(context) as store:
        found = tallies(store)
    if not printed_json(context, found):
        print_table("Tally", ("site", "pages"), [(site, f"{n:,}") for site, n in found.items()])
