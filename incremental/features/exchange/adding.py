"""From a list to watched sites: pages become seeds, feeds become hubs of their site.

A page within the scope of a watched site becomes a hub of it, as with ``add``. A feed of no known site
becomes a seed, and its first entries name the site. A new site gets the name that the list has for it and is
paused if it is switched off there; every site gets the folders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from incremental.base.errors import InputError
from incremental.base.lookup import called_article, site_numbered
from incremental.base.scope import Scope, read_scope
from incremental.base.tagging import add_tags, give_name
from incremental.base.texts import Text, hub_why
from incremental.base.urls import canonical_key, domain_of
from incremental.features.exchange.lists import ReadList, Wanted
from incremental.fetch.options import FetchSettings
from incremental.settings.seeds import add_seed, check_address
from store import Store
from store.enums import HubKind, HubRole, SiteStatus
from store.values import NewHub, SeenLink, SiteRow

Result = Literal["watched", "feed", "hub", "known", "refused"]
"""What an entry became: a site, a feed or another hub of a site, nothing new, or refused."""


@dataclass(frozen=True, slots=True)
class AddedEntry:
    """The result of one entry."""

    url: str
    result: Result
    site: str = ""
    """Name of its site; empty if refused."""
    new_site: bool = False
    """Its site was not watched before."""
    why: str = ""
    """Why it was refused, for display."""
    folders: tuple[str, ...] = ()
    """The folders of its site now."""
    paused: bool = False
    """Its site is new and paused, as in the list."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of a file."""

    sites: int
    """New sites."""
    feeds: int
    """Feeds added as hubs."""
    known: int
    """Entries of sites already watched, their new hubs included."""
    problems: Sequence[str]
    """Entries that cannot be used, with the reason."""
    entries: Sequence[AddedEntry]
    format: str
    skipped: Sequence[str]
    """Entries for which there is nothing to do, with place and reason."""
    dry_run: bool


def import_all(
    store: Store, found: ReadList, fetch: FetchSettings, *, now: float, dry_run: bool = False
) -> Imported:
    """Watch the sites of a list that was read; a failing entry stops no other.

    *fetch* settings also refuse addresses here. *dry_run*: write nothing; the result is the same.
    """
    # One transaction: twenty thousand would each wait for the disk.
    with store.write.together(undo=dry_run):
        adding = _Adding(store, now, fetch)
        entries = tuple(_added(adding, one) for one in found.wanted)
    taken = [one for one in entries if one.result != "refused"]
    refused = [f"{one.url}: {one.why}" for one in entries if one.result == "refused"]
    return Imported(
        sites=sum(one.new_site for one in taken),
        feeds=sum(one.result == "feed" for one in taken),
        known=sum(not one.new_site for one in taken),
        problems=[*found.problems, *refused],
        entries=entries,
        format=found.format,
        skipped=found.skipped,
        dry_run=dry_run,
    )


def _added(adding: _Adding, one: Wanted) -> AddedEntry:
    try:
        return adding.take(one)
    except InputError as error:
        why = error.way_out if error.value == one.url else error
        return AddedEntry(one.url, "refused", why=str(why))


class _Adding:
    """One import."""

    def __init__(self, store: Store, now: float, fetch: FetchSettings) -> None:
        # In memory, because a list may hold thousands of sites.
        self._store = store
        self._now = now
        self._fetch = fetch
        self._sites: dict[int, SiteRow] = {}
        self._scopes: dict[int, Scope] = {}
        # Ids by registered domain; empty for scopes that do not end there.
        self._domains: dict[str, list[int]] = {}
        hubs = store.read.hubs()
        self._feeds = {hub.url for hub in hubs if hub.kind == HubKind.FEED}
        self._hubs = {hub.canonical_key for hub in hubs}
        # Without a hub a site is known for a watched page alone.
        watched = {hub.site_id for hub in hubs}
        for row in store.read.sites():
            if row.id in watched:
                self._learn(row)

    def take(self, one: Wanted) -> AddedEntry:
        """Watch a page's or feed's site, or the page or feed as a hub of a watched site."""
        site, is_new = self._site_of(one)
        result = self._feed(one.url, site) if one.feed else self._page(one.url, site, is_new=is_new)
        if is_new:
            give_name(self._store, site, one.name)
            if one.paused:
                self._store.write.update_site(site.id, state=SiteStatus.PAUSED)
            site = self._sites[site.id] = site_numbered(self._store, site.id)
        folders = add_tags(self._store, site.id, one.folders)
        paused = is_new and one.paused
        return AddedEntry(one.url, result, site.name, is_new, folders=folders, paused=paused)

    def _site_of(self, one: Wanted) -> tuple[SiteRow, bool]:
        """Return the site of an entry, and whether it is a new one.

        That of the page which the list names for a feed (``htmlUrl``), whatever its host: the site with this
        seed, else a watched one whose scope contains the page, else a new one.
        """
        for url in filter(None, (one.url, one.home)):
            check_address(url, self._fetch)
        address = one.home or one.url
        is_seed = self._store.read.site_by_seed(address) is not None
        around = None if is_seed else self._around(address, of_feed=one.feed)
        if around is not None:
            return around, False
        is_feed = one.feed and one.home is None
        site_id = add_seed(self._store, address, now=self._now, feed=is_feed)
        self._hubs.add(canonical_key(address))
        is_new = site_id not in self._sites
        if is_new:
            self._learn(site_numbered(self._store, site_id))
        return self._sites[site_id], is_new

    def _page(self, url: str, site: SiteRow, *, is_new: bool) -> Result:
        key = canonical_key(url)
        if is_new or key in self._hubs:
            return "watched" if is_new else "known"
        if called_article(self._store, key):
            raise InputError("url", url, Text("input.is_article"))
        # By the scheme with which the site is read.
        at = f"{site.seed_url.partition('://')[0]}://{url.partition('://')[2]}"
        self._put_hub(site, at, HubKind.HTML, "given")
        return "hub"

    def _feed(self, url: str, site: SiteRow) -> Result:
        if url in self._feeds:
            return "known"
        if site.seed_url != url:
            self._put_hub(site, url, HubKind.FEED, "imported")
        self._feeds.add(url)
        return "feed"

    def _put_hub(self, site: SiteRow, url: str, kind: HubKind, why: str) -> None:
        key = canonical_key(url)
        hub = NewHub(kind, HubRole.USER, 1.0, hub_why(why), self._now)
        self._store.write.add_pages(site.id, [SeenLink(key, url, hub=hub)], now=self._now)
        self._hubs.add(key)

    def _around(self, url: str, *, of_feed: bool) -> SiteRow | None:
        """Return the watched site whose scope contains *url*.

        For a feed, none whose seed is a feed; for a page, none that is paused: nothing would visit it there.
        """
        there = (*self._domains.get(domain_of(url), ()), *self._domains.get("", ()))
        for site_id in sorted(there):
            row = self._sites[site_id]
            is_apart = row.seed_url in self._feeds if of_feed else row.state == SiteStatus.PAUSED
            if not is_apart and self._scopes[site_id].holds(url):
                return row
        return None

    def _learn(self, row: SiteRow) -> None:
        scope = read_scope(row)
        self._sites[row.id], self._scopes[row.id] = row, scope
        self._domains.setdefault(scope.domain, []).append(row.id)
