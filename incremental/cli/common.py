"""What the commands share: opening settings and store, and printing what came from strangers."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from incremental.clock import SystemClock
from incremental.plain_text import cell, one_line
from incremental.settings import Settings, load_settings, settings_path
from incremental.storage import open_configured_store
from store import Store

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


now = SystemClock().now
"""Returns the time, unix seconds, UTC."""


def settings_of(context: typer.Context) -> tuple[Settings, Path]:
    """Read the settings that the options before the command name; return them with their folder."""
    return load_settings(context.obj)


def settings_file(context: typer.Context) -> Path | None:
    """Return the settings file; None when there is none and the defaults hold."""
    path = settings_path(context.obj)
    return path if path.is_file() else None


def open_store(context: typer.Context) -> Store:
    """Open the store of the settings."""
    return open_configured_store(*load_settings(context.obj))


def safe(text: object, limit: int = 300) -> Text:
    """Return text from a stranger as it may be shown: one line, no markup, no control characters."""
    return Text(one_line(str(text), limit))


def print_json(value: Any) -> None:  # noqa: ANN401 - whatever JSON holds
    """Print JSON on stdout."""
    print(json.dumps(value, ensure_ascii=False, indent=2))  # noqa: T201


def print_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print CSV on stdout; a cell that a spreadsheet would run as a formula is quoted by an apostrophe."""
    writer = csv.writer(sys.stdout)
    writer.writerow(header)
    writer.writerows([cell(value) for value in row] for row in rows)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table that fits the terminal; long cells are folded."""
    table = Table(*columns, title=safe(title), title_justify="left", header_style="bold")
    for row in rows:
        table.add_row(*(safe(value) for value in row))
    console().print(table)


def console() -> Console:
    """Return the console of stdout; wide enough for a URL when it is not a terminal."""
    out = Console(highlight=False)
    return out if out.is_terminal else Console(highlight=False, width=160)


def progress_bar(*, disable: bool = False) -> Progress:
    """Return a bar for long work, on stderr: stdout is for what was asked for."""
    err = Console(stderr=True)
    # Where nobody watches, rich would leave an empty line for the bar that it took away.
    return Progress(console=err, transient=True, disable=disable or not err.is_terminal)


def say(message: str) -> None:
    """Print a message for people on stderr."""
    typer.echo(message, err=True)
