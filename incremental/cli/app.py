"""The commands in one app, and the options that all of them share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from incremental.cli import (
    discovering,
    labelling,
    messages,
    pages,
    reading,
    running,
    searching,
    serving,
    sites,
    topics,
    transferring,
)
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
for question in (reading.new, searching.search, reading.hubs, reading.status):
    app.command()(question)
for mark in (searching.read, searching.unread, searching.star, searching.unstar):
    app.command()(mark)
app.add_typer(searching.searches, name="searches")
for about in (pages.history, pages.diff, pages.show, pages.copies):
    app.command()(about)
app.command()(labelling.label)
app.add_typer(labelling.labels, name="labels")
app.add_typer(labelling.models, name="models")
app.add_typer(topics.topic, name="topic")
app.command()(topics.relevant)
app.command()(topics.irrelevant)
app.add_typer(discovering.discover, name="discover")
app.add_typer(messages.notify, name="notify")
app.command()(running.run)
app.command()(serving.serve)
app.add_typer(serving.token, name="token")
app.command("import")(transferring.import_list)
for whole in (transferring.export, transferring.backup, transferring.restore):
    app.command()(whole)
