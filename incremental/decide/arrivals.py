"""Which older pages a list gained, and whether pages may have scrolled off it unseen. Pure.

An old date does not prove an old page: weblogs import their past, offices post last year's notice. What
a known list gains is an *arrival*, whatever its date; what a rotating widget (related, popular, random)
shows is not. The evidence is the links at one place in the markup: which were there at the last visit,
which have gone since, and how they are ordered by date::

    hub not read before, monitored article, first read after a URL migration    nothing arrived
    headline of a page that disappeared at the same time        moved
    fewer than three links at the place stayed (feeds: one)     another list, or a widget
    below all that stayed, on a list that is cut off            moved up when another went
    a feed, a list in order of dates                            arrived
    at least twice as many came as went                         arrived
    above all that stayed, half of the place stayed             arrived: latest additions
    else                                                        a widget swaps, addresses changed

A list is cut off if it ever lost pages while it gained others, or continues at another address.

A list overflowed if all or most of it is new since its last visit. Pages that another hub has shown since
count as new, too::

    normally                  four pages must be unknown: lists visited in turn are replaced together
    after a pause, or an      none need be: the list visited first has already shown them, and what
    overflow of another list  scrolled off is on neither
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from incremental.base.scope import page_number
from incremental.base.times import DAY
from incremental.decide.hub_facts import HubView, Since
from incremental.decide.links import is_later_page, list_of, stated_date
from incremental.decide.url_dates import UrlDates
from store.enums import HubKind, HubRole
from store.rules import Fate, Rule
from store.values import HubRow, SeenLink, Sight

# An anchor this long is likely one page's headline and not "more".
MIN_HEADLINE_CHARS = 8
# Links of a place that must have stayed; with fewer it may be another list.
MIN_KEPT = 3
# Dated links needed before their order means anything.
MIN_DATED = 4
# Share of neighbours in order of dates that makes a list one by date.
ORDERED_SHARE = 0.9
# A list that lost at most this share of what it gained keeps everything.
COMPLETE_SHARE = 0.1
# A monitored article is no list.
LISTS = frozenset(HubRole) - {HubRole.ARTICLE, HubRole.HOME}


def dated(target: SeenLink, hub: HubRow, url_dates: UrlDates) -> float | None:
    """Return a page's date by its link: that of a feed or a JSON list, else the one in the URL."""
    return stated_date(target, hub) or url_dates.of(target.url)


def is_old(target: SeenLink, hub: HubRow, since: Since) -> bool:
    """Whether a link is dated long before its site was added."""
    date = dated(target, hub, since.url_dates)
    return date is not None and date < since.oldest_news


def is_old_hub(target: SeenLink, rule: Rule, hub: HubRow, since: Since) -> bool:
    """Whether a link looks like a hub but is dated like an old article."""
    return rule is Rule.HUB and is_old(target, hub, since) and not is_later_page(target)


def gained_old(view: HubView, rules: Mapping[str, Rule]) -> frozenset[str]:
    """Return the old pages that the hub gained, including those that look like hubs."""
    hub, since = view.hub, view.since
    # By date alone, 395 posts that a recorded weblog imported were recorded without a word.
    old = {one for one, rule in rules.items() if rule is Rule.BACKDATED}
    old |= {
        t.canonical_key for t in view.found if is_old_hub(t, rules[t.canonical_key], hub, since)
    }
    found = {one for one, rule in rules.items() if rule is Rule.BACKFILL}
    return arrivals(view, old - _newborn(view)) | found


def gained_behind(view: HubView, rules: Mapping[str, Rule]) -> frozenset[str]:
    """Return links that count as new but are old pages that the hub gained, by the dates it showed before."""
    fresh = {one for one, rule in rules.items() if rule.fate is Fate.ANNOUNCE} - _newborn(view)
    return arrivals(view, behind(view, fresh))


def _newborn(view: HubView) -> frozenset[str]:
    """Return the links into new sections: their pages are news whatever their dates."""
    if not (view.new_folders or view.is_new_section):
        return frozenset()
    return frozenset(t.canonical_key for t in view.found if view.came_up(t))


def behind(view: HubView, fresh: Collection[str]) -> frozenset[str]:
    """Return those of *fresh* (canonical keys) that are dated long before what the hub showed already."""
    newest = _newest_shown(view) if fresh else None
    if newest is None:
        return frozenset()
    # A site may import what it published since we began to watch.
    limit = newest - view.since.backdated_days * DAY
    below: set[str] = set()
    kept_at: set[str] = set()
    for target in view.found:
        place = list_of(target.tag_path)
        if _is_kept(target, view):
            kept_at.add(place)
        elif target.canonical_key in fresh and (
            # What stands above all older links is news, however it is dated; a sitemap has no top.
            place in kept_at or view.hub.kind == HubKind.SITEMAP
        ):
            date = dated(target, view.hub, view.since.url_dates)
            if date is not None and date <= limit:
                below.add(target.canonical_key)
    return frozenset(below)


def _newest_shown(view: HubView) -> float | None:
    url_dates = view.since.url_dates
    dates = [dated(t, view.hub, url_dates) for t in view.found if _is_kept(t, view)]
    # URLs of events name future days.
    past = [date for date in dates if date is not None and date <= view.since.now + DAY]
    return max(past, default=None)


def arrivals(view: HubView, old: Collection[str]) -> frozenset[str]:
    """Return those of *old* (canonical keys of links that were not there before) that the hub gained."""
    if not old or not _was_read(view):
        return frozenset()
    gone = _gone(view)
    # A headline whose page disappeared at the same time is that page under another address.
    moved = {sight.anchor for sight in gone if len(sight.anchor) >= MIN_HEADLINE_CHARS}
    came: set[str] = set()
    for name, links in _places(view).items():
        asked = {t.canonical_key for t in links if t.canonical_key in old and t.anchor not in moved}
        if asked:
            came |= _gained(_Place.of(name, links, view, gone), asked, view)
    return frozenset(came)


def _places(view: HubView) -> dict[str, list[SeenLink]]:
    """Return the links by their place in the markup."""
    places: dict[str, list[SeenLink]] = {}
    for target in view.found:
        places.setdefault(list_of(target.tag_path), []).append(target)
    return places


def _was_read(view: HubView) -> bool:
    """Whether the hub is a list with an earlier state to compare with."""
    hub, migrated_at = view.hub, view.since.migrated_at
    if hub.role not in LISTS or hub.baseline_at is None or hub.visited_at is None:
        return False
    # The first reading after a URL migration is a new baseline, so nothing arrived in it.
    return migrated_at is None or hub.visited_at > migrated_at


def _gone(view: HubView) -> list[Sight]:
    """Return what the hub showed at its last visit and no longer shows."""
    here = {page.id for page in view.known.values()}
    return [one for one in view.sights if one.gone_at is None and one.page_id not in here]


@dataclass(frozen=True, slots=True)
class _Place:
    """The links at one place of the markup."""

    links: Sequence[SeenLink]
    # For each link, whether the hub showed it at the last visit.
    kept: Sequence[bool]
    # How many have gone since.
    lost: int
    # It shows only part of a longer list.
    cut_off: bool

    @classmethod
    def of(
        cls, name: str, links: Sequence[SeenLink], view: HubView, gone: Sequence[Sight]
    ) -> _Place:
        lost = sum(list_of(one.tag_path) == name for one in gone)
        kept = [_is_kept(target, view) for target in links]
        return cls(links, kept, lost, _is_cut_off(name, lost, view))

    def tail(self) -> int:
        """Return the index from which on everything is new."""
        return max((n + 1 for n, kept in enumerate(self.kept) if kept), default=0)

    def head(self) -> int:
        """Return the index before which everything is new."""
        return next((n for n, kept in enumerate(self.kept) if kept), len(self.kept))


def _is_cut_off(name: str, lost: int, view: HubView) -> bool:
    hub = view.hub
    here = [one for one in view.sights if list_of(one.tag_path) == name]
    gained = sum(one.first_seen_at > (hub.baseline_at or 0.0) for one in here)
    went = lost + sum(one.gone_at is not None for one in here)
    if gained:
        return went > COMPLETE_SHARE * gained
    return bool(went or hub.next_url or page_number(hub.url) is not None)


def _gained(place: _Place, asked: Collection[str], view: HubView) -> set[str]:
    hub, kept = view.hub, sum(place.kept)
    came = len(place.links) - kept
    # A widget that swaps its links loses about as many as it gains.
    grows = place.lost * 2 <= came
    if hub.kind == HubKind.SITEMAP:
        return set(asked) if kept and grows else set()
    if kept < (1 if hub.kind == HubKind.FEED else MIN_KEPT):
        return set()
    # Below all that stayed, a list that is cut off moves up whenever another link goes.
    last = place.tail() if place.cut_off else len(place.links)
    above = {t.canonical_key for t in place.links[:last]} & set(asked)
    if hub.kind == HubKind.FEED or _is_by_date(place.links, hub, view.since.url_dates):
        return above
    if grows:
        return above
    # Not in order of dates and with losses: only a box of latest additions puts them on top.
    head = {t.canonical_key for t in place.links[: place.head()]}
    return above & head if place.lost <= kept else set()


def _is_by_date(links: Sequence[SeenLink], hub: HubRow, url_dates: UrlDates) -> bool:
    """Whether links are in order of their dates, newest or oldest first."""
    dates = [date for t in links if (date := dated(t, hub, url_dates)) is not None]
    if len(dates) < MIN_DATED or dates[0] == dates[-1]:
        return False
    pairs = list(pairwise(dates))
    falling = sum(a >= b for a, b in pairs)
    rising = sum(a <= b for a, b in pairs)
    return max(falling, rising) >= ORDERED_SHARE * len(pairs)


def _is_kept(target: SeenLink, view: HubView) -> bool:
    page = view.known.get(target.canonical_key)
    return page is not None and page.id in view.visible


# With fewer links, all of them being new means nothing.
MIN_LINKS = 4
# A list with at most this share of known links was replaced. Not none: pages that came together need not
# all be on top, as some are dated back a little.
MAX_OLD_SHARE = 0.35


def all_new(view: HubView, rules: Mapping[str, Rule]) -> bool:
    """Whether a list on the hub consists all or mostly of unknown pages."""
    return _can_overflow(view.hub) and _turned_over(view, rules, since=inf, unseen=MIN_LINKS)


def overflowed(view: HubView, rules: Mapping[str, Rule]) -> bool:
    """Whether pages may have scrolled off: a list on the hub is all or mostly new to it."""
    hub = view.hub
    if not _can_overflow(hub):
        return False
    # Later pages of a list are read rarely, so links new to them mean nothing.
    own = hub.visited_at if hub.visited_at is not None and hub.role != HubRole.PAGE else inf
    if _turned_over(view, rules, since=own, unseen=MIN_LINKS):
        return True
    # Normally four links must be unknown, as lists visited in turn are replaced together; not after
    # another list of the site overflowed.
    if view.overflow_at > (hub.visited_at or 0.0):
        start = max(hub.visited_at or 0.0, view.overflow_since)
        return _turned_over(view, rules, since=start, unseen=0)
    # After a pause no link need be unknown: the list visited first has already shown them, and what
    # scrolled off is on neither.
    if own > view.resumed_at:
        return False
    return _turned_over(view, rules, since=own, unseen=0) or _all_gone(view, rules, since=own)


def _can_overflow(hub: HubRow) -> bool:
    empty_before = hub.visited_at is not None and not hub.shown_links
    return hub.baseline_at is not None and hub.kind != HubKind.SITEMAP and not empty_before


def _turned_over(
    view: HubView,
    rules: Mapping[str, Rule],
    *,
    since: float,
    unseen: int,
) -> bool:
    """Whether most of some list came after *since*, and at least *unseen* links were unknown."""
    # Menus and footers are lists of their own, so that their old links do not hide that the news list was
    # replaced.
    for targets in _places(view).values():
        new = sum(rules[t.canonical_key].fate is Fate.ANNOUNCE for t in targets)
        fresh = sum(_is_fresh(view, t, rules, since) for t in targets)
        old = len(targets) - fresh
        if fresh >= MIN_LINKS and new >= unseen and old <= MAX_OLD_SHARE * len(targets):
            return True
    return False


def _all_gone(view: HubView, rules: Mapping[str, Rule], *, since: float) -> bool:
    """Whether hardly any article is left from before; for short lists."""
    fresh = sum(_is_fresh(view, t, rules, since) for t in view.found)
    kept = sum(page.id in view.visible and not page.is_hub for page in view.known.values())
    return fresh > 0 and kept <= MAX_OLD_SHARE * (fresh + kept)


def _is_fresh(view: HubView, target: SeenLink, rules: Mapping[str, Rule], since: float) -> bool:
    if rules[target.canonical_key].fate is Fate.ANNOUNCE:
        return True
    known = view.known.get(target.canonical_key)
    return known is not None and not known.is_hub and known.first_seen_at > since
