"""Whether a page is news: the one place that decides it. Pure decisions on values.

The unit of news is the new page, never the difference between two texts. A link on a hub page is decided
in two tables, each read from the top, where the first row that holds wins::

    RULES     what the link is by itself: known, of a baseline, new, dated long ago, like a hub
    FATES     what becomes of it among all links of the visit: an event, a list that gained old pages,
              the limit of hubs and the budget of verification fetches may object to being news

A page that was fetched is announced if it waited for that, and is no furniture of its site (``page_news``).
A URL migration, or a burst of addresses, is one event as opposed to a busy day (``migration``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from incremental.base.scope import page_number, template
from incremental.base.texts import Text, hub_why
from incremental.base.times import DAY, HOUR, believable
from incremental.base.urls import host_of
from incremental.decide.address_forms import form_of
from incremental.decide.arrivals import (
    MIN_HEADLINE_CHARS,
    gained_behind,
    gained_old,
    is_old,
    is_old_hub,
)
from incremental.decide.furniture import furniture, is_list_address, may_be_furniture
from incremental.decide.hub_facts import HubView
from incremental.decide.hubs import choose_hubs
from incremental.decide.links import is_later_page, stated_date
from incremental.decide.not_news import Withheld, is_not_news
from store.enums import HubKind, HubRole, PageLabel, PageState, SiteEventKind
from store.rules import COLUMNS, Fate, Rule, is_withheld
from store.values import HubRow, NewHub, SeenLink, VerificationRow

# Candidates of one form of address that are read before the others.
TRIED_FIRST = 3
# Folders of lists, which nobody wants announced, however unsure the classifier is.
_LIST_WORDS = re.compile(
    r"/(?:tags?|categor(?:y|ies)|topics?|archives?|authors?|labels?)/", re.IGNORECASE
)


def _is_old(target: SeenLink, view: HubView) -> bool:
    """Whether it is dated long ago. What comes with a new section is news whatever its date."""
    return is_old(target, view.hub, view.since) and not view.came_up(target)


def _is_baseline(target: SeenLink, view: HubView) -> bool:
    """Whether the hub shows pages of the site for the first time; those of a new section are none of it."""
    return _shows_first(view.hub) and not view.came_up(target)


def _shows_first(hub: HubRow) -> bool:
    """Whether a hub has shown no page of the site before."""
    # A feed or sitemap that named a wrong host for weeks starts again when that is fixed.
    return hub.baseline_at is None or (hub.kind != HubKind.HTML and not hub.shown_links)


def _is_dated_since(target: SeenLink, view: HubView) -> bool:
    """Whether a feed dates a page of its baseline after we began to watch."""
    # Only feeds state the publication date; a sitemap's lastmod moves with every deployment.
    hub, since = view.hub, view.since
    published_at = stated_date(target, hub)
    begun = since.site_added_at if hub.baseline_at is None else (hub.visited_at or 0.0) - DAY
    return published_at is not None and begun < published_at <= since.now


def _is_overlooked(target: SeenLink, view: HubView) -> bool:
    """Whether a known page was first seen only after the last visit of this hub, which now shows it."""
    hub, since, known = view.hub, view.since, view.known[target.canonical_key]
    if known.announced_at is not None or _shows_first(hub) or hub.visited_at is None:
        return False
    if known.rule == Rule.SAME_FOLDER:
        # Whether it is new was open until a hub began to show it.
        return known.id not in view.visible
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
    backdated = known.state == PageState.BACKDATED and not known.is_hub
    eligible = eligible or (backdated and _is_old(target, view))
    # What was first seen later than now was seen by a clock that was ahead.
    return eligible and hub.visited_at < known.first_seen_at <= since.now


def _is_known(target: SeenLink, view: HubView) -> bool:
    return target.canonical_key in view.known


def _is_like_a_hub(target: SeenLink, view: HubView) -> bool:
    likely = view.hub_score(target.canonical_key) >= view.limits.threshold
    return likely and view.hub.kind != HubKind.FEED


def _is_later(target: SeenLink, view: HubView) -> bool:
    # A feed lists pages: there ``/?p=3`` is an article of a blog.
    return view.hub.kind != HubKind.FEED and is_later_page(target)


def _is_list(target: SeenLink, view: HubView) -> bool:
    """Whether the address is a list's and no user called the page an article."""
    label = view.labels.get(target.canonical_key)
    return label != PageLabel.ARTICLE and is_list_address(target.url)


def _is_old_news(target: SeenLink, view: HubView) -> bool:
    """Whether a known page is no news on this hub."""
    if not _is_known(target, view):
        return False
    # Lists that two hubs show in either order are no news either.
    return not _is_overlooked(target, view) or _is_later(target, view) or _is_list(target, view)


RULES: tuple[tuple[Rule, Callable[[SeenLink, HubView], bool]], ...] = (
    (Rule.KNOWN, _is_old_news),
    (Rule.BACKDATED, lambda t, view: _is_known(t, view) and _is_old(t, view)),
    # On the baseline of a hub found meanwhile: two hubs may show one page in either order.
    (Rule.SHOWN_LATER, _is_known),
    # Recorded as a hub, with a baseline of its own.
    (Rule.HUB, _is_like_a_hub),
    (Rule.LATER_PAGE, _is_later),
    (Rule.LIST_PAGE, _is_list),
    (Rule.DATED_BY_FEED, lambda t, view: _is_baseline(t, view) and _is_dated_since(t, view)),
    (Rule.BASELINE, _is_baseline),
    (Rule.BACKDATED, _is_old),
    (Rule.NEW_SECTION, lambda t, view: view.came_up(t)),
    (Rule.NEW_LINK, lambda _, __: True),
)
"""What a link is by itself; the first row that holds wins."""


def link_rule(target: SeenLink, view: HubView) -> Rule:
    """Return the rule for one link of a hub, by itself."""
    rule = next(rule for rule, holds in RULES if holds(target, view))
    if rule.fate is Fate.ANNOUNCE and is_not_news(
        target.url, view.hub.url, rule, view.since.not_news
    ):
        return Rule.NOT_NEWS
    return rule


def shown_later(view: HubView) -> frozenset[str]:
    """Return the canonical keys of known pages that are news on this hub."""
    known = [t for t in view.found if _is_known(t, view)]
    return frozenset(t.canonical_key for t in known if link_rule(t, view) is Rule.SHOWN_LATER)


MIGRATION_MIN_LINKS = 8
MIGRATION_LOST_SHARE = 0.8
MIGRATION_FORM_SHARE = 0.8
MIGRATION_ANCHOR_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Migration:
    """One event instead of thousands of new pages."""

    reason: Text
    moved: Mapping[str, int]
    """Page ids by canonical key of the new address, matched by headline."""
    kind: SiteEventKind = SiteEventKind.URL_MIGRATION
    """``url_migration``, or ``burst``: something generates endless addresses."""


def migration(
    news: Sequence[SeenLink],
    lost_urls: Sequence[str],
    kept: int,
    anchors: Mapping[str, int],
) -> Migration | None:
    """Return the URL migration of a hub: almost all links went, and the new ones look different.

    *news* are the unknown links, *lost_urls* those that went, *kept* how many stayed, *anchors* page ids
    of known pages by headline. The new links have another form, or the old headlines.
    """
    if len(news) < MIGRATION_MIN_LINKS or len(lost_urls) < MIGRATION_MIN_LINKS:
        return None
    if len(lost_urls) < MIGRATION_LOST_SHARE * (len(lost_urls) + kept):
        return None
    moved = {
        t.canonical_key: anchors[t.anchor]
        for t in news
        if len(t.anchor) >= MIN_HEADLINE_CHARS and t.anchor in anchors
    }
    if len(moved) >= MIGRATION_ANCHOR_SHARE * len(news):
        return Migration(Text("site_event.headlines", n=len(moved)), moved)
    forms = {template(url) for url in lost_urls}
    other_form = sum(template(t.url) not in forms for t in news)
    if other_form >= MIGRATION_FORM_SHARE * len(news):
        return Migration(Text("site_event.forms", others=other_form, n=len(news)), moved)
    return None


@dataclass(frozen=True, slots=True)
class Together:
    """The links of one visit, and what concerns all of them at once."""

    view: HubView
    rules: Mapping[str, Rule]
    """What each is by itself, by canonical key; :data:`Rule.BACKFILL` = older than what the hub showed."""
    event: Migration | None
    hubs: Mapping[str, NewHub]
    """Those that become hubs, within the limits, by canonical key."""
    verified: frozenset[str]
    """Those that are verified before they are announced."""
    gained: frozenset[str]
    """Old ones that the hub gained."""

    @classmethod
    def of(cls, view: HubView) -> Together:
        """Look at all links of a hub together."""
        rules = {t.canonical_key: link_rule(t, view) for t in view.found}
        rules |= dict.fromkeys(gained_behind(view, rules), Rule.BACKFILL)
        # What an article links to is often mistyped, or relative where it should not be, and a template may
        # name lists that never were; for news a list that shows it is believed for one request.
        rules |= {
            one: Rule.NEVER_THERE
            for one in view.never_there
            if view.hub.role == HubRole.ARTICLE or rules[one].fate is Fate.HUB
        }
        event, hubs = _event(view, rules), _new_hubs(view, rules)
        if event is not None:
            return cls(view, rules, event, hubs, frozenset(), frozenset())
        return cls(view, rules, event, hubs, _to_verify(view, rules), gained_old(view, rules))

    def alone(self, target: SeenLink) -> Fate:
        """Return what becomes of a link unless something objects."""
        return self.rules[target.canonical_key].fate

    def came_with(self, kind: SiteEventKind, target: SeenLink) -> bool:
        """Whether a link came with an event, so that the next hub to show it does not announce it either."""
        came = self.alone(target) in (Fate.ANNOUNCE, Fate.BACKFILL)
        return came and self.event is not None and self.event.kind == kind

    def is_gained(self, target: SeenLink) -> bool:
        """Whether a link is old, and the hub gained it."""
        return target.canonical_key in self.gained

    def is_hub(self, target: SeenLink) -> bool:
        """Whether a link becomes a hub."""
        return target.canonical_key in self.hubs

    def is_news_as_an_article(self, target: SeenLink) -> bool:
        """Whether what looks like a hub would be news if it were an article."""
        view, rule = self.view, self.rules[target.canonical_key]
        if rule.fate is not Fate.HUB or self.event is not None or is_later_page(target):
            return False
        old = is_old_hub(target, rule, view.hub, view.since) and not self.is_gained(target)
        return view.came_up(target) or (view.hub.baseline_at is not None and not old)

    def is_tried(self, target: SeenLink) -> bool:
        """Whether the first visit of a link as a hub tells if it is news."""
        hub = self.hubs.get(target.canonical_key)
        return hub is not None and hub.role == HubRole.LIST and self.is_news_as_an_article(target)


_BURST, _MIGRATION = SiteEventKind.BURST, SiteEventKind.URL_MIGRATION
FATES: tuple[tuple[str, Callable[[Together, SeenLink], bool], Fate, Rule | None], ...] = (
    ("known", lambda links, t: links.alone(t) is Fate.KNOWN, Fate.KNOWN, None),
    (
        "never there",
        lambda links, t: links.alone(t) is Fate.NEVER_THERE,
        *(Fate.NEVER_THERE, None),
    ),
    ("of a burst", lambda links, t: links.came_with(_BURST, t), Fate.EVENT, Rule.BURST),
    ("of a move", lambda links, t: links.came_with(_MIGRATION, t), Fate.EVENT, Rule.MIGRATED),
    (
        "old, but its list gained it",
        lambda links, t: links.is_gained(t) and not links.is_hub(t),
        *(Fate.BACKFILL, Rule.BACKFILL),
    ),
    ("old", lambda links, t: links.alone(t) is Fate.BACKDATED, Fate.BACKDATED, None),
    (
        "perhaps a hub, else gained",
        lambda links, t: links.is_tried(t) and links.is_gained(t),
        *(Fate.HUB_AND_BACKFILL, None),
    ),
    ("perhaps a hub, else news", Together.is_tried, Fate.HUB_AND_VERIFY, None),
    ("a hub", Together.is_hub, Fate.HUB, None),
    # Not read as a hub; a verification fetch shows whether it exists.
    ("a hub over the limit", Together.is_news_as_an_article, Fate.VERIFY, Rule.HUB_LIMIT),
    ("no hub, no news", lambda links, t: links.alone(t) is Fate.HUB, Fate.KNOWN, None),
    ("news to verify", lambda links, t: t.canonical_key in links.verified, Fate.VERIFY, None),
    ("news", lambda _, __: True, Fate.ANNOUNCE, None),
)
"""Each row: what may be said of a link among all of its visit, what then becomes of it, and the rule that
decided (None = what it is by itself). The first row that holds wins.
"""


@dataclass(frozen=True, slots=True)
class LinkDecisions:
    """What was decided for the links of one visit."""

    seen: tuple[SeenLink, ...]
    rules: Mapping[str, Rule]
    """What each is by itself, by canonical key."""
    event: Migration | None

    @property
    def news(self) -> tuple[SeenLink, ...]:
        """Those that are news, announced now or once verified."""
        news = (Fate.ANNOUNCE, Fate.VERIFY)
        return tuple(t for t in self.seen if t.fate in news and t.rule != Rule.HUB_LIMIT)

    @property
    def gained(self) -> tuple[SeenLink, ...]:
        """Old ones that the hub gained: together one event."""
        return tuple(t for t in self.seen if t.fate is Fate.BACKFILL)


def decide_links(view: HubView) -> LinkDecisions:
    """Decide on every link of a hub."""
    links = Together.of(view)
    seen = tuple(_decided(target, links) for target in view.found)
    return LinkDecisions(seen, links.rules, links.event)


def _decided(target: SeenLink, links: Together) -> SeenLink:
    """Return a link with its fate."""
    key = target.canonical_key
    fate, rule = next((fate, rule) for _, holds, fate, rule in FATES if holds(links, target))
    guesses = links.view.guesses if COLUMNS[fate].is_fetched else None
    return SeenLink(
        key,
        target.url,
        target.anchor,
        target.tag_path,
        believable(target.published_at, links.view.since.now),
        fate,
        rule=rule or links.rules[key],
        hub=links.hubs.get(key),
        moved_from=links.event.moved.get(key) if links.event is not None else None,
        verify_score=guesses.expected(key) if guesses else None,
        link_context=guesses.contexts.get(key) if guesses else None,
    )


def _event(view: HubView, rules: Mapping[str, Rule]) -> Migration | None:
    """Return the site-wide event whose links are no news, if there is one."""
    if view.hub.baseline_at is None:
        return None
    news = [t for t in view.found if rules[t.canonical_key].fate is Fate.ANNOUNCE]
    kept = sum(k.id in view.visible for k in view.known.values())
    # More than a day may bring: something generates endless addresses.
    if len(news) > view.quota:
        reason = Text("site_event.burst", n=len(news), hub=view.hub.url)
        return Migration(reason, {}, kind=SiteEventKind.BURST)
    # The older pages of a backfill are one event, so the daily limit does not apply to them.
    came = [t for t in view.found if rules[t.canonical_key] is Rule.BACKFILL]
    return migration([*news, *came], view.lost_urls, kept, view.anchors)


def _new_hubs(view: HubView, rules: Mapping[str, Rule]) -> dict[str, NewHub]:
    unknown = [t for t in view.found if rules[t.canonical_key].fate is Fate.HUB]
    scores = {t.canonical_key: view.hub_score(t.canonical_key) for t in unknown}
    chosen = choose_hubs(unknown, scores, view.counts, view.limits)
    chosen |= {
        t.canonical_key for t in unknown if view.labels.get(t.canonical_key) == PageLabel.HUB
    }
    likely_first = sorted(unknown, key=lambda t: -scores[t.canonical_key])
    hubs, of_form = dict[str, NewHub](), Counter[str]()
    for target in likely_first:
        if target.canonical_key in chosen:
            form = form_of(target.url)
            hubs[target.canonical_key] = _new_hub(view, target, place=of_form[form])
            of_form[form] += 1
    return hubs


def _new_hub(view: HubView, target: SeenLink, *, place: int) -> NewHub:
    """Return a new hub; *place*: how many of its form are likelier to be one."""
    score, number = view.hub_score(target.canonical_key), page_number(target.url)
    now = view.since.now
    if view.labels.get(target.canonical_key) == PageLabel.HUB:
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
    unknown = [
        t
        for t in view.found
        if rules[t.canonical_key].fate is Fate.ANNOUNCE and t.canonical_key not in view.known
    ]
    if not unknown:
        return frozenset()
    fresh = [t.canonical_key for t in unknown]
    guesses = view.guesses
    if guesses is not None:
        # What topics expect most of comes first, as the budget may not reach all.
        fresh.sort(key=lambda canonical_key: -(guesses.expected(canonical_key) or 0.0))
    # Always verified: what only an article links to, and may be mistyped; addresses with which no page ever
    # was there; a host that may only redirect hides the page that is meant, and sitemaps and footers list
    # error pages and the pages behind forms and donations.
    first = {
        t.canonical_key
        for t in unknown
        if view.hub.role == HubRole.ARTICLE
        or t.canonical_key in view.never_there
        or host_of(t.url) in view.leading
        or (view.hub.kind != HubKind.FEED and may_be_furniture(t.url))
    }
    # Verified first, so that a feed which lists an article before it exists does not fool us.
    return frozenset(fresh[: view.verifications]) | first


@dataclass(frozen=True, slots=True)
class PageNews:
    """Whether the visited page itself is news."""

    fate: Fate = Fate.KNOWN
    rule: Rule | None = None
    """The rule that announces or withholds it; None = it was not waiting, or as it was found."""


def page_news(  # noqa: PLR0913 - each bears on it
    row: VerificationRow,
    rule: Rule | None,
    title: str,
    *,
    awaits_event: bool = False,
    perhaps_list: bool = False,
    is_labelled: bool = False,
    not_news: Withheld | None = None,
) -> PageNews:
    """Decide whether a fetched page is announced now: if it was waiting, and is no furniture.

    *rule* announces it (None = the rule that found it). *awaits_event*: a list gained this old page, and
    no event has announced it yet. *perhaps_list*: it may be a list, and is one if its URL says so.
    *is_labelled*: the user called it an article, whatever its URL says. *not_news*: what users said is not.
    """
    waits = row.state in (PageState.PENDING, PageState.MISSING)
    if not (waits or awaits_event):
        return PageNews()
    if perhaps_list and _LIST_WORDS.search(row.url):
        # One that cannot be read stays what its address says; one that was read is monitored as a hub.
        return PageNews(rule=Rule.LIST_PAGE if rule is Rule.UNREADABLE else None)
    kept = furniture(row.url, title)
    if kept is not None and not (is_labelled and kept is Rule.LIST_PAGE):
        return PageNews(rule=kept)
    if waits and is_not_news(row.url, None, rule or row.rule, not_news or {}):
        return PageNews(rule=Rule.NOT_NEWS)
    return PageNews(Fate.ANNOUNCE if waits else Fate.BACKFILL, rule)
