"""Which older pages a list gained. Pure decisions on values.

An old date is no proof of an old page: weblogs take in their past, offices post last year's notice. What
a list that we had read gains is an *arrival*, whatever its date; what a rotating widget (related, popular,
random) shows is none. The evidence is at hand: the links at the same place in the markup, which of them
stood there at the last visit, which have gone since, and how they are ordered by date::

    hub not read before, monitored article, first read after a URL migration    nothing arrived
    headline of a page that went at the same time               it moved
    fewer than three links at the place stayed (feeds: one)     another list, or a widget
    below all that stayed, on a list that is cut off            it moved up when another went
    a feed, a list in the order of dates                        arrived
    twice as many came as went, or more                         arrived
    above all that stayed, half of the place stayed             arrived: latest additions
    else                                                        a widget swaps, addresses changed

A list is cut off when it ever lost pages as it gained others, or goes on at another address. What an
article shows is never asked: articles are no hubs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from incremental.decide.hub_view import HubView, Since
from incremental.decide.links import is_later_page
from incremental.decide.migration import MIN_HEADLINE_CHARS
from incremental.decide.rules import Rule, Standing
from incremental.decide.url_dates import date_in_url
from incremental.scope import page_number
from incremental.times import DAY
from store.enums import HubKind, HubRole
from store.values import HubRow, SeenLink, Sight

# Links of a place that must have stayed: fewer are no list that we know.
MIN_KEPT = 3
# Links with dates from which their order says something.
MIN_DATED = 4
# Neighbours in the order of dates from which a list is one by date.
ORDERED_SHARE = 0.9
# A list that lost no more than this of what it gained keeps everything.
COMPLETE_SHARE = 0.1
# Roles of hubs that list pages; an article that is monitored is none.
LISTS = frozenset(HubRole) - {HubRole.ARTICLE, HubRole.HOME}

_DIGITS = re.compile(r"\d+")


def dated(target: SeenLink, hub: HubRow) -> float | None:
    """Return the date of a page as its link tells it: a feed's, or that in the address."""
    stated = target.published_at if hub.kind == HubKind.FEED else None
    return stated or date_in_url(target.url)


def is_old(target: SeenLink, hub: HubRow, since: Since) -> bool:
    """Return whether a link names a date long before its site was added."""
    date = dated(target, hub)
    return date is not None and date < since.oldest_news


def is_old_hub(target: SeenLink, rule: Rule, hub: HubRow, since: Since) -> bool:
    """Return whether a link looks like a hub, and is dated as an old article is."""
    return rule is Rule.HUB and is_old(target, hub, since) and not is_later_page(target)


def gained_old(view: HubView, rules: Mapping[str, Rule]) -> frozenset[str]:
    """Return the old pages that the hub gained, those that look like hubs and those behind among them."""
    hub, since = view.hub, view.since
    old = {one for one, rule in rules.items() if rule is Rule.BACKDATED}
    old |= {
        t.canonical_key for t in view.found if is_old_hub(t, rules[t.canonical_key], hub, since)
    }
    found = {one for one, rule in rules.items() if rule is Rule.BACKFILL}
    return arrivals(view, old - _newborn(view)) | found


def gained_behind(view: HubView, rules: Mapping[str, Rule]) -> frozenset[str]:
    """Return what stands as new and is an old page that the hub gained, by what it showed already."""
    fresh = {one for one, rule in rules.items() if rule.standing is Standing.NEW} - _newborn(view)
    return arrivals(view, behind(view, fresh))


def _newborn(view: HubView) -> frozenset[str]:
    """Return the links into sections that came up as a whole: their pages are news."""
    return frozenset(t.canonical_key for t in view.found if view.came_up(t))


def behind(view: HubView, fresh: Collection[str]) -> frozenset[str]:
    """Return those of *fresh* (canonical keys) that are dated long before what the hub showed already.

    A site may take in what it published since we began to watch. What stands above all that was there is
    news all the same.
    """
    newest = _newest_shown(view)
    if newest is None or not fresh:
        return frozenset()
    limit = newest - view.since.backdated_days * DAY
    below: set[str] = set()
    kept_at: set[str] = set()
    for target in view.found:
        place = _place(target.tag_path)
        if _is_kept(target, view):
            kept_at.add(place)
        elif target.canonical_key in fresh and (
            place in kept_at or view.hub.kind == HubKind.SITEMAP
        ):
            date = dated(target, view.hub)
            if date is not None and date <= limit:
                below.add(target.canonical_key)
    return frozenset(below)


def _newest_shown(view: HubView) -> float | None:
    dates = [dated(t, view.hub) for t in view.found if _is_kept(t, view)]
    # The addresses of events name days to come.
    past = [date for date in dates if date is not None and date <= view.since.now + DAY]
    return max(past, default=None)


def arrivals(view: HubView, old: Collection[str]) -> frozenset[str]:
    """Return those of *old* (canonical keys of links that were not there before) that the hub gained."""
    if not old or not _was_read(view):
        return frozenset()
    gone = _gone(view)
    moved = {sight.anchor for sight in gone if len(sight.anchor) >= MIN_HEADLINE_CHARS}
    places: dict[str, list[SeenLink]] = {}
    for target in view.found:
        places.setdefault(_place(target.tag_path), []).append(target)
    came: set[str] = set()
    for name, links in places.items():
        asked = {t.canonical_key for t in links if t.canonical_key in old and t.anchor not in moved}
        if asked:
            came |= _gained(_Place.of(name, links, view, gone), asked, view)
    return frozenset(came)


def _was_read(view: HubView) -> bool:
    """Return whether the hub is a list whose earlier state is known and stands for what it was."""
    hub, migrated_at = view.hub, view.since.migrated_at
    if hub.role not in LISTS or hub.baseline_at is None or hub.visited_at is None:
        return False
    return migrated_at is None or hub.visited_at > migrated_at


def _gone(view: HubView) -> list[Sight]:
    """Return what the hub showed at its last visit and no longer shows."""
    here = {page.id for page in view.known.values()}
    return [one for one in view.sights if one.gone_at is None and one.page_id not in here]


@dataclass(frozen=True, slots=True)
class _Place:
    """The links at one place of the markup."""

    links: Sequence[SeenLink]
    kept: Sequence[bool]
    """For each link whether it stood on the hub at the last visit."""
    lost: int
    """How many went since."""
    cut_off: bool
    """It shows a part of a longer list."""

    @classmethod
    def of(
        cls, name: str, links: Sequence[SeenLink], view: HubView, gone: Sequence[Sight]
    ) -> _Place:
        """Sum up what is known of a place."""
        lost = sum(_place(one.tag_path) == name for one in gone)
        kept = [_is_kept(target, view) for target in links]
        return cls(links, kept, lost, _is_cut_off(name, lost, view))

    def tail(self) -> int:
        """Return from which index on nothing was there before."""
        return max((n + 1 for n, kept in enumerate(self.kept) if kept), default=0)

    def head(self) -> int:
        """Return up to which index nothing was there before."""
        return next((n for n, kept in enumerate(self.kept) if kept), len(self.kept))


def _is_cut_off(name: str, lost: int, view: HubView) -> bool:
    hub = view.hub
    here = [one for one in view.sights if _place(one.tag_path) == name]
    gained = sum(one.first_seen_at > (hub.baseline_at or 0.0) for one in here)
    went = lost + sum(one.gone_at is not None for one in here)
    if gained:
        return went > COMPLETE_SHARE * gained
    return bool(went or hub.next_url or page_number(hub.url) is not None)


def _gained(place: _Place, asked: Collection[str], view: HubView) -> set[str]:
    """Return those of *asked* that the place gained."""
    hub, kept = view.hub, sum(place.kept)
    came = len(place.links) - kept
    grows = place.lost * 2 <= came
    if hub.kind == HubKind.SITEMAP:
        return set(asked) if kept and grows else set()
    if kept < (1 if hub.kind == HubKind.FEED else MIN_KEPT):
        return set()
    last = place.tail() if place.cut_off else len(place.links)
    above = {t.canonical_key for t in place.links[:last]} & set(asked)
    if hub.kind == HubKind.FEED or _is_by_date(place.links, hub):
        return above
    if grows:
        return above
    head = {t.canonical_key for t in place.links[: place.head()]}
    return above & head if place.lost <= kept else set()


def _is_by_date(links: Sequence[SeenLink], hub: HubRow) -> bool:
    """Return whether links stand in the order of their dates, the newest or the oldest first."""
    dates = [date for date in (dated(t, hub) for t in links) if date is not None]
    if len(dates) < MIN_DATED or dates[0] == dates[-1]:
        return False
    pairs = list(pairwise(dates))
    falling = sum(a >= b for a, b in pairs)
    rising = sum(a <= b for a, b in pairs)
    return max(falling, rising) >= ORDERED_SHARE * len(pairs)


def _is_kept(target: SeenLink, view: HubView) -> bool:
    page = view.known.get(target.canonical_key)
    return page is not None and page.id in view.visible


def _place(tag_path: str) -> str:
    return _DIGITS.sub("0", tag_path)
