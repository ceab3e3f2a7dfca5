"""When links arrive within the week and the hour: shapes, their integrals and inverses.

A :class:`Shape` is a rate with mean 1: an hour of the week (168 values) times five minutes of the
hour (12 values). It is piecewise constant, so its first and second integrals are piecewise linear
and quadratic: a table look-up each, and exactly invertible. Hours count from the unix epoch, UTC; the
site's time zone is in the data.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import accumulate
from math import inf

# Sites work by the week and publish by the clock: a build every half hour, a list made at full hours.
WEEK = 168
DAY = 24
BINS = 12
_HORIZON_BINS = 4 * WEEK * BINS
HOUR = 3600.0
_HOURS_OF_DAY = tuple(hour % DAY for hour in range(WEEK))
_DAYS_OF_WEEK = tuple(hour // DAY for hour in range(WEEK))
_DAY_PRIOR_LINKS = 48.0
# Pseudo-links behind the prior: two for each hour of the day, two for each hour of the week.
_CELL_PRIOR_LINKS = 336.0


class Shape:
    """A rate over the week with mean 1, and its integrals. Immutable.

    *hours* has 168 values with mean 1, *minutes* 12 with mean 1.
    """

    def __init__(self, hours: tuple[float, ...], minutes: tuple[float, ...]) -> None:
        self.hours, self.minutes = hours, minutes
        step = 1 / BINS
        self._bin_links = [0.0, *accumulate(value * step for value in minutes)]
        self._bin_delay = [0.0]
        for before, value in zip(self._bin_links, minutes, strict=False):
            delay = self._bin_delay[-1] + before * step + value * step * step / 2
            self._bin_delay.append(delay)
        self._links = [0.0, *accumulate(hours)]
        self._delay = [0.0]
        for before, value in zip(self._links, hours, strict=False):
            self._delay.append(self._delay[-1] + before + value * self._bin_delay[-1])

    def at(self, hour: float) -> float:
        """Return the rate at *hour* since the epoch."""
        whole = int(hour)
        return self.hours[whole % WEEK] * self.minutes[min(int((hour - whole) * BINS), BINS - 1)]

    def integrals(self, start: float, end: float) -> tuple[float, float]:
        """Return the links that arrive in (start, end] at mean rate 1, and their delay at *end*.

        Both times in hours since the epoch, the delay in link-hours.
        """
        if end <= start:
            return 0.0, 0.0
        week = start // WEEK * WEEK
        links_then, delay_then = self._from_week(start - week)
        links_now, delay_now = self._from_week(end - week)
        links = links_now - links_then
        return links, max(delay_now - delay_then - links_then * (end - start), 0.0)

    def _from_week(self, hour: float) -> tuple[float, float]:
        """Integrate once and twice from the start of a week to *hour* after it."""
        weeks, rest = divmod(hour, WEEK)
        whole = int(rest)
        part = rest - whole
        index = min(int(part * BINS), BINS - 1)
        over = part - index / BINS
        bin_links, value = self._bin_links[index], self.minutes[index]
        links = self._links[whole] + self.hours[whole] * (bin_links + value * over)
        within = self._bin_delay[index] + bin_links * over + value * over * over / 2
        delay = self._delay[whole] + self._links[whole] * part + self.hours[whole] * within
        if weeks:
            total = self._links[WEEK]
            delay += weeks * (self._delay[WEEK] + total * rest + total * WEEK * (weeks - 1) / 2)
            links += weeks * total
        return links, delay

    def hour_of_delay(self, start: float, goal: float, links: float, rate: float) -> float:
        """Return when accrued delay reaches *goal* link-hours; infinite if not within four weeks.

        At *start* *links* are waiting, and more arrive at *rate* times the shape. Exact: the bin is found
        by bisection, the moment within it by solving a quadratic equation.
        """
        if goal <= 0:
            return start
        week = start // WEEK * WEEK
        links_then, delay_then = self._from_week(start - week)

        def accrued(hour: float) -> float:
            delay = self._from_week(hour - week)[1] - delay_then
            return links * (hour - start) + rate * (delay - links_then * (hour - start))

        left = _last_below(accrued, start, goal)
        if left is None:
            return inf
        # Within one bin the rate is constant: accrued(left + x) = base + slope x + bend x^2 / 2.
        slope = links + rate * self.integrals(start, left)[0]
        bend = rate * self.at(left + 1e-9)
        return left + _root(bend / 2, slope, accrued(left) - goal)

    def hour_of_links(self, start: float, goal: float, rate: float) -> float:
        """Return when *goal* links have arrived since *start*; infinite if not within four weeks."""
        if goal <= 0:
            return start

        def arrived(hour: float) -> float:
            return rate * self.integrals(start, hour)[0]

        left = _last_below(arrived, start, goal)
        if left is None:
            return inf
        return left + (goal - arrived(left)) / max(rate * self.at(left + 1e-9), 1e-12)


def _last_below(rising: Callable[[float], float], start: float, goal: float) -> float | None:
    """Return the last edge of a bin (or *start*) with *rising* below *goal*; None = not in four weeks."""
    first = int(start * BINS + 1e-6) + 1
    low, high = 0, 1
    # Doubling first: the answer is usually hours away, the horizon weeks.
    while rising((first + high) / BINS) < goal:
        low, high = high, 2 * high
        if low > _HORIZON_BINS:
            return None
    edges = range(first, first + high)
    above = bisect_left(edges, goal, low, high, key=lambda edge: rising(edge / BINS))
    return start if above == 0 else edges[above - 1] / BINS


def _root(square: float, linear: float, constant: float) -> float:
    """Return the root >= 0 of a rising parabola that is below zero at 0."""
    if constant >= 0:
        return 0.0
    # The form that stays exact when *square* is zero.
    discriminant = linear * linear - 4 * square * constant
    return float(-2 * constant / max(linear + discriminant**0.5, 1e-12))


FLAT = Shape((1.0,) * WEEK, (1.0,) * BINS)


def learned_hours(counts: Sequence[float], prior: Sequence[float]) -> tuple[float, ...]:
    """Return the hours of the week as a rate with mean 1, from *counts*, shrunk to *prior*."""
    total = sum(counts)
    if total <= 0:
        return tuple(prior)
    smooth = _smoothed(counts)
    shape = list(prior)
    # Hours of the day and days of the week first, which needs few links; then single hours of the week,
    # as far as there are links for them.
    for groups in (_HOURS_OF_DAY, _DAYS_OF_WEEK):
        shape = _corrected(shape, smooth, total, groups)
    mixed = [
        (count + _CELL_PRIOR_LINKS * value / WEEK) / (total + _CELL_PRIOR_LINKS) * WEEK
        for count, value in zip(smooth, shape, strict=True)
    ]
    return _mean_one(mixed)


def _corrected(
    shape: Sequence[float],
    counts: Sequence[float],
    total: float,
    groups: Sequence[int],
) -> list[float]:
    """Scale each group of hours by its links over those that *shape* expects, with pseudo-links."""
    brought = [0.0] * 24
    expected = [0.0] * 24
    for group, count, share in zip(groups, counts, shape, strict=True):
        brought[group] += count
        expected[group] += share / WEEK
    factors = [
        (seen + _DAY_PRIOR_LINKS * share) / ((total + _DAY_PRIOR_LINKS) * share) if share else 1.0
        for seen, share in zip(brought, expected, strict=True)
    ]
    return [value * factors[group] for group, value in zip(groups, shape, strict=True)]


def learned_minutes(counts: Sequence[float], prior: Sequence[float]) -> tuple[float, ...]:
    """Return the minutes of the hour as a rate with mean 1, from *counts*, shrunk to *prior*."""
    total = sum(counts)
    if total <= 0:
        return tuple(prior)
    return _mean_one(
        [
            count + _DAY_PRIOR_LINKS * value / BINS
            for count, value in zip(counts, prior, strict=True)
        ]
    )


def spread(
    shape: Shape, start: float, end: float, links: float
) -> tuple[dict[int, float], list[float]]:
    """Spread *links* that arrived in (start, end], hours since the epoch, over hours and minutes."""
    hours: dict[int, float] = {}
    minutes = [0.0] * BINS
    # In proportion to the shape, so repeated use is an expectation-maximisation: intervals of different
    # lengths and starts together show what no single one does.
    total = shape.integrals(start, end)[0]
    if total <= 0:
        return hours, minutes
    for hour in range(int(start), int(end) + 1):
        left, right = max(start, float(hour)), min(end, hour + 1.0)
        mass = links * shape.integrals(left, right)[0] / total
        hours[hour % WEEK] = hours.get(hour % WEEK, 0.0) + mass
        _add_minutes(minutes, shape, left - hour, right - hour, mass)
    return hours, minutes


def _add_minutes(
    minutes: list[float], shape: Shape, left: float, right: float, mass: float
) -> None:
    """Add *mass* to the bins of the part (left, right] of an hour."""
    parts = [
        value * max(min(right, (index + 1) / BINS) - max(left, index / BINS), 0.0)
        for index, value in enumerate(shape.minutes)
    ]
    whole = sum(parts)
    if whole > 0:
        for index, part in enumerate(parts):
            minutes[index] += mass * part / whole


def _smoothed(counts: Sequence[float]) -> list[float]:
    """Smooth around the circle of the week with the weights 1 2 1."""
    n = len(counts)
    return [(counts[i - 1] + 2 * counts[i] + counts[(i + 1) % n]) / 4 for i in range(n)]


def _mean_one(values: Sequence[float]) -> tuple[float, ...]:
    scale = len(values) / sum(values)
    return tuple(value * scale for value in values)


def by_hour_of_day(week: Sequence[float], ahead: int) -> list[float]:
    """Return the mean of UTC hours of the week by hour of the day, *ahead* hours of UTC."""
    days = WEEK // DAY
    return [
        sum(week[(hour - ahead + day * DAY) % WEEK] for day in range(days)) / days
        for hour in range(DAY)
    ]
