"""Followers: features' work after each visit, in its transaction."""

from typing import Protocol

from store.values import VisitRecord


class Follower(Protocol):
    """A feature's work after a visit. Used by the crawler's thread only."""

    def load(self, now: float) -> None:
        """Read its state from the store: at start, and after another process changed it."""

    def after(self, record: VisitRecord, now: float) -> None:
        """Write the consequences of a visit, in its transaction."""
