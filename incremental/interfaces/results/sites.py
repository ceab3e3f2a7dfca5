"""Watched sites, and what came of adding some."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from incremental.base.errors import InputError
from incremental.interfaces.results.schema import result_of
from incremental.interfaces.site_editing import site_terms
from incremental.settings import Settings
from incremental.settings.seeds import SeedTerms, add_seed
from store import Store
from store.values import SiteRow

NO_PAGES = {"pages": 0, "hubs": 0, "new_pages": 0}


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


@dataclass(frozen=True, slots=True)
class AddedSite:
    """The result for one seed."""

    url: str
    site_id: int | None = None
    error: str | None = None


def add_sites(  # noqa: PLR0913 - each bears on it
    store: Store,
    settings: Settings,
    urls: Sequence[str],
    *,
    terms: SeedTerms | None,
    tags: tuple[str, ...],
    now: float,
) -> list[AddedSite]:
    """Watch the sites of *urls*; each has a result of its own. No *terms*: a known site keeps its own."""
    results = []
    for url in urls:
        try:
            site_id = add_seed(store, url, now=now, terms=terms, fetch=settings.fetch)
        except InputError as error:
            results.append(AddedSite(url, error=str(error)))
            continue
        if tags:
            store.tags.set_site_tags(site_id, tags)
        results.append(AddedSite(url, site_id))
    return results
