"""What a store lists as new."""

from collections import Counter
from dataclasses import replace

from store import Store
from store.answers import NewQuery
from store.answers.announced import AnnouncedPage


def listed(store: Store, topic: int | None = None) -> list[AnnouncedPage]:
    """Return the list of new pages, the oldest first; backfills are left out."""
    rows: list[AnnouncedPage] = []
    query: NewQuery | None = NewQuery(limit=1_000, order="oldest", topic=topic)
    while query is not None:
        answer = store.answers.new(query)
        rows += answer.rows
        after = answer.cursor
        query = replace(query, after=after) if answer.more else None
    return rows


def new_pages(store: Store) -> Counter[str]:
    """Return how often each address is in the list of new pages."""
    return Counter(row.url for row in listed(store))
