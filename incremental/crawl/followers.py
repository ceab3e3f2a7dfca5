"""What features do after each visit, in its transaction."""

from __future__ import annotations

from typing import Protocol

from store.values import VisitRecord


class Follower(Protocol):
    """What a feature does with a visit. Used by the crawler's thread only."""

    def load(self, now: float) -> None:
        """Read what it needs of the store: at start, and after another process changed it."""

    def after(self, record: VisitRecord, now: float) -> None:
        """Write what follows from a visit, in its transaction."""
