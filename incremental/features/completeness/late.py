"""Why a page was missed, or found late: a pure function of what its hubs went through.

::

    never announced                                                withheld
    seen in time, announced late, and no topic took it             off_topic
    seen in time, announced late                                   held_back
    a list was all new at a visit meanwhile, so some of it passed  scrolled_off
    the list that first showed it was first read after its date    unwatched
    that list was read meanwhile, and did not show it yet          shown_later
    robots.txt denied it at every visit meanwhile                  robots
    the site refused every visit meanwhile                         blocked
    it was visited meanwhile, and could not be read                unreadable
    it was not visited meanwhile                                   not_visited

The first that holds is the cause. All but ``shown_later`` are misses: there it was the site that was late.
"""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from incremental.fetch.status import HAS_PAGE, FetchStatus


class Late(StrEnum):
    """Why a page was missed, or found late."""

    WITHHELD = "withheld"
    OFF_TOPIC = "off_topic"
    HELD_BACK = "held_back"
    SCROLLED_OFF = "scrolled_off"
    UNWATCHED = "unwatched"
    SHOWN_LATER = "shown_later"
    ROBOTS = "robots"
    BLOCKED = "blocked"
    UNREADABLE = "unreadable"
    NOT_VISITED = "not_visited"

    @property
    def is_miss(self) -> bool:
        """Whether the page was there to be found in time."""
        return self is not Late.SHOWN_LATER


_FAILED = {
    frozenset({FetchStatus.ROBOTS_DENIED}): Late.ROBOTS,
    frozenset({FetchStatus.BLOCKED}): Late.BLOCKED,
}


@dataclass(frozen=True, slots=True)
class History:
    """What led to a page. Times are unix seconds."""

    published_at: float
    seen_at: float
    """When a list first showed it."""
    found_at: float
    baseline_at: float | None
    """When that list was first read; None = never."""
    visits: Collection[str]
    """How the visits of that list ended, from the page's date until it was seen."""
    overflowed: bool = False
    """A list of the site was all new at a visit in that time."""
    refused: bool = False
    """Topics judged it, and none took it."""


def cause_of(page: History) -> Late:
    """Return why a page was found late."""
    if page.found_at - page.seen_at > page.seen_at - page.published_at:
        return Late.OFF_TOPIC if page.refused else Late.HELD_BACK
    if page.overflowed:
        return Late.SCROLLED_OFF
    if page.baseline_at is None or page.baseline_at > page.published_at:
        return Late.UNWATCHED
    if HAS_PAGE & set(page.visits):
        return Late.SHOWN_LATER
    failed = Late.UNREADABLE if page.visits else Late.NOT_VISITED
    return _FAILED.get(frozenset(map(FetchStatus, page.visits)), failed)
