"""Values of pages watched for changes of their text. Times are unix seconds, UTC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from store.enums import WatchState

DifferenceLines = Sequence[tuple[str, str]]
"""Shortened lines, each with ``-`` (it went) or ``+`` (it came)."""


@dataclass(frozen=True, slots=True)
class WatchRow:
    """A stored watch."""

    id: int
    site_id: int
    pattern: str
    """A URL, or a glob over whole URLs."""
    state: WatchState
    min_interval_seconds: float | None
    max_interval_seconds: float | None
    channels: tuple[str, ...]
    """Empty = every channel that is not narrowed to a topic or a search."""
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    added_at: float
    taken_to: int
    """Highest page id that was compared with the pattern."""

    @property
    def is_pattern(self) -> bool:
        """Whether it may match several pages."""
        return "*" in self.pattern


@dataclass(frozen=True, slots=True)
class WatchStanding:
    """Pages, checks and changes of a watch."""

    pages: int = 0
    checked_at: float | None = None
    changed_at: float | None = None
    gone: int = 0
    """Pages that are missing now."""
    next_at: float | None = None


@dataclass(frozen=True, slots=True)
class WatchedChangeRow:
    """A recorded change of a watched page."""

    id: int
    """Id of the change: a cursor that grows with time."""
    page_id: int
    watch_id: int | None
    at: float
    url: str
    title: str
    site_id: int
    site: str
    lines: tuple[tuple[str, str], ...]
    words_added: int
    words_removed: int
    body_before: str | None
    body_after: str | None

    @property
    def name(self) -> str:
        """Title, or URL."""
        return self.title or self.url

    @property
    def text(self) -> str:
        """Title and changed lines, normalised for matching words."""
        return "\n".join([self.title, *(line for _, line in self.lines)])


@dataclass(frozen=True, slots=True)
class ChangeQuery:
    """A query of recorded changes; None = any."""

    after: int | None = None
    """Cursor: only changes recorded later."""
    before: int | None = None
    """Cursor: only changes recorded earlier."""
    since: float | None = None
    site_id: int | None = None
    watch_id: int | None = None
    page_id: int | None = None
    limit: int = 50
    oldest_first: bool = False
