"""Whether a page is news: the one place that decides it. Pure decisions on values.

The unit of news is the new page, never the difference between two texts::

    a link on a hub page                                                  link_rule, then decide_links
      first visit of the hub        baseline: its links are known, none is new
      unknown link, likely a hub    recorded as a hub, with a baseline of its own
      unknown, dated long ago       part of one backfill event if its list gained it (decide.arrivals),
                                    else recorded, not announced (backdated)
      unknown link                  new
      unknown link on a new hub     new, if there are few: a section appeared with its pages
      known, never announced, and first seen elsewhere after this hub's last visit
      (on the baseline of a hub found meanwhile)
                                    new: two hubs may show one page in either order
      all at once                   a URL migration, a burst: one event, no news
    a page that was fetched                                               page_news
      it waited to be verified      announced, unless it is furniture of its site
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from incremental.base.scope import page_number
from incremental.base.texts import hub_why
from incremental.base.times import DAY, HOUR, believable
from incremental.base.urls import host_of
from incremental.decide.address_forms import form_of
from incremental.decide.arrivals import dated, gained_behind, gained_old, is_old_hub
from incremental.decide.furniture import furniture, is_list_address, may_be_furniture
from incremental.decide.hub_facts import HubView, Since
from incremental.decide.hubs import choose_hubs
from incremental.decide.links import is_later_page, stated_date
from incremental.decide.migration import Migration, migration
from incremental.decide.rules import Rule, Standing, is_withheld
from store.enums import HubKind, HubRole, PageLabel, PageState, SiteEventKind
from store.values import HubRow, KnownPage, NewHub, SeenLink, VerificationRow

# Candidates of one form of address that are read before the others.
TRIED_FIRST = 3
# Folders of lists, which nobody wants announced, however unsure the classifier is.
_LIST_WORDS = re.compile(
    r"/(?:tags?|categor(?:y|ies)|topics?|archives?|authors?|labels?)/", re.IGNORECASE
)


def link_rule(  # noqa: PLR0911, PLR0913 - a table of cases; each bears on it
    target: SeenLink,
    known: KnownPage | None,
    hub: HubRow,
    since: Since,
    *,
    hub_like: bool,
    new_hub: bool = False,
) -> Rule:
    """Return the rule for one link of *hub*.

    *new_hub*: the hub appeared after its site's baseline and is read for the first time, so the pages of
    this new section are new with it.
    """
    date = dated(target, hub, since.url_dates)
    old = date is not None and date < since.oldest_news and not new_hub
    # A feed lists pages: there ``/?p=3`` is an article of a blog.
    is_later = hub.kind != HubKind.FEED and is_later_page(target)
    is_list = is_list_address(target.url)
    if known is not None:
        # Lists that two hubs show in either order are no news either.
        if is_later or is_list or not _overlooked(known, hub, since, old=old):
            return Rule.KNOWN
        return Rule.BACKDATED if old else Rule.SHOWN_LATER
    if hub_like:
        return Rule.HUB
    if is_later:
        return Rule.LATER_PAGE
    if is_list:
        return Rule.LIST_PAGE
    if _is_baseline(hub) and not new_hub:
        return Rule.DATED_BY_FEED if _dated_since(target, hub, since) else Rule.BASELINE
    if old:
        return Rule.BACKDATED
    return Rule.NEW_SECTION if new_hub else Rule.NEW_LINK


def shown_later(view: HubView) -> frozenset[str]:
    """Return the canonical keys of known pages that are news on this hub."""
    known = ((t, view.known[t.canonical_key]) for t in view.found if t.canonical_key in view.known)
    return frozenset(
        t.canonical_key
        for t, page in known
        if link_rule(t, page, view.hub, view.since, hub_like=False) is Rule.SHOWN_LATER
    )


def _is_baseline(hub: HubRow) -> bool:
    """Whether the hub shows pages of the site for the first time."""
    # A feed that named a wrong host for weeks starts again when that is fixed.
    return hub.baseline_at is None or (hub.kind == HubKind.FEED and not hub.shown_links)


def _dated_since(target: SeenLink, hub: HubRow, since: Since) -> bool:
    """Whether a feed dates a page of its baseline after we began to watch."""
    # Only feeds state the publication date; a sitemap's lastmod moves with every deployment.
    published_at = stated_date(target, hub)
    if published_at is None:
        return False
    begun = since.site_added_at if hub.baseline_at is None else (hub.visited_at or 0.0) - DAY
    return begun < published_at <= since.now


def _overlooked(known: KnownPage, hub: HubRow, since: Since, *, old: bool) -> bool:
    """Whether a known page was first seen only after the last visit of this hub, which now shows it."""
    if known.announced_at is not None or hub.baseline_at is None or hub.visited_at is None:
        return False
    if is_withheld(known.rule):
        return False  # it was fetched and withheld
    if since.migrated_at is not None and hub.visited_at < since.migrated_at:
        return False  # links under new addresses are part of that event
    # A feed entry is no hub, whatever its URL looks like.
    eligible = (
        known.state in (PageState.KNOWN, PageState.PENDING)
        if hub.kind == HubKind.FEED
        else (known.state == PageState.KNOWN and not known.is_hub)
    )
    # A widget may have shown first what a list now gained.
    eligible = eligible or (old and known.state == PageState.BACKDATED and not known.is_hub)
    # What was first seen later than now was seen by a clock that was ahead.
    return eligible and hub.visited_at < known.first_seen_at <= since.now


@dataclass(frozen=True, slots=True)
class LinkDecisions:
    """What was decided for the links of one visit together."""

    seen: tuple[SeenLink, ...]
    rules: Mapping[str, Rule]
    """By canonical key."""
    event: Migration | None
    verified: frozenset[str]
    """Those that are verified before they are announced."""

    def standing(self, target: SeenLink) -> Standing:
        """Return what a link means as news."""
        return self.rules[target.canonical_key].standing


def decide_links(view: HubView) -> LinkDecisions:
    """Decide on every link of a hub: known, new, verified first, backfill, hub, or part of an event."""
    rules = {
        t.canonical_key: link_rule(
            t,
            view.known.get(t.canonical_key),
            view.hub,
            view.since,
            hub_like=view.hub.kind != HubKind.FEED
            and view.scores.get(t.canonical_key, 0.0) >= view.limits.threshold,
            new_hub=view.came_up(t),
        )
        for t in view.found
    }
    rules |= dict.fromkeys(gained_behind(view, rules), Rule.BACKFILL)
    rules |= never_there(view)
    event = _event(view, rules)
    hubs = _new_hubs(view, rules)
    verified = _to_verify(view, rules) if event is None else frozenset()
    arrived = gained_old(view, rules) if event is None else frozenset()
    if event is None:
        decided = [
            _decided(t, rules[t.canonical_key], view, hubs, verified, arrived) for t in view.found
        ]
    else:
        decided = [_of_event(t, rules[t.canonical_key], view, hubs, event) for t in view.found]
    return LinkDecisions(tuple(decided), rules, event, verified)


def never_there(view: HubView) -> dict[str, Rule]:
    """Return the rules for an article's links with whose addresses no page ever was there.

    What an article links to is often mistyped, or relative where it should not be; a list that shows such a
    page is asked for it once more.
    """
    if view.hub.role != HubRole.ARTICLE:
        return {}
    return dict.fromkeys(view.never_there, Rule.NEVER_THERE)


def _event(view: HubView, rules: Mapping[str, Rule]) -> Migration | None:
    """Return the site-wide event whose links are no news, if there is one."""
    if view.hub.baseline_at is None:
        return None
    news = [t for t in view.found if rules[t.canonical_key].standing is Standing.NEW]
    kept = sum(k.id in view.visible for k in view.known.values())
    # More than a day may bring: something generates endless addresses.
    if len(news) > view.quota:
        return Migration(
            f"{len(news)} new addresses at once on {view.hub.url}", {}, kind=SiteEventKind.BURST
        )
    # The older pages of a backfill are one event, so the daily limit does not apply to them.
    came = [t for t in view.found if rules[t.canonical_key] is Rule.BACKFILL]
    return migration([*news, *came], view.lost_urls, kept, view.anchors)


def _new_hubs(view: HubView, rules: Mapping[str, Rule]) -> dict[str, NewHub]:
    unknown = [t for t in view.found if rules[t.canonical_key].standing is Standing.HUB]
    chosen = choose_hubs(unknown, view.scores, view.counts, view.limits)
    chosen |= {
        t.canonical_key for t in unknown if view.corrected.get(t.canonical_key) == PageLabel.HUB
    }
    likely_first = sorted(unknown, key=lambda t: -view.scores[t.canonical_key])
    hubs, of_form = dict[str, NewHub](), Counter[str]()
    for target in likely_first:
        if target.canonical_key in chosen:
            form = form_of(target.url)
            hubs[target.canonical_key] = _new_hub(view, target, place=of_form[form])
            of_form[form] += 1
    return hubs


def _new_hub(view: HubView, target: SeenLink, *, place: int) -> NewHub:
    """Return a new hub; *place*: how many of its form are likelier to be one."""
    score, number = view.scores[target.canonical_key], page_number(target.url)
    now = view.since.now
    if view.corrected.get(target.canonical_key) == PageLabel.HUB:
        return NewHub(HubKind.HTML, HubRole.USER, score, hub_why("said_hub"), now)
    # The later pages of a list come after its first, in order.
    if number is not None:
        return NewHub(
            HubKind.HTML,
            HubRole.PAGE,
            score,
            hub_why("page_number", number=number),
            now + number * HOUR,
        )
    # The likeliest are due first, a few of each form before the others: should they turn out to be articles,
    # the others need not be read.
    waits = (1.0 - score) * HOUR + (HOUR if place >= TRIED_FIRST else 0.0)
    return NewHub(HubKind.HTML, HubRole.LIST, score, hub_why("looks_list"), now + waits)


def _to_verify(view: HubView, rules: Mapping[str, Rule]) -> frozenset[str]:
    """Return the unknown pages to verify before they are announced, as far as the budget allows."""
    fresh = [
        t.canonical_key
        for t in view.found
        if rules[t.canonical_key].standing is Standing.NEW and t.canonical_key not in view.known
    ]
    guesses = view.guesses
    if guesses is not None:
        # What topics expect most of comes first, as the budget may not reach all.
        fresh.sort(key=lambda canonical_key: -(guesses.expected(canonical_key) or 0.0))
    # Always verified: what only an article links to, and may be mistyped; addresses with which no page ever
    # was there; a host that may only redirect hides the page that is meant, and sitemaps and footers list
    # error pages and the pages behind forms and donations.
    first = {
        t.canonical_key
        for t in view.found
        if view.hub.role == HubRole.ARTICLE
        or t.canonical_key in view.never_there
        or host_of(t.url) in view.leading
        or (view.hub.kind != HubKind.FEED and may_be_furniture(t.url))
    }
    # Verified first, so that a feed which lists an article before it exists does not fool us.
    return frozenset(fresh[: view.verifications]) | first.intersection(fresh)


def _of_event(
    target: SeenLink, rule: Rule, view: HubView, hubs: Mapping[str, NewHub], event: Migration
) -> SeenLink:
    """Return a link found in a URL migration or a burst: if new, it is part of the event."""
    state = PageState.BACKDATED if rule is Rule.BACKDATED else PageState.KNOWN
    if rule.standing in (Standing.NEW, Standing.BACKFILL):
        # So that the next hub to show it does not announce it either.
        state, rule = (
            PageState.MIGRATED,
            Rule.BURST if event.kind == SiteEventKind.BURST else Rule.MIGRATED,
        )
    return replace(
        target,
        published_at=believable(target.published_at, view.since.now),
        state=state,
        rule=rule,
        hub=hubs.get(target.canonical_key),
        moved_from=event.moved.get(target.canonical_key),
    )


def _decided(  # noqa: PLR0913, PLR0917 - what was decided for all links together
    target: SeenLink,
    rule: Rule,
    view: HubView,
    hubs: Mapping[str, NewHub],
    verified: frozenset[str],
    arrived: frozenset[str],
) -> SeenLink:
    came_up, hub = view.came_up(target), hubs.get(target.canonical_key)
    is_new, is_arrived = rule.standing is Standing.NEW, target.canonical_key in arrived
    # An old page that only seems to be a hub is news of its kind, if the list gained it.
    old_hub = not came_up and is_old_hub(target, rule, view.hub, view.since)
    # A hub found on a hub that has a baseline would be news if it were an article; its first visit tells.
    news = (view.hub.baseline_at is not None or came_up) and (is_arrived or not old_hub)
    # Over the limit of hubs it is not read as one; a verification fetch shows whether it exists.
    over = rule.standing is Standing.HUB and hub is None and not is_later_page(target) and news
    backfill = is_arrived and (rule.standing is not Standing.HUB or over)
    over = over and not backfill
    waits = (
        (hub is not None and hub.role == HubRole.LIST and news)
        or over
        or target.canonical_key in verified
    )
    state = PageState.PENDING if waits else PageState.KNOWN
    if rule is Rule.BACKDATED:
        state = PageState.BACKDATED
    elif rule is Rule.NEVER_THERE:
        state = PageState.GONE
    if backfill or (waits and old_hub):
        # A hub waits for its first reading, which makes it a hub or a page of the backfill.
        state = PageState.BACKFILL
    if backfill:
        rule = Rule.BACKFILL
    elif over:
        rule = Rule.HUB_LIMIT
    fetched = is_new or over
    guesses = view.guesses if fetched else None
    return replace(
        target,
        published_at=believable(target.published_at, view.since.now),
        announce=is_new and target.canonical_key not in verified,
        backfill=backfill,
        state=state,
        rule=rule,
        hub=hub,
        verify_due_at=view.since.now if fetched else None,
        verify_score=guesses.expected(target.canonical_key) if guesses else None,
        link_context=guesses.contexts.get(target.canonical_key) if guesses else None,
    )


@dataclass(frozen=True, slots=True)
class PageNews:
    """Whether the visited page itself is news."""

    rule: Rule | None = None
    """The rule that announces or withholds it; None = it was not waiting."""
    announce: bool = False
    backfill: bool = False
    """It joins the event of the list that gained it."""


def page_news(
    row: VerificationRow | None,
    rule: Rule | None,
    title: str,
    *,
    awaits_event: bool = False,
    perhaps_list: bool = False,
) -> PageNews:
    """Decide whether a fetched page is announced now: if it was waiting, and is no furniture.

    *rule* announces it (None = the rule that found it). *awaits_event*: a list gained this old page, and
    no event has announced it yet. *perhaps_list*: it may be a list, and is one if its URL says so.
    """
    waits = row is not None and row.state in (PageState.PENDING, PageState.MISSING)
    if row is None or not (waits or awaits_event):
        return PageNews()
    if perhaps_list and _LIST_WORDS.search(row.url):
        # One that cannot be read stays what its address says; one that was read is monitored as a hub.
        return PageNews(Rule.LIST_PAGE if rule is Rule.UNREADABLE else None)
    kept = furniture(row.url, title)
    if kept is not None:
        return PageNews(kept)
    return PageNews(rule, announce=waits, backfill=awaits_event)
