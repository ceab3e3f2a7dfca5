"""Why a page was found late: a pure function of what its hubs went through.

::

    seen in time, announced late                                   held_back
    the list that first showed it was first read after its date    unwatched
    that list was read meanwhile, and did not show it yet          shown_later
    it was visited meanwhile, and could not be read                unreadable
    it was not visited meanwhile                                   not_visited

The first that holds is the cause.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from incremental.fetch.status import HAS_PAGE


class Late(StrEnum):
    """Why a page was found late."""

    HELD_BACK = "held_back"
    UNWATCHED = "unwatched"
    SHOWN_LATER = "shown_later"
    UNREADABLE = "unreadable"
    NOT_VISITED = "not_visited"


def cause_of(
    published_at: float,
    seen_at: float,
    found_at: float,
    baseline_at: float | None,
    visits: Collection[str],
) -> Late:
    """Return why a page was found late.

    *seen_at*: when a list first showed it; *baseline_at*: when that list was first read, None = never;
    *visits*: how the visits of that list ended, from the page's date until it was seen. Times are
    unix seconds.
    """
    if found_at - seen_at > seen_at - published_at:
        return Late.HELD_BACK
    if baseline_at is None or baseline_at > published_at:
        return Late.UNWATCHED
    if HAS_PAGE & set(visits):
        return Late.SHOWN_LATER
    return Late.UNREADABLE if visits else Late.NOT_VISITED
