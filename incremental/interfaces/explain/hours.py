"""Expected new links of a hub by hour of the day, in the site's local time."""

from __future__ import annotations

from typing import Any

from incremental.base.errors import NotFoundError
from incremental.base.urls import canonical_key, normalize
from incremental.crawl.sites import watch
from incremental.schedule.profile import utc_offset_hours
from incremental.schedule.rates import hub_shape, rate_of
from incremental.settings import Settings
from incremental.settings.policies import policy_maker
from store import Store

_DAY, _WEEK = 24, 168


def hours_of(store: Store, settings: Settings, url: str) -> dict[str, Any]:
    """Return a hub's expected new links by hour of the day, for JSON.

    ``by_hour`` has 24 values (links in that hour of an average day) at ``utc_offset``: whole hours,
    estimated from the site's activity; None (UTC) if it shows no daily pattern.

    Raises:
        NotFoundError: no watched site has a hub at *url*.
    """
    address = normalize(url)
    wanted = canonical_key(address) if address else ""
    for row in store.read.sites():
        for hub in store.read.hubs(row.id):
            if hub.canonical_key == wanted:
                site = watch(row, settings, policy_maker(settings))
                state = site.hub_state(hub)
                shape, rate = hub_shape(state, site.state), rate_of(state, site.state)
                offset = utc_offset_hours(shape.hours, sum(state.hours))
                ahead = None if offset is None else round(offset)
                by_hour = _by_day([rate * value for value in shape.hours], ahead or 0)
                return {
                    "url": hub.url,
                    "utc_offset": ahead,
                    "learned_from_links": round(sum(state.hours), 1),
                    "by_hour": [round(value, 4) for value in by_hour],
                }
    raise NotFoundError(f"{url} is no hub of a watched site; `hubwatch hubs` lists them")


def _by_day(week: list[float], ahead: int) -> list[float]:
    """Fold UTC hours of the week into hours of the day, *ahead* hours of UTC."""
    days = _WEEK // _DAY
    return [
        sum(week[(hour - ahead + day * _DAY) % _WEEK] for day in range(days)) / days
        for hour in range(_DAY)
    ]
