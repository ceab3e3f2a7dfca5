"""Numbers on the command line of a benchmark."""

from __future__ import annotations

import argparse

_MOST = 1e12


def count(text: str) -> int:
    """Read a whole number of at least one, ``1e4`` included; argparse shows what is wrong with another."""
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 1 <= number < _MOST or number != int(number):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(number)


def counts(text: str) -> list[int]:
    """Read whole numbers of at least one, with commas between."""
    return [count(one) for one in text.split(",")]
