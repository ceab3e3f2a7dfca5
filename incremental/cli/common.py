"""What the commands share: opening settings and store, and printing what came from strangers."""

from __future__ import annotations

import csv
import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from incremental.clock import SystemClock
from incremental.errors import InputError, NotFoundError
from incremental.settings import Settings, load_settings
from incremental.urls import identity, normalize

if TYPE_CHECKING:
    from store import Store
    from store.values import SiteRow

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]

_UNITS = {"m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
_SPAN = re.compile(r"^(\d+(?:\.\d+)?)([mhdw])$")
# Full-width signs are run by some spreadsheets, too (OWASP, CSV injection).
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")


@dataclass
class State:
    """What the options before the command said."""

    config: Path | None

    def settings(self) -> tuple[Settings, Path]:
        """Read the settings; return them with their folder."""
        return load_settings(self.config)

    def open(self) -> Store:
        """Open the store of the settings."""
        from incremental.storage import open_configured_store  # noqa: PLC0415 - quick --help

        return open_configured_store(*self.settings())


def now() -> float:
    """Return the time, unix seconds, UTC."""
    return SystemClock().now()


def moment(text: str, at: float) -> float:
    """Return the time that *text* means: ``3h`` before *at*, or a date like ``2026-11-01 08:00``.

    Raises:
        InputError: it means neither.
    """
    span = _SPAN.match(text.strip())
    if span:
        return at - float(span[1]) * _UNITS[span[2]]
    try:
        date = datetime.fromisoformat(text.strip())
    except ValueError:
        way_out = "give a span like 90m, 3h, 1d, 2w or a date like 2026-11-01"
        raise InputError("time", text, way_out) from None
    # A date without a zone means the reader's own.
    return date.timestamp()


def find_sites(store: Store, names: Sequence[str]) -> list[SiteRow]:
    """Return the sites that *names* mean: seed URLs, host names or ids; all for none.

    Raises:
        NotFoundError: no site is called that.
    """
    rows = store.read.sites()
    if not names:
        return rows
    found = []
    for name in names:
        url = normalize(name if "://" in name else f"https://{name}") or name
        same = [r for r in rows if str(r.id) == name or name in (r.name, r.seed_url)]
        same = same or [r for r in rows if identity(r.seed_url) == identity(url)]
        if not same:
            known = ", ".join(sorted({row.name for row in rows})) or "none yet"
            raise NotFoundError(f"no site is called {name!r} (known: {known})")
        found += same
    return found


def safe(text: object, limit: int = 300) -> Text:
    """Return text from a stranger as it may be shown: one line, no markup, no control characters.

    Characters that turn the direction of writing are left out: they can make one address look like
    another.
    """
    return Text(clean(str(text))[:limit])


def clean(text: str) -> str:
    """Drop control, format and surrogate characters, and fold white space."""
    kept = (" " if c.isspace() else c for c in text if c.isspace() or _visible(c))
    return " ".join("".join(kept).split())


def _visible(character: str) -> bool:
    # Zero-width joiners belong to the writing of some languages and of emoji.
    return character == "\u200d" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co")


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
    writer.writerows([_cell(value) for value in row] for row in rows)


def _cell(value: object) -> object:
    text = clean(str(value)) if value is not None else ""
    return f"'{text}" if text.startswith(_FORMULA) else text


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


def say(message: str) -> None:
    """Print a message for people on stderr."""
    typer.echo(message, err=True)
