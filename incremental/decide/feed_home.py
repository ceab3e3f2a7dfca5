"""Which site a feed belongs to, by its own link and its entries. Pure.

A feed need not be where its articles are (``feeds.example.net`` for ``example.com``, FeedBurner)::

    most entries inside the site's scope            nothing to learn
    most entries on one registered domain           that is the site, unless it only counts clicks
    ... which is a counting service's, or the       the site is the one that the feed links to as its own;
        feed's own and not that of its own link     the entries redirect to it
    entries on many domains (a planet)              no site: only the feed is watched, and its entries
                                                    count on any host

"Most" is :data:`MOST` of the entries. A registered domain counts together with its port.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from incremental.base.scope import Reach, Scope
from incremental.base.texts import hub_why
from incremental.base.urls import canonical_key, domain_and_port, host_of, normalize
from incremental.parse import Link, Page, PageKind
from store.enums import HubKind, HubRole
from store.values import HubRow, NewHub, SeenLink, SiteRow

# Share of a feed's entries that identifies its site: a blog that links elsewhere now and then has more,
# and no member of a planet of two dozen blogs has as much.
MOST = 0.6
# Services that replace each entry's URL by a redirect of their own; subdomains included.
COUNTING_HOSTS = ("feedproxy.google.com", "feedburner.com", "feedblitz.com", "feedsportal.com")
GIVEN = (HubRole.SEED, HubRole.USER)
# Feeds of one site whose entries count on any host; an import may name more.
MAX_OPEN_FEEDS = 100


@dataclass(frozen=True, slots=True)
class FeedSite:
    """The site that a feed belongs to."""

    home: str | None
    """The site's home in fetch form; None = the articles are on many sites."""
    whole_domain: bool = False
    """The articles are spread over several hosts of the domain."""


def lies_well(links: Sequence[Link], scope: Scope) -> bool:
    """Whether most entries are inside *scope* by any of their URLs; a counting service's never is."""
    inside = sum(
        any(scope.holds(url) and not _counts(host_of(url)) for url in _addresses(link))
        for link in links
    )
    return inside >= MOST * len(links)


def feed_site(page: Page, feed_url: str) -> FeedSite:
    """Return the site of a feed, which has at least one entry."""
    own = normalize(page.home_url or "")
    entries = [urls for link in page.links if (urls := _addresses(link))]
    if own is not None and _share(entries, domain_and_port(own)) >= MOST:
        return _around(entries, own, domain_and_port(own))
    first = Counter(domain_and_port(urls[0]) for urls in entries)
    top, count = first.most_common(1)[0] if first else ("", 0)
    if not top or count < MOST * len(entries):
        return FeedSite(None)
    here = domain_and_port(feed_url)
    counts_clicks = top == here or any(_counts(host_of(url)) for url in _of_key(entries, top))
    if counts_clicks and own is not None and domain_and_port(own) != here:
        return FeedSite(own)
    return _around(entries, own, top)


def leading_hosts(links: Sequence[Link], scope: Scope) -> frozenset[str]:
    """Return hosts outside *scope* that may only redirect: counting services, the host of most entries."""
    found = [host_of(urls[0]) for link in links if (urls := _addresses(link))]
    outside = {host_of(u) for link in links for u in _addresses(link) if not scope.holds(u)}
    common = {host for host, count in Counter(found).items() if count >= MOST * len(links)}
    return frozenset(host for host in outside if host in common or _counts(host))


def _addresses(link: Link) -> list[str]:
    return [url for address in (link.url, *link.others) if (url := normalize(address)) is not None]


def _of_key(entries: Sequence[Sequence[str]], key: str) -> list[str]:
    return [url for urls in entries for url in urls if domain_and_port(url) == key]


def _share(entries: Sequence[Sequence[str]], key: str) -> float:
    having = sum(any(domain_and_port(url) == key for url in urls) for urls in entries)
    return having / len(entries) if entries else 0.0


def _around(entries: Sequence[Sequence[str]], own: str | None, key: str) -> FeedSite:
    """Return the site of domain *key*."""
    urls = _of_key(entries, key)
    hosts = Counter(urlsplit(url).netloc.removeprefix("www.") for url in urls)
    host, count = hosts.most_common(1)[0]
    # The scope must cover the articles: without a host that has most of them it is the whole domain.
    wide = count < MOST * len(urls)
    if own is not None and (urlsplit(own).netloc.removeprefix("www.") == host or wide):
        return FeedSite(own, whole_domain=wide)
    parts = urlsplit(next(u for u in urls if urlsplit(u).netloc.removeprefix("www.") == host))
    return FeedSite(f"{parts.scheme}://{parts.netloc}/", whole_domain=wide)


def _counts(host: str) -> bool:
    return any(host == name or host.endswith(f".{name}") for name in COUNTING_HOSTS)


def is_given_feed(hub: HubRow | NewHub) -> bool:
    """Whether the user gave this feed; a seed counts once it was read as a feed."""
    return hub.kind == HubKind.FEED and hub.role in GIVEN


def is_planet(hub: HubRow, scope: Scope) -> bool:
    """Whether a seed is a feed of many sites, so that pages near it belong to none of them."""
    return hub.canonical_key in scope.open_feeds and scope.holds(hub.url)


@dataclass(frozen=True, slots=True)
class LearnedSite:
    """What a feed's first entries say about its site."""

    rules: str | None
    """The site's new scope as JSON; None = unchanged."""
    scope: Scope
    """The scope from now on."""
    home: SeenLink | None
    """The site's home page, a hub from now on; None = the feed has no site, or had one before."""


def learn_site(page: Page, hub: HubRow, row: SiteRow, now: float) -> LearnedSite | None:
    """Learn a feed's site from its first entries; None = not given by the user, or read before."""
    if page.kind is not PageKind.FEED or hub.role not in GIVEN or not page.links:
        return None
    rules, scope = row.scope, Scope.from_rules(row.seed_url, row.scope)
    # A feed of many sites stays one.
    is_open = hub.canonical_key in scope.open_feeds
    # A feed that last had nothing in scope is learned from again: its site may have moved, or it was
    # empty at first.
    learned = bool(hub.shown_links) or (hub.baseline_at is not None and is_open)
    if learned:
        return None
    found = feed_site(page, hub.url) if hub.role == HubRole.SEED else FeedSite(None)
    if found.home is not None and not lies_well(page.links, scope):
        rules = changed_rules(rules, home=found.home)
        if found.whole_domain and scope.reach is Reach.HOST:
            rules = changed_rules(rules, reach=Reach.DOMAIN)
        scope = Scope.from_rules(row.seed_url, rules)
    if not lies_well(page.links, scope):
        feeds = dict.fromkeys((*scope.open_feeds, hub.canonical_key))
        rules = changed_rules(rules, open_feeds=list(feeds)[-MAX_OPEN_FEEDS:])
        scope = Scope.from_rules(row.seed_url, rules)
    changed = rules if rules != row.scope else None
    return LearnedSite(changed, scope, _own_page(found.home, hub, scope, now))


def changed_rules(rules: str, **changes: object) -> str:
    """Return the JSON of a scope with *changes*."""
    return json.dumps({**json.loads(rules), **changes}, ensure_ascii=False)


def _own_page(home: str | None, hub: HubRow, scope: Scope, now: float) -> SeenLink | None:
    """Return the home page that a feed named."""
    if home is None or not scope.holds(home):
        return None
    # Not a seed: nobody gave it, so it is dropped if it does not exist.
    new = NewHub(HubKind.HTML, HubRole.HOME, 1.0, hub_why("feed_site", feed=hub.url), now)
    return SeenLink(canonical_key(home), home, hub=new)


def may_hand_over(hub: HubRow, row: SiteRow, scope: Scope, now: float) -> bool:
    """Whether a hub is its site's seed and a feed whose first entries were read at *now*."""
    own_terms = row.requests_per_day is not None or scope.include or scope.exclude
    # Only at its first reading: a feed that once came without entries was taken for a new one when it
    # filled again, and its own site was removed with all its history.
    if own_terms or hub.baseline_at != now or not hub.shown_links:
        return False
    return is_given_feed(hub) and hub.role == HubRole.SEED and not is_planet(hub, scope)
