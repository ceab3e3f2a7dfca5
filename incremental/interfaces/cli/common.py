"""Shared by all commands: opening settings and store, printing untrusted text."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import IO, TYPE_CHECKING, get_type_hints

import typer
from rich.box import HEAVY_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from incremental.base.clock import SystemClock
from incremental.base.errors import InputError
from incremental.base.plain_text import one_line
from incremental.interfaces.cli.logs import say as say  # noqa: PLC0414 - with the rest of what prints
from incremental.interfaces.results.schema import to_json
from incremental.settings import Settings, load_settings, settings_path
from incremental.settings.storage import open_configured_store
from store import Store

if TYPE_CHECKING:
    from rich.progress import Progress

_LONG_CELL = 300
# No address is longer.
_MOST_CHARS = 2_100
JSON = "hubwatch.json"
"""Where a command keeps whether it was called with ``--json``."""


now = SystemClock().now
"""Returns the time, unix seconds, UTC."""


def settings_of(context: typer.Context) -> tuple[Settings, Path]:
    """Return the settings named by the global options, and their folder; read once by a command."""
    if "settings" not in context.meta:
        context.meta["settings"] = load_settings(context.obj)
    found: tuple[Settings, Path] = context.meta["settings"]
    return found


def settings_file(context: typer.Context) -> Path | None:
    """Return the settings file; None = defaults."""
    path = settings_path(context.obj)
    return path if path.is_file() else None


def open_store(context: typer.Context) -> Store:
    """Open the configured store."""
    return open_configured_store(*settings_of(context))


def safe(text: object, limit: int = _LONG_CELL) -> Text:
    """Return untrusted text made safe to print: one line, no markup, no control characters."""
    return Text(one_line(str(text), limit))


def print_json(result: object) -> None:
    """Print results as JSON on stdout."""
    print(to_json(result, indent=2))  # noqa: T201


def wants_json(context: typer.Context) -> bool:
    """Return whether the command was called with ``--json``."""
    return bool(context.meta.get(JSON))


def printed_json(context: typer.Context, result: object) -> bool:
    """Print what a command answers as JSON on stdout if ``--json`` was given; return whether it was."""
    if wants_json(context):
        print_json(result)
    return wants_json(context)


def report(context: typer.Context, result: object, said: str) -> None:
    """Print what was done: as JSON on stdout, or in words on stderr."""
    if not printed_json(context, result):
        say(said)


def say_failed(problems: Sequence[str], number: int) -> None:
    """Say what failed of a *number* of things to do, and end with 1, or with 2 if nothing was done."""
    for problem in problems:
        say(f"hubwatch: {problem}")
    if problems:
        raise typer.Exit(1 if len(problems) < number else 2)


def write_whole(path: Path, field: str, write: Callable[[IO[bytes]], int]) -> int:
    """Write a complete file or none; return what *write* returns.

    Raises:
        InputError: the file, named in *field*, cannot be written.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with draft.open("wb") as out:
            done = write(out)
        draft.replace(path)
    except OSError as error:
        raise InputError(field, str(path), f"cannot be written: {error.strerror}") from error
    finally:
        with suppress(OSError):
            draft.unlink()
    return done


def with_options(
    run: Callable[..., None], command: Callable[..., None], options: Sequence[Parameter], place: str
) -> None:
    """Give *run* the parameters of *command*, with *options* instead of *place*."""
    hints = get_type_hints(command, include_extras=True)
    taken: list[Parameter] = []
    for one in signature(command).parameters.values():
        taken += options if one.name == place else [one.replace(annotation=hints[one.name])]
    # Typer reads both.
    run.__signature__ = Signature(taken)  # type: ignore[attr-defined]  # as functools sets it
    run.__annotations__ = {one.name: one.annotation for one in taken}


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table fitted to the terminal; long cells wrap.

    A last column ``url`` is never wrapped nor cut, so that an address can be copied: the terminal breaks its
    line, and nothing stands behind it.
    """
    has_urls = bool(columns) and columns[-1] == "url"
    table = Table(
        *columns,
        title=safe(title),
        title_justify="left",
        header_style="bold",
        show_header=any(columns),
        box=None if has_urls else HEAVY_HEAD,
    )
    longest = 0
    for *row, last in rows:
        shown = safe(last, _MOST_CHARS if has_urls else _LONG_CELL)
        longest = max(longest, shown.cell_len)
        table.add_row(*map(safe, row), shown)
    out = console()
    if has_urls:
        table.columns[-1].no_wrap = True
        table.columns[-1].min_width = longest
        wide = Console(highlight=False, width=out.width + longest)
        with wide.capture() as captured:
            wide.print(table)
        for line in captured.get().splitlines():
            print(line.rstrip())  # noqa: T201
    else:
        out.print(table)


def print_list(  # noqa: PLR0913 - what a list is made of
    context: typer.Context,
    result: object,
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    empty: str = "",
) -> None:
    """Print *result* as JSON for ``--json``, else the table of *rows*; where there are none, say *empty*."""
    if printed_json(context, result):
        return
    if empty and not rows:
        say(empty)
    else:
        print_table(title, columns, rows)


def console() -> Console:
    """Return a console on stdout; wide enough for URLs when it is no terminal."""
    out = Console(highlight=False)
    return out if out.is_terminal else Console(highlight=False, width=160)


def progress_bar(*, disable: bool = False) -> Progress:
    """Return a progress bar on stderr; stdout is for results."""
    from rich.progress import Progress  # noqa: PLC0415 - of use to few commands

    err = Console(stderr=True)
    # Without a terminal rich leaves an empty line where the transient bar was.
    return Progress(console=err, transient=True, disable=disable or not err.is_terminal)


def counted(number: int, what: str) -> str:
    """Return ``1 site``, ``2 sites``."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def replaced(values: list[str] | None) -> list[str] | None:
    """Return what an option replaces; one empty value = nothing."""
    return None if values is None else [one for one in values if one]
