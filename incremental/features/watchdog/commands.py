"""``hubwatch problems``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from incremental.features.watchdog.showing import problem
from incremental.interfaces.cli.common import Json, open_store, print_json, print_table, say
from incremental.interfaces.results.schema import dated, utc, when

Ended = Annotated[bool, typer.Option("--ended", help="Also those that have ended.")]


def problems(context: typer.Context, *, ended: Ended = False, as_json: Json = False) -> None:
    """Show what is wrong with sites although they answer: silence, vanished lists, missing text."""
    with open_store(context) as store:
        found = [problem(row) for row in store.problems.all(ended=ended)]
    if as_json:
        print_json([dated(asdict(one)) | {"since": utc(one.since)} for one in found])
    elif not found:
        say("no problems")
    else:
        rows = [(one.site, when(one.since), one.says, _until(one.ended_at)) for one in found]
        print_table("Problems", ("site", "since", "problem", ""), rows)


def _until(ended_at: float | None) -> str:
    return "" if ended_at is None else f"ended {when(ended_at)}"
