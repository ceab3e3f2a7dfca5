"""The part of the sites that one daemon has; ``Whole`` is a single daemon."""

from __future__ import annotations

from typing import Protocol


class Part(Protocol):
    """A share of the sites, which may change between two steps of the crawler."""

    @property
    def is_leader(self) -> bool:
        """Whether what belongs to no site is done here."""

    def has(self, site_id: int) -> bool:
        """Whether visits of a site may begin here."""

    def gives_up(self, site_id: int) -> bool:
        """Whether a site was this part's, and is only kept until its visit has ended."""


class Whole:
    """Everything: there is one daemon."""

    is_leader = True

    def has(self, _site_id: int) -> bool:
        """Return True."""
        return True

    def gives_up(self, _site_id: int) -> bool:
        """Return False."""
        return False
