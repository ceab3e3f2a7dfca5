"""Whether pages may have scrolled off a list unseen. Pure.

A list is what stands at one place in the markup; menus and footers are lists of their own, so that their
old links do not hide that the list of news was turned over. It overflowed when all or most of it came
since it was last read. "Most", because what came at once does not all stand on top: some are dated
back a little. What another hub has shown meanwhile came since as well::

    nothing else happened     four pages that nobody had seen: lists read in turn turn over together
    a pause, or another list  none need be unseen: whoever was read first after the pause has shown
    overflowed since          them already, and what has scrolled by stands on neither
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import inf

from incremental.decide.hub_view import HubView
from incremental.decide.rules import Rule, Standing
from store.enums import HubKind, HubRole
from store.values import HubRow, SeenLink

# Fewer links than this say nothing when all of them are new.
MIN_LINKS = 4
# A list of which no more than this was known was turned over.
MAX_OLD_SHARE = 0.35

_DIGITS = re.compile(r"\d+")


def all_new(view: HubView, rules: Mapping[str, Rule]) -> bool:
    """Return whether a list on the hub is all or mostly of pages that nobody had seen."""
    return _can_overflow(view.hub) and _turned_over(view, rules, since=inf, unseen=MIN_LINKS)


def overflowed(view: HubView, rules: Mapping[str, Rule]) -> bool:
    """Return whether pages may have scrolled by: a list on the hub is all or mostly new to it."""
    hub = view.hub
    if not _can_overflow(hub):
        return False
    # Later pages of a list are read now and then: that all on them is new to them says nothing.
    own = hub.visited_at if hub.visited_at is not None and hub.role != HubRole.PAGE else inf
    if _turned_over(view, rules, since=own, unseen=MIN_LINKS):
        return True
    if view.overflow_at > (hub.visited_at or 0.0):
        start = max(hub.visited_at or 0.0, view.overflow_since)
        return _turned_over(view, rules, since=start, unseen=0)
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
    """Return whether most of some list came after *since*, and at least *unseen* of it was unknown."""
    lists: dict[str, list[SeenLink]] = {}
    for target in view.found:
        lists.setdefault(_DIGITS.sub("0", target.tag_path), []).append(target)
    for targets in lists.values():
        new = sum(rules[t.canonical_key].standing is Standing.NEW for t in targets)
        fresh = sum(_is_fresh(view, t, rules, since) for t in targets)
        old = len(targets) - fresh
        if fresh >= MIN_LINKS and new >= unseen and old <= MAX_OLD_SHARE * len(targets):
            return True
    return False


def _all_gone(view: HubView, rules: Mapping[str, Rule], *, since: float) -> bool:
    """Return whether hardly any article is left of what it showed before: the lists are short."""
    fresh = sum(_is_fresh(view, t, rules, since) for t in view.found)
    kept = sum(page.id in view.visible and not page.is_hub for page in view.known.values())
    return fresh > 0 and kept <= MAX_OLD_SHARE * (fresh + kept)


def _is_fresh(view: HubView, target: SeenLink, rules: Mapping[str, Rule], since: float) -> bool:
    if rules[target.canonical_key].standing is Standing.NEW:
        return True
    known = view.known.get(target.canonical_key)
    return known is not None and not known.is_hub and known.first_seen_at > since
