"""Learning arrivals from visits: a discounted Gamma-Poisson rate with hours and minutes.

A visit shows how many links arrived since the last one, not when. Count and exposure go into the hub's
rate, which is shrunk to the site's mean; the links are spread over the time since the last visit in
proportion to the hours learned so far, unless the hub prints publication times.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from incremental.schedule.profile import (
    BINS,
    FLAT,
    HOUR,
    WEEK,
    Shape,
    learned_hours,
    learned_minutes,
    spread,
)
from incremental.schedule.state import HubState, SiteState, Visit

DAY = 86400.0
# Counts fade, so that a hub may change its habits.
RATE_HALF_LIFE_DAYS = 14.0
# All is UTC, so summer time is a shift of the hours, which fades in.
HOURS_HALF_LIFE_DAYS = 28.0
MINUTES_HALF_LIFE_DAYS = 14.0
PRIOR_LINKS = 0.5
# Prior of an unknown hub, as if it had been watched for two hours.
PRIOR_HOURS = 2.0
# Most links that one visit counts, or twenty times the expected ones if that is more: a URL migration is
# one event.
LARGEST_BATCH = 100.0
# A whole page of new links may have hidden more.
CENSORED_FACTOR = 1.5
_LONGEST_SPREAD_HOURS = 24.0
# Most links of one visit that count for the hours: they came together, and over many hours say little.
# Without such limits the hours of a rarely visited hub feed on themselves.
_LARGEST_EVIDENCE = 12.0
# A clock that once jumps ahead by years must not erase what was learned.
_LONGEST_EXPOSURE_HOURS = 31 * 24.0
_RESHAPE_SECONDS = 6 * HOUR
_HUBS_SEEN = 64
# Not zero, which means that the hub is not counted.
_LEAST_WEIGHT = 1e-6
_DATED_BASELINE_DAYS = 14.0
# Visits over which their cost is averaged.
_COST_VISITS = 5


def count_visit(hub: HubState, visit: Visit, open_hours: float | None = None) -> HubState:
    """Return the hub's state after the visit, as every policy keeps it.

    *open_hours*: the time since the last visit, less what neighbours' visits took away; None = they took
    nothing.
    """
    # A failed visit saw nothing: it changes neither counts nor exposure.
    if visit.failed:
        return replace(
            hub,
            tried_at=visit.at,
            failures=hub.failures + 1,
            wait_until=visit.at + visit.wait_seconds if visit.wait_seconds else 0.0,
        )
    counts = _dated(hub, visit) if visit.baseline else _counted(hub, visit, open_hours)
    novel = 0 if visit.baseline else visit.novel
    return replace(
        hub,
        **counts,
        visited_at=visit.at,
        tried_at=visit.at,
        first_at=hub.first_at or visit.at,
        failures=0,
        visits=hub.visits + 1,
        wait_until=visit.at + visit.wait_seconds if visit.wait_seconds else 0.0,
        last_novel_at=visit.at if novel else hub.last_novel_at,
        censored=visit.all_new and not visit.baseline and novel > 0,
        shown=visit.shown or hub.shown,
        young=0 if visit.baseline else visit.novel + sum(visit.shared.values()),
        unmodified=seen_unmodified(hub.unmodified, hub.visits, visit),
        cost=visit.cost if visit.baseline else hub.cost + (visit.cost - hub.cost) / _COST_VISITS,
        hinted_at=0.0,
        hints=hub.hints + (hub.hinted_at > 0),
        hints_confirmed=hub.hints_confirmed + (hub.hinted_at > 0 and novel > 0),
        owed_at=0.0,
    )


def seen_unmodified(share: float, visits: int, visit: Visit) -> float:
    """Return the share of visits that found nothing changed, after one more; about the last twenty count."""
    return share + (visit.not_modified - share) / min(visits + 1, 20)


def _counted(hub: HubState, visit: Visit, open_hours: float | None) -> dict[str, Any]:
    """Return the discounted counts with one visit's links and time added."""
    # A visit dated before the last one (the clock went back) has no exposure.
    hours = max(visit.at - hub.visited_at, 0.0) / HOUR if hub.visited_at else 0.0
    hours = min(hours, _LONGEST_EXPOSURE_HOURS)
    fade = 0.5 ** (hours / 24 / RATE_HALF_LIFE_DAYS)
    most = max(LARGEST_BATCH, 20 * rate_of(hub, SiteState()) * hours)
    judged = visit.novel if visit.relevant is not None else 0
    return {
        "novel": hub.novel * fade + min(visit.novel, most),
        "exposure_hours": hub.exposure_hours * fade + hours,
        "open_hours": hub.open_hours * fade
        + (hours if open_hours is None else min(open_hours, hours)),
        "vanished": hub.vanished * fade + min(visit.vanished, hub.young),
        # A vanished link counts half the time, as it went at some moment in between.
        "young_hours": hub.young_hours * fade
        + hours * (hub.young - min(visit.vanished, hub.young) / 2),
        "judged": hub.judged * fade + judged,
        "relevant": hub.relevant * fade + (visit.relevant or 0),
    }


def _dated(hub: HubState, visit: Visit) -> dict[str, Any]:
    """Return the counts of a first rate, from printed publication times of the last two weeks."""
    times = sorted(at for at in visit.published if at <= visit.at)
    recent = [at for at in times if at > visit.at - _DATED_BASELINE_DAYS * DAY]
    if len(times) < 2:  # noqa: PLR2004 - one date says nothing of a rate
        return {}
    # A list of the latest links covers only the time back to the oldest of them.
    covered = min(visit.at - times[0], _DATED_BASELINE_DAYS * DAY) / HOUR
    # Half weight: dates are printed by templates and changed by hand.
    links = min(float(len(recent)), LARGEST_BATCH) / 2
    return {
        "novel": hub.novel + links,
        "exposure_hours": hub.exposure_hours + max(covered, 1.0) / 2,
        "open_hours": hub.open_hours + max(covered, 1.0) / 2,
    }


def prior_of(site: SiteState) -> tuple[float, float]:
    """Return the Gamma prior of a hub of this site: links and hours.

    By moments over the site's hubs if there are three; otherwise a guess.
    """
    if site.hubs < 3 or site.rate_total <= 0:  # noqa: PLR2004 - a variance needs three
        return PRIOR_LINKS, PRIOR_HOURS
    mean = site.rate_total / site.hubs
    variance = max(site.rate_square_total / site.hubs - mean * mean, mean * mean)
    links = min(max(mean * mean / variance, 0.05), 1.0)
    return links, links / mean


def rate_of(hub: HubState, site: SiteState) -> float:
    """Return the mean links per hour that arrive unknown, unless a neighbour shows them first.

    Less what neighbours take away, this predicts novel links.
    """
    links, hours = prior_of(site)
    factor = CENSORED_FACTOR if hub.censored else 1.0
    return factor * (links + hub.novel) / (hours + hub.open_hours)


def novel_rate_of(hub: HubState, site: SiteState) -> float:
    """Return the mean links per hour that this hub is the first to show."""
    links, hours = prior_of(site)
    return (links + hub.novel) / (hours + hub.exposure_hours)


def weight_of(hub: HubState, worth: float) -> float:
    """Return the hub's part of the site's weight: the root of its rate of novel links times *worth*."""
    # Without prior links, or hundreds of hubs that bring nothing would seem to need the whole budget.
    rate = hub.novel / (PRIOR_HOURS + hub.exposure_hours)
    return max(math.sqrt(rate * worth), _LEAST_WEIGHT)


def site_shape(site: SiteState) -> Shape:
    """Return the site's own shape; flat while nothing is known."""
    if not site.shape:
        return FLAT
    return Shape(site.shape, site.pulse or FLAT.minutes)


def hub_shape(hub: HubState, site: SiteState) -> Shape:
    """Return the hub's own shape, shrunk to its site's."""
    prior = site_shape(site)
    if not hub.hours:
        return prior
    return Shape(learned_hours(hub.hours, prior.hours), learned_minutes(hub.minutes, prior.minutes))


def learn_hours(
    hub: HubState, site: SiteState, visit: Visit, shape: Shape
) -> tuple[HubState, SiteState]:
    """Return both states with the visit's links spread over hours of the week and minutes.

    *hub* and *shape* are from before the visit.
    """
    links = float(visit.novel + sum(visit.shared.values()))
    start, end = hub.visited_at / HOUR, visit.at / HOUR
    if visit.failed or visit.baseline or not hub.visited_at or links <= 0:
        return hub, site
    if not 0 < end - start <= _LONGEST_SPREAD_HOURS:
        return hub, site
    hours, minutes = _placed(visit, hub.visited_at, shape, min(links, _LARGEST_EVIDENCE))
    fresh = _faded(hub.hours, hub.minutes, hub.counted_at, visit.at)
    week, hour = _added(fresh, hours, minutes)
    hub = replace(hub, counted_at=visit.at, hours=week, minutes=hour)
    pooled_counts = _faded(site.hours, site.minutes, site.counted_at, visit.at)
    share = visit.novel / links
    novel = {at: part * share for at, part in hours.items()}
    week, hour = _added(pooled_counts, novel, [part * share for part in minutes])
    return hub, replace(site, counted_at=visit.at, hours=week, minutes=hour)


def _placed(
    visit: Visit, since: float, shape: Shape, links: float
) -> tuple[dict[int, float], list[float]]:
    """Place links in time: by plausible dates, otherwise by the shape."""
    dated = [at / HOUR for at in visit.published if since < at <= visit.at]
    if len(dated) < links / 2:
        return spread(shape, since / HOUR, visit.at / HOUR, links)
    hours: dict[int, float] = {}
    minutes = [0.0] * BINS
    for hour in dated:
        week_hour = int(hour) % WEEK
        hours[week_hour] = hours.get(week_hour, 0.0) + links / len(dated)
        minutes[int(hour % 1 * BINS)] += links / len(dated)
    return hours, minutes


def _faded(
    hours: Sequence[float], minutes: Sequence[float], counted_at: float, now: float
) -> tuple[list[float], list[float]]:
    days = max(now - counted_at, 0.0) / DAY if counted_at else 0.0
    by_week = 0.5 ** (days / HOURS_HALF_LIFE_DAYS)
    by_hour = 0.5 ** (days / MINUTES_HALF_LIFE_DAYS)
    return (
        [value * by_week for value in hours or (0.0,) * WEEK],
        [value * by_hour for value in minutes or (0.0,) * BINS],
    )


def _added(
    counts: tuple[list[float], list[float]], hours: dict[int, float], minutes: Sequence[float]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    week, hour = counts
    for at, links in hours.items():
        week[at] += links
    return tuple(week), tuple(old + new for old, new in zip(hour, minutes, strict=True))


def reshaped(site: SiteState, now: float) -> SiteState:
    """Return the site with its shape recomputed every six hours."""
    if not site.hours or abs(now - site.shaped_at) < _RESHAPE_SECONDS:
        return site
    return replace(
        site,
        shape=learned_hours(site.hours, FLAT.hours),
        pulse=learned_minutes(site.minutes, FLAT.minutes),
        shaped_at=now,
    )


def pooled(site: SiteState, before: HubState, after: HubState) -> SiteState:
    """Return the site's sums over hubs with one hub's part replaced."""
    old, new = before.weight, after.weight
    return replace(
        site,
        hubs=max(site.hubs + (new > 0) - (old > 0), 0),
        weight_total=max(site.weight_total + new - old, 0.0),
        # A weight is the square root of a rate of novel links, so its square is that rate.
        rate_total=max(site.rate_total + new**2 - old**2, 0.0),
        rate_square_total=max(site.rate_square_total + new**4 - old**4, 0.0),
    )


def seen(site: SiteState, hub: HubState, at: float) -> SiteState:
    """Return the site with the hub's visit noted for its neighbours; the 64 latest are kept."""
    if not hub.key:
        return site
    times = {key: time for key, time in site.seen_at.items() if key != hub.key}
    while len(times) >= _HUBS_SEEN:
        del times[min(times, key=lambda key: times[key])]
    return replace(site, seen_at={**times, hub.key: at})
