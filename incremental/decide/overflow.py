"""Whether pages may have scrolled off a list unseen. Pure.

A list is the links at one place in the markup. It overflowed if all or most of it is new since
its last visit. Pages that another hub has shown since count as new, too::

    normally                  four pages must be unknown: lists visited in turn are replaced together
    after a pause, or an      none need be: the list visited first has already shown them, and what
    overflow of another list  scrolled off is on neither
"""

from collections.abc import Mapping
from math import inf

from incremental.decide.hub_facts import HubView
from incremental.decide.links import list_of
from store.enums import HubKind, HubRole
from store.rules import Fate, Rule
from store.values import HubRow, SeenLink

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
    lists: dict[str, list[SeenLink]] = {}
    for target in view.found:
        lists.setdefault(list_of(target.tag_path), []).append(target)
    for targets in lists.values():
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
