"""``hubwatch problems``."""

from typing import Annotated

import typer

from incremental.features.watchdog.showing import problems_of
from incremental.interfaces.cli.common import open_store, print_list
from incremental.interfaces.results.schema import when

Ended = Annotated[bool, typer.Option("--ended", help="Also those that have ended.")]


def problems(context: typer.Context, *, ended: Ended = False) -> None:
    """Show what is wrong with sites although they answer: silence, vanished lists, missing text."""
    with open_store(context) as store:
        found = problems_of(store, ended=ended)
    rows = [
        (one.site, when(one.since), one.says, when(one.ended_at) if one.ended_at else "")
        for one in found
    ]
    columns = ("site", "since", "problem", "ended")
    print_list(context, found, "Problems", columns, rows, empty="no problems")
