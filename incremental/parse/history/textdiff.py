"""Two texts of a page -> what changed, by lines and by words, as values that any interface can draw.

Lines are compared without their noise (:mod:`incremental.parse.history.noise`); those that differ only
in noise are shown as ignored, with the reason. Within a changed line words are compared, or characters
in scripts without spaces. Python's ``difflib`` does both.

Of the changed lines of a difference that stands in a message, a long one is cut around what changed in it::

    The council meets on [Monday] and decides ...  ->  - The council meets on Monday and decides …
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

from incremental.base.plain_text import one_line
from incremental.parse.history.noise import Line, lines_of

MAX_LINES = 60
MAX_LINE_CHARS = 400
# Characters kept of unchanged text on each side of a change.
_CONTEXT_CHARS = 60
# Characters kept at each end of a changed piece.
_CHANGED_CHARS = 150
_CUT = " … "


def whole(title: str, text: str) -> str:
    """Return title and text for comparison: the title is the first line, once."""
    first, _, _ = text.partition("\n")
    return text if not title or first.strip() == title.strip() else f"{title}\n{text}"


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
    parts = []
    for number, piece in enumerate(pieces):
        text, kept = piece.text, _CHANGED_CHARS if piece.changed else _CONTEXT_CHARS
        if len(text) > 2 * kept:
            # What is far from a change goes; two changes of a long line may be one piece.
            head = text[:kept] if piece.changed or number else ""
            tail = text[-kept:] if piece.changed or number < last else ""
            text = f"{head}{_CUT}{tail}"
        parts.append(text)
    return one_line("".join(parts), MAX_LINE_CHARS)


# Most pairs of equal tokens in a comparison of two lines, and of two texts. Beyond that, which takes many
# repeated words, only the beginnings and ends of lines are compared.
PAIR_COST, DIFF_COST = 5_000, 200_000
# Two lines with this share of common text are one changed line.
ALIKE = 0.4
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Japanese, Han
)
_TOKEN = re.compile(rf"(?P<key>[{_UNSPACED}]|[^\W{_UNSPACED}]+|\S)\s*")


@dataclass(frozen=True, slots=True)
class Piece:
    """Text on one side or on both."""

    text: str
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A line before and after. Either side may be empty."""

    kind: str
    """same, added, removed, changed or ignored."""
    before: tuple[Piece, ...] = ()
    after: tuple[Piece, ...] = ()
    reason: str = ""
    """Of an ignored row: which noise it is."""


@dataclass(frozen=True, slots=True)
class TextDiff:
    """What changed between two texts."""

    rows: tuple[Row, ...]
    words_added: int = 0
    """Words, or characters in scripts without spaces."""
    words_removed: int = 0

    @property
    def is_change(self) -> bool:
        """Whether anything but noise differs."""
        return any(row.kind in ("added", "removed", "changed") for row in self.rows)

    @property
    def ignored(self) -> tuple[Row, ...]:
        """The rows that differ in noise alone."""
        return tuple(row for row in self.rows if row.kind == "ignored")

    @property
    def summary(self) -> str:
        """What changed, in short, for people."""
        if not self.is_change:
            reasons = sorted({reason for row in self.ignored for reason in row.reason.split(", ")})
            return f"only noise: {', '.join(reasons)}" if reasons else "nothing changed"
        return f"+{self.words_added} \u2212{self.words_removed} words"


def diff(before: str, after: str) -> TextDiff:
    """Compare two texts."""
    rows = tuple(_Comparison().rows(lines_of(before), lines_of(after)))
    counts = {"before": 0, "after": 0}
    for row in rows:
        if row.kind in ("added", "removed", "changed"):
            counts["before"] += _words(row.before)
            counts["after"] += _words(row.after)
    return TextDiff(rows, words_added=counts["after"], words_removed=counts["before"])


def _words(pieces: Sequence[Piece]) -> int:
    changed = (piece.text for piece in pieces if piece.changed)
    return sum(token[0].isalnum() for text in changed for token in _TOKEN.findall(text))


def _keys(lines: Sequence[Line]) -> list[str]:
    # Furniture matches furniture of its kind, so that it does not break up prose.
    return [line.key or f"\0{line.noise}" for line in lines]


Opcode = tuple[str, int, int, int, int]


def _opcodes(before: Sequence[str], after: Sequence[str]) -> Iterator[Opcode]:
    """Yield difflib's opcodes."""
    # Common beginnings and ends, which are most of a text, are cut off first.
    for kind, i1, i2, j1, j2 in _ends(before, after):
        if kind == "equal":
            yield kind, i1, i2, j1, j2
            continue
        # difflib ignores very frequent items in long sequences, which keeps it fast.
        matcher = SequenceMatcher(None, before[i1:i2], after[j1:j2])
        for inner, a1, a2, b1, b2 in matcher.get_opcodes():
            yield inner, a1 + i1, a2 + i1, b1 + j1, b2 + j1


def _ends(before: Sequence[str], after: Sequence[str]) -> Iterator[Opcode]:
    """Yield opcodes of the common beginning and end, with everything between as replaced."""
    low = min(len(before), len(after))
    start = next((n for n in range(low) if before[n] != after[n]), low)
    rest = range(low - start)
    end = next((n for n in rest if before[-1 - n] != after[-1 - n]), low - start)
    left, right = len(before) - end, len(after) - end
    if start:
        yield "equal", 0, start, 0, start
    if left > start or right > start:
        yield "replace", start, left, start, right
    if end:
        yield "equal", left, len(before), right, len(after)


class _Comparison:
    """One comparison of two texts, within its cost."""

    def __init__(self) -> None:
        self._left = DIFF_COST

    def rows(self, before: Sequence[Line], after: Sequence[Line]) -> Iterator[Row]:
        """Yield the rows of two texts."""
        for kind, i1, i2, j1, j2 in _opcodes(_keys(before), _keys(after)):
            if kind == "equal":
                yield from map(self._same, before[i1:i2], after[j1:j2])
            else:
                yield from self._replaced(before[i1:i2], after[j1:j2])

    def _same(self, before: Line, after: Line) -> Row:
        if before.text == after.text or not (before.noise or after.noise):
            return Row("same", (Piece(before.text),), (Piece(after.text),))
        reasons = dict.fromkeys((*before.noise, *after.noise))
        return Row("ignored", *self._pieces(before.text, after.text), reason=", ".join(reasons))

    def _replaced(self, before: Sequence[Line], after: Sequence[Line]) -> Iterator[Row]:
        gone = [line for line in before if line.key]
        come = [line for line in after if line.key]
        for old, new in zip_longest(gone, come):
            yield from self._pair(old, new)
        for side, lines in (("before", before), ("after", after)):
            for line in lines:
                if not line.key:
                    pieces = {side: (Piece(line.text, changed=True),)}
                    yield Row("ignored", **pieces, reason=", ".join(line.noise))

    def _pair(self, old: Line | None, new: Line | None) -> Iterator[Row]:
        if old is not None and new is not None and self._left > 0:
            pieces = self._pieces(old.text, new.text)
            if _alike(*pieces) >= ALIKE:
                yield Row("changed", *pieces)
                return
        if old is not None:
            yield Row("removed", before=(Piece(old.text, changed=True),))
        if new is not None:
            yield Row("added", after=(Piece(new.text, changed=True),))

    def _pieces(self, before: str, after: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
        """Compare two lines by tokens; the space after a token belongs to it and is not compared."""
        left, right = list(_TOKEN.finditer(before)), list(_TOKEN.finditer(after))
        old_keys, new_keys = [t["key"] for t in left], [t["key"] for t in right]
        cost = _cost(old_keys, new_keys)
        self._left -= min(cost, PAIR_COST)
        opcodes = _ends if cost > PAIR_COST or self._left <= 0 else _opcodes
        old: list[Piece] = []
        new: list[Piece] = []
        for kind, i1, i2, j1, j2 in opcodes(old_keys, new_keys):
            if i2 > i1:
                old.append(Piece("".join(t[0] for t in left[i1:i2]), kind != "equal"))
            if j2 > j1:
                new.append(Piece("".join(t[0] for t in right[j1:j2]), kind != "equal"))
        return tuple(old), tuple(new)


def _alike(before: Sequence[Piece], after: Sequence[Piece]) -> float:
    whole = sum(len(piece.text) for piece in (*before, *after))
    same = sum(len(piece.text) for piece in (*before, *after) if not piece.changed)
    return same / whole if whole else 1.0


def _cost(before: Sequence[str], after: Sequence[str]) -> int:
    left, right = Counter(before), Counter(after)
    return sum(count * right[token] for token, count in left.items())
