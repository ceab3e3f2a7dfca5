"""What the commands share: opening settings and store, and printing what came from strangers."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from incremental.clock import SystemClock
from incremental.errors import InputError, NotFoundError
from incremental.plain_text import cell, one_line
from incremental.settings import Settings, load_settings, settings_path
from incremental.storage import open_configured_store
from incremental.urls import host_of, identity, normalize
from store import Store
from store.values import SiteRow

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@dataclass
class State:
    """What the options before the command said."""

    config: Path | None

    def settings(self) -> tuple[Settings, Path]:
        """Read the settings; return them with their folder."""
        return load_settings(self.config)

    def file(self) -> Path | None:
        """Return the settings file; None when there is none and the defaults hold."""
        path = settings_path(self.config)
        return path if path.is_file() else None

    def open(self) -> Store:
        """Open the store of the settings."""
        return open_configured_store(*self.settings())


def now() -> float:
    """Return the time, unix seconds, UTC."""
    return SystemClock().now()


def find_sites(store: Store, names: Sequence[str]) -> list[SiteRow]:
    """Return the sites that *names* mean: names, seed URLs, ids, or hosts of one site; all for none.

    Raises:
        NotFoundError: no site is called that.
        InputError: several sites may be meant.
    """
    rows = store.read.sites()
    return [_find_site(rows, name) for name in names] if names else rows


def _find_site(rows: Sequence[SiteRow], name: str) -> SiteRow:
    """Return the site that a user means: what is exactly so first, then the same page, then the host."""
    url = normalize(name if "://" in name else f"https://{name}") or name
    host = host_of(url).removeprefix("www.")
    is_host = "://" not in name and urlsplit(url).path in ("", "/")
    rules: tuple[Callable[[SiteRow], bool], ...] = (
        lambda row: str(row.id) == name,
        lambda row: name in (row.name, row.seed_url),
        lambda row: identity(row.seed_url) == identity(url),
        lambda row: is_host and host_of(row.seed_url).removeprefix("www.") == host,
    )
    same = next(filter(None, ([row for row in rows if rule(row)] for rule in rules)), [])
    if not same:
        known = ", ".join(sorted(row.name for row in rows)) or "none yet"
        raise NotFoundError(f"no site is called {name!r} (known: {known})")
    if len(same) > 1:
        choices = ", ".join(f"{row.name} (id {row.id})" for row in same)
        raise InputError("site", name, f"may mean {choices}; name one of them")
    return same[0]


def safe(text: object, limit: int = 300) -> Text:
    """Return text from a stranger as it may be shown: one line, no markup, no control characters."""
    return Text(one_line(str(text), limit))


def when(at: float | None) -> str:
    """Return a time in the reader's zone, to the minute; a dash for none."""
    if at is None or not 0 < at < 8e10:  # noqa: PLR2004 - beyond the year 4500 means never
        return "-"
    return datetime.fromtimestamp(at, UTC).astimezone().strftime("%Y-%m-%d %H:%M")


def span(seconds: float) -> str:
    """Return a length of time as people say it: ``5 min``, ``3.2 h``, ``12 d``."""
    size = abs(seconds)
    for unit, name in ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min")):
        if size >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.0f} s"


def utc(at: float | None) -> str | None:
    """Return a time as JSON gives it: ISO 8601, UTC; None for none."""
    if at is None or not -6e10 < at < 8e10:  # noqa: PLR2004 - what datetime can hold
        return None
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=at)).isoformat()


def dated(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with its times, named ``at`` or ``..._at``, as ISO 8601."""
    return {k: utc(v) if k == "at" or k.endswith("_at") else v for k, v in row.items()}


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
