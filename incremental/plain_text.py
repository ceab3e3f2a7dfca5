"""Text from strangers, made fit to be shown: one line, no control or direction characters."""

from __future__ import annotations

import unicodedata

# Full-width signs are run by some spreadsheets, too (OWASP, CSV injection).
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def clean(text: str) -> str:
    """Drop control, format and surrogate characters, and fold white space.

    Characters that turn the direction of writing go with them: they can make one address look like
    another.
    """
    kept = (" " if c.isspace() else c for c in text if c.isspace() or _visible(c))
    return " ".join("".join(kept).split())


def one_line(text: str, most: int) -> str:
    """Return *text* clean and cut to *most* characters, with an ellipsis where something is missing."""
    line = clean(text[: most * 8])
    return line if len(line) <= most else line[: most - 1] + "…"


def cell(value: object) -> str:
    """Return a value as a cell of CSV; what a spreadsheet would run is quoted by an apostrophe."""
    text = clean(str(value)) if value is not None else ""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _visible(character: str) -> bool:
    # Zero-width joiners belong to the writing of some languages and of emoji.
    return character == "\u200d" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co")
