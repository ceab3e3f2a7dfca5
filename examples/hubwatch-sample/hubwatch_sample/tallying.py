"""How many pages each site has announced."""

from __future__ import annotations

from store import Store


def tallies(store: Store) -> dict[str, int]:
    """Return the number of announced pages by site."""
    counts = store.answers.counts()
    return {
        site.name: counts[site.id].announced for site in store.read.sites() if site.id in counts
    }
