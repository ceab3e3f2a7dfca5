"""The commands in one app, and the options that all of them share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from incremental.cli import labelling, reading, running, sites
from incremental.cli.common import State

app = typer.Typer(
    name="hubwatch",
    help="Finds new pages: watches the hub pages of many sites and tells what is new.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.callback()
def options(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", "-c", metavar="FILE", help="Settings (default: ./hubwatch.toml if present)."
        ),
    ] = None,
) -> None:
    """Remember the options that stand before the command."""
    context.obj = State(config)


for command in (sites.init, sites.add, sites.remove, sites.pause, sites.resume):
    app.command()(command)
app.command("list")(sites.list_sites)
app.command()(sites.check)
for question in (reading.new, reading.hubs, reading.history, reading.show, reading.status):
    app.command()(question)
app.command()(labelling.label)
app.add_typer(labelling.labels, name="labels")
app.add_typer(labelling.models, name="models")
app.command()(running.run)
