"""From a list to watched sites: pages as seeds, feeds as hubs of the site they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from incremental.errors import InputError
from incremental.seeds import add_seed
from incremental.transfer.lists import Wanted
from incremental.urls import host_of, identity
from store import Store
from store.values import NewHub, SeenLink


@dataclass(frozen=True, slots=True)
class Added:
    """What an import did."""

    sites: int
    """Sites that were not watched before."""
    feeds: int
    """Feeds that are hubs now."""
    known: int
    """Entries whose site was watched already."""
    problems: tuple[str, ...]


def add_all(store: Store, wanted: Sequence[Wanted], *, now: float) -> Added:
    """Watch what a list names. Each entry stands by itself: one that fails stops no other."""
    sites = feeds = known = 0
    problems = []
    watched = {host_of(row.seed_url): row.id for row in store.read.sites()}
    seeds = {row.seed_url for row in store.read.sites()}
    for one in wanted:
        host = host_of(one.url)
        try:
            if one.feed:
                is_new = host not in watched
                site = watched.get(host) or add_seed(store, _home(one.url), now=now)
                watched[host] = site
                store.write.add_pages(site, [_feed(one.url, now)], now=now)
                feeds += 1
            else:
                is_new = one.url not in seeds
                watched.setdefault(host, add_seed(store, one.url, now=now))
                seeds.add(one.url)
        except InputError as error:
            problems.append(f"{one.url}: {error}")
            continue
        sites += is_new
        known += not is_new
    return Added(sites, feeds, known, tuple(problems))


def _home(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/"


def _feed(url: str, now: float) -> SeenLink:
    hub = NewHub("feed", "user", 1.0, "imported as a feed", now)
    return SeenLink(identity=identity(url), url=url, hub=hub)
