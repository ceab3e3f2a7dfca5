"""What a store lists as new."""

from __future__ import annotations

from collections import Counter

from store import Store
from store.answers import NewQuery


def new_pages(store: Store) -> Counter[str]:
    """Return how often each address is in the list of new pages; backfills are left out."""
    counts = Counter[str]()
    query: NewQuery | None = NewQuery(limit=1_000, order="oldest")
    while query is not None:
        answer = store.answers.new(query)
        counts.update(row.url for row in answer.rows)
        after = answer.cursor
        query = NewQuery(limit=1_000, order="oldest", after=after) if answer.more else None
    return counts
