"""When a site's visits are planned again without a visit: its price has fallen, or it was long ago.

The price depends on the site's visits and on the time alone, so a site that rests need not be asked again
and again whether it has fallen: :func:`next_at` says when.
"""

from collections.abc import Callable
from typing import Final

from incremental.base.times import HOUR

# The price must have fallen this far before hubs are due noticeably sooner.
CHEAPER: Final = 0.9
LEAST_SECONDS: Final = HOUR / 2
MOST_SECONDS: Final = 6 * HOUR
_STEP: Final = HOUR


def is_due(
    planned_at: float, planned_price: float, price: Callable[[float], float], now: float
) -> bool:
    """Whether what was planned at *planned_at* (unix seconds) is planned again at *now*.

    *price*: the price at a time (:func:`incremental.schedule.budget.price_minutes`).
    """
    if now < planned_at:
        return True  # the clock went back: every due time is too far off
    if now - planned_at < LEAST_SECONDS:
        return False
    return now - planned_at >= MOST_SECONDS or price(now) < CHEAPER * planned_price


def next_at(
    planned_at: float, planned_price: float, price: Callable[[float], float], now: float
) -> float:
    """Return when that is so, looked up by the hour, if no visit is made meanwhile; after *now*."""
    at = now + _STEP
    while not is_due(planned_at, planned_price, price, at):
        at += _STEP
    return at
