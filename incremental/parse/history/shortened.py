"""The changed lines of a difference, short enough for a message. Pure.

A long line is cut around what changed in it::

    The council meets on [Monday] and decides ...  ->  - The council meets on Monday and decides …
"""

from __future__ import annotations

from collections.abc import Sequence

from incremental.base.plain_text import one_line
from incremental.parse.history.textdiff import Piece, TextDiff

MAX_LINES = 60
MAX_LINE_CHARS = 400
# Characters kept of unchanged text on each side of a change.
_CONTEXT_CHARS = 60
# Characters kept at each end of a changed piece.
_CHANGED_CHARS = 150
_CUT = " … "


def changed_lines(found: TextDiff) -> tuple[tuple[str, str], ...]:
    """Return what went (``-``) and what came (``+``), at most :data:`MAX_LINES` lines, in order."""
    lines: list[tuple[str, str]] = []
    for row in found.rows:
        if row.kind not in ("added", "removed", "changed"):
            continue
        sides = (("-", row.before), ("+", row.after))
        lines += [(sign, shortened(pieces)) for sign, pieces in sides if pieces]
        if len(lines) >= MAX_LINES:
            break
    return tuple(lines[:MAX_LINES])


def shortened(pieces: Sequence[Piece]) -> str:
    """Return a line around its changed pieces, on one line."""
    last = len(pieces) - 1
    parts = [
        _ends_of(piece.text)
        if piece.changed
        else _around(piece.text, begins=number == 0, ends=number == last)
        for number, piece in enumerate(pieces)
    ]
    return one_line("".join(parts), MAX_LINE_CHARS)


def _ends_of(text: str) -> str:
    """Cut the middle of a long changed piece: two changes of a long line may be one piece."""
    if len(text) <= 2 * _CHANGED_CHARS:
        return text
    return f"{text[:_CHANGED_CHARS]}{_CUT}{text[-_CHANGED_CHARS:]}"


def _around(text: str, *, begins: bool, ends: bool) -> str:
    """Cut what is far from a change: the start of a line's first piece, the end of its last."""
    if len(text) <= 2 * _CONTEXT_CHARS:
        return text
    head = "" if begins else text[:_CONTEXT_CHARS]
    tail = "" if ends else text[-_CONTEXT_CHARS:]
    return f"{head}{_CUT}{tail}"
