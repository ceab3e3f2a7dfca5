"""Watched sites, what came of adding some, and what is understood of a new one so far."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from classifier.hub.labels import HUB
from incremental.base.errors import InputError
from incremental.base.lookup import check_tag
from incremental.base.scope import read_scope
from incremental.base.times import HOUR, MINUTE, NEVER
from incremental.base.urls import canonical_key, host_of
from incremental.crawl.sites import watch
from incremental.interfaces.results.schema import result_of
from incremental.interfaces.site_editing import site_terms
from incremental.settings import Settings
from incremental.settings.seeds import SeedTerms, add_seed, check_address, usable_seed
from incremental.topics.training.corrections import correct
from store import Store
from store.enums import SiteStatus
from store.values import SiteRow

NO_PAGES = {"pages": 0, "hubs": 0, "candidates": 0, "new_pages": 0}


@dataclass(frozen=True, slots=True)
class Site:
    """A watched site; budget, intervals and hours are null where the settings decide."""

    id: int
    name: str
    seed: str
    state: str
    """active or paused."""
    reach: str
    include: list[str]
    exclude: list[str]
    requests_per_day: float | None
    min_interval_minutes: float | None
    max_interval_hours: float | None
    hours: list[str] | None
    tags: list[str]
    added_at: datetime
    origin: dict[str, Any]
    """Of a site that was found: on which page, for which topic."""
    pages: int
    hubs: int
    """Those that were read and will be again."""
    candidates: int
    """Addresses that look like hubs and were not read yet."""
    new_pages: int


def site_results(store: Store, rows: Iterable[SiteRow]) -> list[Site]:
    """Return sites with their terms, tags and totals."""
    totals, tags = store.read.site_totals(), store.tags.of_sites()
    return [
        result_of(
            Site,
            row,
            **site_terms(row),
            **totals.get(row.id, NO_PAGES),
            seed=row.seed_url,
            tags=tags.get(row.id, []),
            origin=json.loads(row.origin),
        )
        for row in rows
    ]


def listed_sites(store: Store, tag: str | None) -> list[Site]:
    """Return all sites in the order they were added, or those with *tag*.

    Raises:
        NotFoundError: no site and no topic has the tag.
    """
    if tag is not None:
        check_tag(store, tag)
    return [one for one in site_results(store, store.read.sites()) if tag in {None, *one.tags}]


@dataclass(frozen=True, slots=True)
class AddedSite:
    """The result for one seed."""

    url: str
    site_id: int | None = None
    hub_of: str | None = None
    """The watched site that this page is a hub of from now on; null if it is a site of its own."""
    error: str | None = None


class AddingSites:
    """Adds the sites of seeds, one after another. No *terms*: a known site keeps its own."""

    def __init__(
        self, store: Store, settings: Settings, *, terms: SeedTerms | None = None, now: float
    ) -> None:
        self._store, self._fetch = store, settings.fetch
        self._terms, self._now = terms, now
        self._on_host: dict[str, list[int]] = {}
        for site_id, seed in store.read.seeds().items():
            self._on_host.setdefault(_bare_host(seed), []).append(site_id)

    def add(self, text: str) -> tuple[int, str | None]:
        """Watch the site of a seed; return its id, and the name of the watched site that it is a hub of.

        Without terms of its own, a page within the scope of a watched site becomes a hub of that site:
        two sites of one host would announce everything twice. The address of a site that could never be
        read with the other scheme replaces it.

        Raises:
            InputError: the seed or a pattern of its scope is not usable.
        """
        url = usable_seed(text)
        around = self._sites_around(url)
        for row, was_read in around:
            if not was_read and _without_scheme(row.seed_url) == _without_scheme(url):
                check_address(url, self._fetch)
                self._store.write.replace_seed(row.id, canonical_key(url), url, now=self._now)
                return row.id, None
        watching = [row for row, _ in around if row.state == SiteStatus.ACTIVE]
        if watching:
            # With the scheme by which the site is read.
            scheme = watching[0].seed_url.partition("://")[0]
            url = f"{scheme}://{_without_scheme(url)}"
            correct(self._store, url, HUB, now=self._now)
            return watching[0].id, watching[0].name
        site_id = add_seed(self._store, url, now=self._now, terms=self._terms, fetch=self._fetch)
        self._on_host.setdefault(_bare_host(url), []).append(site_id)
        return site_id, None

    def _sites_around(self, url: str) -> list[tuple[SiteRow, bool]]:
        """Return the sites that a page may be part of, and whether each was ever read.

        None if the page is a site, or has terms of its own.
        """
        has_terms = self._terms is not None and self._terms != SeedTerms()
        known = self._on_host.get(_bare_host(url), [])
        if has_terms or not known or self._store.read.site_by_seed(url):
            return []
        around = []
        for row in self._store.read.sites_by_id(known):
            hubs = self._store.read.hubs(row.id)
            # Without a hub a site is known for a watched page alone.
            if hubs and read_scope(row).holds(url):
                around.append((row, any(hub.baseline_at is not None for hub in hubs)))
        return around


def _without_scheme(url: str) -> str:
    return url.partition("://")[2]


def _bare_host(url: str) -> str:
    return host_of(url).removeprefix("www.")


def add_sites(  # noqa: PLR0913 - each bears on it
    store: Store,
    settings: Settings,
    urls: Sequence[str],
    *,
    terms: SeedTerms | None,
    tags: tuple[str, ...],
    now: float,
    say: Callable[[InputError], str] = str,
) -> list[AddedSite]:
    """Watch the sites of *urls*; each has a result of its own. No *terms*: a known site keeps its own.

    *say* puts what is wrong with a URL into words.
    """
    adding, results = AddingSites(store, settings, terms=terms, now=now), []
    for url in urls:
        try:
            site_id, hub_of = adding.add(url)
        except InputError as error:
            results.append(AddedSite(url, error=say(error)))
            continue
        if tags and hub_of is None:
            store.tags.set_site_tags(site_id, tags)
        results.append(AddedSite(url, site_id, hub_of))
    return results


@dataclass(frozen=True, slots=True)
class Understood:
    """What is known of a site's hubs, and its terms."""

    hubs: int
    """Read, and to be read again."""
    candidates: int
    """Not read yet."""
    goes_on: bool
    """More candidates are read at once, beyond the budget."""
    requests_per_day: float
    min_minutes: float
    max_hours: float
    news_from: float | None
    """When a hub is looked at again for the first time (unix seconds); None = none was read yet."""


def understood(store: Store, settings: Settings, row: SiteRow, now: float) -> Understood:
    """Return what is known of a site's hubs."""
    site = watch(row, settings)
    planned = [hub for hub in store.read.hubs(row.id) if hub.due_at < NEVER]
    read = [hub for hub in planned if hub.visits]
    awaited = any(hub.due_at <= now for hub in planned if not hub.visits)
    active = row.state == SiteStatus.ACTIVE
    baselines = [hub.baseline_at for hub in read if hub.baseline_at is not None]
    return Understood(
        hubs=len(read),
        candidates=len(planned) - len(read),
        goes_on=active and awaited and site.has_grant(now),
        requests_per_day=site.terms.requests_per_day,
        min_minutes=site.terms.min_interval_seconds / MINUTE,
        max_hours=site.terms.max_interval_seconds / HOUR,
        news_from=min(baselines) + site.terms.min_interval_seconds if baselines else None,
    )
