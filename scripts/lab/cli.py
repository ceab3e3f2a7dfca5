"""What scripts have in common: arguments, ``--json``, figures as tables, and curves as a picture."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

_MOST = 1e12


def parser_of(description: str | None, *, with_json: bool = True) -> argparse.ArgumentParser:
    """Return a parser whose help is the docstring of a script; *with_json*: see :func:`print_json`."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if with_json:
        text = "one JSON object as the last line"
        parser.add_argument("--json", action="store_true", help=text)
    return parser


def print_json(options: argparse.Namespace, figures: Mapping[str, object]) -> None:
    """Print *figures* as a line of JSON if ``--json`` was given."""
    if options.json:
        print(json.dumps(figures, ensure_ascii=False), flush=True)


def whole_number(text: str) -> int:
    """Read a whole number of at least one, ``1e4`` included; argparse shows what is wrong with another."""
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 1 <= number < _MOST or number != int(number):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(number)


def whole_numbers(text: str) -> list[int]:
    """Read comma-separated positive integers; the smallest comes first."""
    return sorted({whole_number(one) for one in text.split(",")})


def names(text: str) -> list[str]:
    """Read names with commas between."""
    return [name.strip() for name in text.split(",") if name.strip()]


Line = tuple[Sequence[float], Sequence[float]]
"""The places of its points: x and y."""


def show(figures: Mapping[str, Any], title: str = "", console: Console | None = None) -> None:
    """Print plain figures as pairs, mappings as tables of their own, those with equal keys as one."""
    from rich.console import Console as Terminal  # noqa: PLC0415 - heavy
    from rich.table import Table  # noqa: PLC0415 - likewise

    console = console or Terminal(width=140)
    inner = {name: value for name, value in figures.items() if isinstance(value, Mapping)}
    rows = [tuple(row) for row in inner.values()]
    flat = not any(isinstance(one, Mapping) for row in inner.values() for one in row.values())
    if len(inner) == len(figures) and rows and flat and set(rows) == {rows[0]}:
        table = Table("", *map(str, rows[0]), title=title, title_justify="left")
        for name, row in inner.items():
            table.add_row(str(name), *map(_cell, row.values()))
        console.print(table)
        return
    if plain := {name: value for name, value in figures.items() if name not in inner}:
        table = Table(title=title, title_justify="left", show_header=False)
        for name, value in plain.items():
            table.add_row(str(name).replace("_", " "), _cell(value))
        console.print(table)
    for name, value in inner.items():
        show(value, f"{title} {name}".strip(), console)


def _cell(value: object) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else str(value)


@dataclass
class Panel:
    """Curves in one pair of axes."""

    lines: Mapping[str, Line]
    title: str = ""
    x: str = ""
    y: str = ""
    axes: dict[str, Any] = field(default_factory=lambda: {"ylim": (0, None)})
    """Further properties, as of ``Axes.set``."""


def plot(panels: Sequence[Panel], path: Path, *, columns: int = 1, thick: str = "") -> None:
    """Draw panels in so many *columns*, row by row; *thick* names the line that matters."""
    import matplotlib as mpl  # noqa: PLC0415 - heavy, and only for the picture

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415 - after the back end is chosen

    rows = -(-len(panels) // columns)
    size = (max(4.0 * columns, 8.0), max(3.0 * rows, 5.0))
    figure, places = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    for place in places.flat[len(panels) :]:
        place.axis("off")
    for place, panel in zip(places.flat, panels, strict=False):
        place.set_prop_cycle(color=plt.get_cmap("tab20")(range(20)))
        for name, (xs, ys) in panel.lines.items():
            place.plot(xs, ys, label=name, linewidth=3.0 if name == thick else 1.2)
        place.set(title=panel.title, xlabel=panel.x, ylabel=panel.y, **panel.axes)
        place.grid(visible=True, alpha=0.3)
        place.legend(fontsize="x-small")
    figure.savefig(path, dpi=100)
    plt.close(figure)
