"""Feeds that the user gave: which site they are of, and where their entries lead.

::

    first entries of a given feed  ->  learn_site   the scope moves around the articles (a seed), and the
                                                    site's own page is a hub; or the feed is opened: its
                                                    entries count wherever they lie
    a link that only leads on      ->  led_on       the page that it leads to is verified in its place

What the rules are stands in :mod:`incremental.judge.feed_home`.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Protocol

from incremental.crawl.sites import WatchedSite
from incremental.fetch.status import FetchStatus
from incremental.judge.feed_home import FeedSite, feed_site, lies_well
from incremental.judge.outcome import Judgement, base_record
from incremental.parse import Page, PageKind
from incremental.scope import Reach, read_scope, trap
from incremental.times import DAY
from incremental.urls import host_of, identity, normalize
from incremental.visit import Outcome
from store import Store
from store.values import HubRow, KnownPage, LookRow, NewHub, SeenLink, SiteRow, VisitRecord

logger = logging.getLogger("hubwatch.feeds")

GIVEN = ("seed", "user")
MAX_OPEN_FEEDS = 100
"""Feeds of one site whose entries count wherever they lie; an import may name more."""
OVERLOOKED_SECONDS = DAY
"""A page that came up on another hub no longer before its feed than this is as new as its entry."""


class _AsHub(Protocol):
    @property
    def kind(self) -> str: ...
    @property
    def role(self) -> str: ...


def is_given_feed(hub: _AsHub) -> bool:
    """Tell whether the user gave this feed; a seed counts once it was read as one."""
    return hub.kind == "feed" and hub.role in GIVEN


def is_planet(hub: HubRow, site: WatchedSite) -> bool:
    """Tell whether a seed is a feed of many sites: what lies around it is of none of them."""
    return hub.identity in site.scope.open_feeds and site.scope.verdict(hub.url).inside


@dataclass(frozen=True, slots=True)
class Learned:
    """What a feed's first entries taught of its site."""

    scope: str | None
    """The site's new scope, as its row keeps it; None when it stays as it is."""
    home: SeenLink | None
    """The site's own page, a hub from now on; None when the feed is of no site, or has a site already."""


def learn_site(page: Page, hub: HubRow, site: WatchedSite, now: float) -> Learned | None:
    """Learn whose feed it is from its first entries; the scope of *site* is changed at once.

    None when it is no feed of the user's, or was read before. One that was read and whose last answer
    had nothing in scope is learned from again: its site may have moved, or it was empty at first.
    """
    given = page.kind is PageKind.FEED and hub.role in GIVEN
    if not given or _is_learned(hub, site) or not page.links:
        return None
    before = site.row.scope
    found = feed_site(page, hub.url) if hub.role == "seed" else FeedSite(None)
    if found.home is not None and not lies_well(page.links, site.scope):
        site.move(found.home)
        if found.whole_domain and site.scope.reach is Reach.HOST:
            site.set_scope(reach=Reach.DOMAIN)
    if not lies_well(page.links, site.scope):
        feeds = dict.fromkeys((*site.scope.open_feeds, hub.identity))
        site.set_scope(open_feeds=list(feeds)[-MAX_OPEN_FEEDS:])
    scope = site.row.scope if site.row.scope != before else None
    return Learned(scope, _own_page(found.home, hub, site, now))


def _is_learned(hub: HubRow, site: WatchedSite) -> bool:
    """Tell whether a feed's entries have said whose it is; a feed of many sites stays one."""
    is_open = hub.identity in site.scope.open_feeds
    return bool(hub.shown_links) or (hub.baseline_at is not None and is_open)


def _own_page(home: str | None, hub: HubRow, site: WatchedSite, now: float) -> SeenLink | None:
    """Return the page of the site that a feed named as a hub of it.

    It was not given: if it is not there it is left out again.
    """
    if home is None or not site.scope.verdict(home).inside:
        return None
    new = NewHub("html", "home", 1.0, f"the site of the feed {hub.url}", now)
    return SeenLink(identity(home), home, hub=new)


def with_site(judgement: Judgement, learned: Learned | None) -> Judgement:
    """Add what was learned to the record of the visit that taught it."""
    if learned is None:
        return judgement
    record = judgement.record
    more = record.more_pages if learned.home is None else (*record.more_pages, learned.home)
    fields = record.site_fields
    if learned.scope is not None:
        fields = fields | {"scope": learned.scope}
    return replace(judgement, record=replace(record, site_fields=fields, more_pages=more))


def _may_go(hub: HubRow, site: WatchedSite, now: float) -> bool:
    """Tell whether a hub is the seed of its site, a feed whose first entries were read at *now*."""
    own_terms = site.row.requests_per_day is not None or site.scope.include or site.scope.exclude
    if own_terms or hub.baseline_at != now or not hub.shown_links:
        return False
    return is_given_feed(hub) and hub.role == "seed" and not is_planet(hub, site)


class GivenFeeds:
    """Finds the pages that entries of given feeds lead on to. The crawler's thread owns it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def led_on(
        self, outcome: Outcome, row: LookRow, site: WatchedSite, now: float
    ) -> VisitRecord | None:
        """Return the record of an entry that only led on to another host; None for any other look.

        The page that it led to is verified next, and announced in its place.
        """
        location = normalize(outcome.response.location or "")
        redirected = outcome.response.status is FetchStatus.REDIRECTED
        if location is None or not redirected or row.state != "pending" or trap(location):
            return None
        if not self._may_lead(row, location, site):
            return None
        moved_to = self._verified_next(location, row, site, now)
        fields: dict[str, object] = {
            "state": "moved",
            "moved_to": moved_to,
            "look_due_at": None,
            "looked_at": now,
        }
        return replace(
            base_record(outcome, now),
            page_fields=fields,
            page_change="moved",
            change_detail=location,
        )

    def handed_over(self, page_id: int, site: WatchedSite, now: float) -> bool:
        """Give a feed to the site that is watched already and that it turned out to be of.

        To be asked after the feed's first entries, which tell that; later the feed has a site with a
        history. Its own site, which would announce everything a second time, is withdrawn; one that was
        added on terms of its own stays, and so does one that has announced anything or was judged.
        """
        hub = self._store.read.hub(page_id)
        if hub is None or not _may_go(hub, site, now):
            return False
        other = self._watching(site)
        if other is None or self._store.read.has_history(site.row.id):
            return False
        new = NewHub("feed", "user", 1.0, "given by you", now)
        self._store.write.add_pages(other.id, [SeenLink(hub.identity, hub.url, hub=new)], now=now)
        # First the hub: killed in between, the feed is read twice and not lost.
        if not self._store.write.withdraw_site(site.row.id):
            return False
        logger.info("%s is a feed of %s, which is watched already", hub.url, other.name)
        return True

    def _watching(self, site: WatchedSite) -> SiteRow | None:
        """Return another site that has the home of this one in its scope, and lies there itself."""
        home = site.scope.seed_url
        for row in self._store.read.sites():
            scope = read_scope(row)
            near = row.id != site.row.id and scope.verdict(home).inside
            if near and row.state == "active" and scope.reach is not Reach.ANYWHERE:
                return row
        return None

    def rename(self, page_id: int, site: WatchedSite) -> None:
        """Call a site that was given as a feed after the host of its articles, once that is known."""
        hub = self._store.read.hub(page_id)
        home = site.scope.seed_url
        if hub is None or not is_given_feed(hub) or hub.role != "seed" or home == hub.url:
            return
        self._store.write.rename_site(site.row.id, host_of(home).removeprefix("www."), home)

    def _may_lead(self, row: LookRow, location: str, site: WatchedSite) -> bool:
        """Tell whether a given feed itself shows the page, or one more redirect comes home.

        So a chain of redirects between strange hosts ends after the first.
        """
        hub = self._store.read.hub(row.first_hub_id) if row.first_hub_id is not None else None
        if hub is None or not is_given_feed(hub):
            return False
        on_feed = row.page_id in self._store.read.visible(hub.page_id)
        return on_feed or site.scope.verdict(location).inside

    def _verified_next(self, url: str, row: LookRow, site: WatchedSite, now: float) -> int:
        """Plan the look at the page itself, unless it was announced or known for long; return its id."""
        known = self._store.read.known(site.row.id, [identity(url)]).get(identity(url))
        if known is None:
            return self._added(url, row, site, now)
        if self._was_overlooked(known, row):
            self._store.write.update_page(known.id, state="pending", look_due_at=now)
            site.urgent.verify(known.id)
        return known.id

    def _added(self, url: str, row: LookRow, site: WatchedSite, now: float) -> int:
        entry = self._store.read.page(row.page_id) or {}
        link = SeenLink(
            identity(url),
            url,
            row.anchor,
            published_at=entry.get("published_at"),
            state="pending",
            look_due_at=now,
            look_score=entry.get("look_score"),
            link_context=row.link_context,
        )
        # Before the entry's own record is written: killed in between, the entry is fetched once more.
        ids = self._store.write.add_pages(site.row.id, [link], now=now, hub_id=row.first_hub_id)
        site.urgent.verify(ids[link.identity])
        return ids[link.identity]

    def _was_overlooked(self, known: KnownPage, row: LookRow) -> bool:
        """Tell whether a known page became known only about when the feed showed its entry."""
        entry = self._store.read.page(row.page_id) or {}
        since = float(entry.get("first_seen_at", 0.0)) - OVERLOOKED_SECONDS
        silent = known.state == "known" and known.announced_at is None and not known.is_hub
        return silent and known.first_seen_at > since
