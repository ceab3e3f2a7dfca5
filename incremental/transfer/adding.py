"""From a list to watched sites: pages as seeds, feeds as hubs of the site they belong to.

A feed belongs to the site that the list names beside it (``htmlUrl``), whatever host it lies on. Where
the list names none, a watched site in whose scope it lies has it, unless that site was itself learned
from a feed; otherwise it is a seed, and its first entries name the site.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from incremental.errors import InputError
from incremental.scope import read_scope
from incremental.seeds import add_seed, check_address
from incremental.transfer.lists import Wanted
from incremental.urls import canonical_key
from store import Store
from store.enums import HubKind, HubRole
from store.values import NewHub, SeenLink, SiteRow

if TYPE_CHECKING:
    from incremental.fetch.options import FetchSettings

Result = Literal["watched", "feed", "known", "refused"]
"""What an entry became: a site of its own, a hub of a site, nothing new, or nothing at all."""


@dataclass(frozen=True, slots=True)
class AddedEntry:
    """What became of one entry of a list."""

    url: str
    result: Result
    site: str = ""
    """Name of the site that has it; empty for what was refused."""
    seed: bool = False
    """It is a feed that nothing but its entries can name a site for."""
    new_site: bool = False
    """Its site was not watched before."""
    why: str = ""
    """For what was refused; for people."""


@dataclass(frozen=True, slots=True)
class Added:
    """What an import did."""

    entries: tuple[AddedEntry, ...]

    @property
    def sites(self) -> int:
        """Count the sites that were not watched before."""
        return sum(one.new_site for one in self.entries)

    @property
    def feeds(self) -> int:
        """Count the feeds that are hubs now."""
        return sum(one.result == "feed" for one in self.entries)

    @property
    def known(self) -> int:
        """Count the entries whose site was watched already."""
        return sum(not one.new_site and one.result != "refused" for one in self.entries)

    @property
    def problems(self) -> tuple[str, ...]:
        """Say what was refused and why."""
        refused = (one for one in self.entries if one.result == "refused")
        return tuple(f"{one.url}: {one.why}" for one in refused)


def add_all(
    store: Store, wanted: Sequence[Wanted], *, now: float, fetch: FetchSettings | None = None
) -> Added:
    """Watch what a list names; an entry that fails stops no other.

    With *fetch* an address that its settings refuse is refused here.
    """
    adding = _Adding(store, now, fetch)
    entries = []
    for one in wanted:
        try:
            entries.append(adding.feed(one) if one.feed else adding.page(one.url))
        except InputError as error:
            entries.append(AddedEntry(one.url, "refused", why=str(error)))
    return Added(tuple(entries))


class _Adding:
    """One import under way; keeps the sites in memory, because a list may hold thousands."""

    def __init__(self, store: Store, now: float, fetch: FetchSettings | None) -> None:
        self._store = store
        self._now = now
        self._fetch = fetch
        self._sites = {row.id: row for row in store.read.sites()}
        self._scopes = {row.id: read_scope(row) for row in self._sites.values()}
        self._feeds = {hub.url for hub in store.read.hubs() if hub.kind == HubKind.FEED}

    def page(self, url: str) -> AddedEntry:
        """Watch the site of a page."""
        self._check(url)
        site, is_new = self._site_of_seed(url)
        return AddedEntry(url, "watched" if is_new else "known", site.name, new_site=is_new)

    def feed(self, one: Wanted) -> AddedEntry:
        """Watch a feed for the site that it is of."""
        self._check(one.url)
        site, is_new = self._site_of_feed(one)
        known = one.url in self._feeds
        if not known and site.seed_url != one.url:
            self._store.write.add_pages(site.id, [_feed(one.url, self._now)], now=self._now)
        self._feeds.add(one.url)
        is_seed = site.seed_url == one.url
        return AddedEntry(
            one.url, "known" if known else "feed", site.name, seed=is_seed, new_site=is_new
        )

    def _check(self, url: str) -> None:
        if self._fetch is not None:
            check_address(url, self._fetch)

    def _site_of_feed(self, one: Wanted) -> tuple[SiteRow, bool]:
        if one.home is not None:
            self._check(one.home)
            return self._around(one.home) or self._site_of_seed(one.home)
        return self._around(one.url) or self._site_of_seed(one.url, feed=True)

    def _around(self, url: str) -> tuple[SiteRow, bool] | None:
        """Return the watched site in whose scope *url* lies, unless it was itself given as a feed."""
        for site_id, scope in self._scopes.items():
            row = self._sites[site_id]
            if row.seed_url not in self._feeds and scope.verdict(url).inside:
                return row, False
        return None

    def _site_of_seed(self, url: str, *, feed: bool = False) -> tuple[SiteRow, bool]:
        before = set(self._sites)
        site_id = add_seed(self._store, url, now=self._now, feed=feed)
        if site_id not in before:
            (row,) = [row for row in self._store.read.sites() if row.id == site_id]
            self._sites[site_id], self._scopes[site_id] = row, read_scope(row)
        return self._sites[site_id], site_id not in before


def _feed(url: str, now: float) -> SeenLink:
    hub = NewHub(HubKind.FEED, HubRole.USER, 1.0, "imported as a feed", now)
    return SeenLink(canonical_key=canonical_key(url), url=url, hub=hub)
