"""How a site's requests are divided when there is more to do than its budget allows. Pure.

Six classes of work wait for a site's next request. Each has a share; the one that is furthest below
its share is served next, and what one does not use, the others get::

    revisit    hubs that are known and that no other hub covers
    covered    hubs that show nothing that others do not show: now and then, in case that ends
    explore    hubs that were never read
    verify     new pages that are announced when they have been read
    look       announced pages that were not read yet
    article    articles that may gain links to pages that no list shows

The share of articles is learned: by the square-root law the visits that a class deserves go with the
sum of the square roots of its rates, so hundreds of articles that never gained a link deserve few.
Gains come together: a section of a manual is written, a translation is begun. For two days after one
the share is large.

One budget may serve all sites (:func:`shares`). Each keeps what its user asked for as long as the whole
allows. When it does not, a part is dealt out evenly, so that no site is forgotten, and the rest by need.
Delay over all sites is least when visits go by the square root of the rate, so a site's need is the sum of
those roots over its hubs: :attr:`SiteState.weight_total`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum


class Share(StrEnum):
    """A class of work that shares a site's budget with the others."""

    REVISIT = "revisit"
    COVERED = "covered"
    EXPLORE = "explore"
    VERIFY = "verify"
    LOOK = "look"
    ARTICLE = "article"


SHARES = {
    Share.REVISIT: 0.7,
    Share.COVERED: 0.1,
    Share.EXPLORE: 0.1,
    Share.VERIFY: 0.5,
    Share.LOOK: 0.1,
}
YOUNG_SHARES = {
    Share.REVISIT: 0.5,
    Share.COVERED: 0.05,
    Share.EXPLORE: 0.25,
    Share.VERIFY: 0.2,
    Share.LOOK: 0.1,
}
"""The same in a site's first week, when most of its hubs are still to be found."""
YOUNG_SECONDS = 7 * 86_400.0
_FADE = 0.98
_LEAST = 0.02
_UNPROVEN = 0.06
"""Share of articles at most, as long as none of them has gained a link."""
_PROVEN = 0.12
AFTER_GAIN = 0.5
AFTER_GAIN_SECONDS = 2 * 86_400.0
_PRIOR_GAINS = 0.05
_PRIOR_ARTICLE_DAYS = 300.0
"""Before anything is seen an article is taken to gain a link every six thousand days."""
_DAY_HOURS = 24.0


def next_share(
    used: Mapping[Share, float], waiting: Collection[Share], *, young: bool, articles: float
) -> Share:
    """Return which of the classes in *waiting* is served next: the one furthest below its share.

    *used* are the requests of each class lately (:func:`counted`), *articles* the share of articles,
    above 0.
    """
    shares = {**(YOUNG_SHARES if young else SHARES), Share.ARTICLE: articles}
    return min(sorted(waiting), key=lambda share: used.get(share, 0.0) / shares[share])


def counted(used: Mapping[Share, float], share: Share) -> dict[Share, float]:
    """Return *used* with one more request of *share*; older ones fade, by half in 34 requests."""
    faded = {one: count * _FADE for one, count in used.items()}
    return {**faded, share: faded.get(share, 0.0) + 1.0}


def article_share(articles: int, gains: int, article_days: float, lists_weight: float) -> float:
    """Return the share of the budget that *articles* monitored articles deserve, from 0.02 to 0.12.

    *gains* links to new pages in *article_days* days of watching them, summed over articles;
    *lists_weight* is the sum over hubs of the square roots of their links an hour
    (:attr:`incremental.revisit.SiteState.weight_total`).
    """
    rate = (_PRIOR_GAINS + gains) / (_PRIOR_ARTICLE_DAYS + max(article_days, 0.0)) / _DAY_HOURS
    weight = articles * math.sqrt(rate)
    if weight <= 0:
        return _LEAST
    most = _PROVEN if gains else _UNPROVEN
    return min(max(weight / (weight + lists_weight), _LEAST), most)


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
