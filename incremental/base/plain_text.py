"""Foreign text made safe to show: one line, no control or direction characters."""

import unicodedata

# Some spreadsheets run full-width signs, too (OWASP, CSV injection).
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def clean(text: str) -> str:
    """Drop control, format and surrogate characters, and fold white space.

    Direction characters are among them: they can make one URL look like another.
    """
    kept = (" " if c.isspace() else c for c in text if c.isspace() or _visible(c))
    return " ".join("".join(kept).split())


def one_line(text: str, most: int) -> str:
    """Return *text* cleaned and cut to *most* characters, with an ellipsis if cut."""
    line = clean(text[: most * 8])
    return line if len(line) <= most else line[: most - 1] + "…"


def cell(value: object) -> str:
    """Return a CSV cell; what a spreadsheet would run gets an apostrophe in front."""
    text = clean(str(value)) if value is not None else ""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _visible(character: str) -> bool:
    # Some scripts and emoji need zero-width joiners.
    return character == "\u200d" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co")
