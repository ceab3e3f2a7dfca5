"""What a list says of one site."""

from __future__ import annotations

from dataclasses import dataclass

from hubwatch.errors import HubwatchError


class ListError(HubwatchError):
    """A list is not in its format, or too long."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry as written."""

    place: str
    """For display."""
    address: str
    feed: bool = False
    home: str = ""
    name: str = ""
    folders: tuple[str, ...] = ()
    paused: bool = False
    skipped: str = ""
    """Why it cannot be watched; empty = it can."""
