"""One budget for all sites: who gets how much of it. Pure.

Each site keeps what its user asked for as long as the whole allows. When it does not, a part is dealt
out evenly, so that no site is forgotten, and the rest by need. Delay over all sites is least when
visits go by the square root of the rate, so a site's need is the sum of those roots over its hubs:
:attr:`SiteState.weight_total`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_LEAST_NEED = 1e-3
"""A site of which nothing is known yet needs a little, so that need can show."""


@dataclass(frozen=True, slots=True)
class Want:
    """What one site would use."""

    requests_per_day: float
    """Asked for by the user: never more than this."""
    need: float
    """In proportion to which more is given; >= 0."""


def shares(whole: float, wants: Mapping[int, Want], floor: float) -> dict[int, float]:
    """Return the requests a day of each site; together at most *whole*.

    *floor*, from 0 to 1, is the part that is dealt out evenly. What one site does not want goes to the
    others. With more sites than requests a site gets less than one a day: it is asked every few days.
    """
    if sum(want.requests_per_day for want in wants.values()) <= whole:
        return {site: want.requests_per_day for site, want in wants.items()}
    given = _dealt(max(whole, 0.0) * floor, wants, dict.fromkeys(wants, 1.0), {})
    needs = {site: max(want.need, _LEAST_NEED) for site, want in wants.items()}
    return _dealt(max(whole, 0.0) * (1 - floor), wants, needs, given)


def _dealt(
    amount: float, wants: Mapping[int, Want], by: Mapping[int, float], given: Mapping[int, float]
) -> dict[int, float]:
    """Deal *amount* out in proportion to *by*, on top of what is given, to nobody more than it wants."""
    result = {site: given.get(site, 0.0) for site in wants}
    open_sites = {site for site in wants if result[site] < wants[site].requests_per_day}
    # Each turn fills at least one site up, or is the last.
    while open_sites and amount > 1e-9:  # noqa: PLR2004 - what rounding leaves over
        total = sum(by[site] for site in open_sites)
        room = min((wants[site].requests_per_day - result[site]) / by[site] for site in open_sites)
        rate = min(amount / total, room)
        for site in open_sites:
            result[site] += rate * by[site]
        amount -= rate * total
        open_sites = {
            site
            for site in open_sites
            if wants[site].requests_per_day - result[site] > 1e-9  # noqa: PLR2004
        }
    return result
