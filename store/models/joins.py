"""Rules for merging rows when two pages turn out to be one.

Tables declare them for their own columns; :mod:`store.crawl.merges` applies them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
Join = Callable[[Row, Row], Row | None]
_Choice = Callable[[Any, Any], Any]


def least(one: Any, other: Any) -> Any:  # noqa: ANN401 - values of any column
    """Return the lesser value; NULL if both are."""
    return min((value for value in (one, other) if value is not None), default=None)


def most(one: Any, other: Any) -> Any:  # noqa: ANN401 - likewise
    """Return the greater value; NULL if both are."""
    return max((value for value in (one, other) if value is not None), default=None)


def total(one: Any, other: Any) -> Any:  # noqa: ANN401 - likewise
    """Return the sum."""
    return one + other


def better(one: Any, _: Any) -> Any:  # noqa: ANN401 - likewise
    """Return the better row's value even if it is NULL, which is meaningful here."""
    return one


def not_yet(one: Any, other: Any) -> Any:  # noqa: ANN401 - likewise
    """Return NULL if either is, else the latest."""
    return None if one is None or other is None else max(one, other)


def joined(better: Callable[[Row], Any] = lambda _: 0, **choices: _Choice) -> Join:
    """Join two rows: the better one's values, the other's where it has none, and *choices* by column.

    On a tie the row of the page that stays is the better one.
    """

    def join(stays: Row, goes: Row) -> Row:
        one, other = (goes, stays) if better(goes) > better(stays) else (stays, goes)
        row = {name: other[name] if one[name] in {None, ""} else one[name] for name in one}
        return row | {name: choose(one[name], other[name]) for name, choose in choices.items()}

    return join


known = joined()


@dataclass(frozen=True, slots=True, eq=False)
class Merge:
    """Moves the rows that refer to a page by *column* to another page."""

    column: Any
    key: tuple[str, ...] | None = None
    """The columns that, with *column*, no two rows share; None = any number of rows may refer to a page."""
    join: Join = known
    """Makes one of two rows with the same *key*; where it returns None, both stay as they are."""
    by_site: bool = False
    """No index begins with *column*, so only the rows of the site are searched."""
