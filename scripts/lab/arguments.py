"""The command line of a script: its help, ``--json``, and lists and numbers."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping

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
    """Read whole numbers of at least one, with commas between; the least first."""
    return sorted({whole_number(one) for one in text.split(",")})


def names(text: str) -> list[str]:
    """Read names with commas between."""
    return [name.strip() for name in text.split(",") if name.strip()]
