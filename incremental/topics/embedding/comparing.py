"""Comparing pages that just got a vector with those announced at about the same time.

::

    new vectors ── by time ──> a window of the store: vectors announced four days before and after
                               ──> translations.py, which asks for the texts of what is near
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from classifier.embedding.packing import unsqueezed
from classifier.topic.language import language_of
from incremental.topics.embedding.agreement import SECONDS
from incremental.topics.embedding.translations import (
    MOST_RECENT,
    Bounds,
    Comparison,
    Window,
    bounds_of,
    comparable,
)
from store import Store
from store.translations import Compared, RecentVector
from store.vectors import Space


def compare(store: Store, space: Space, vectors: Sequence[tuple[int, bytes]]) -> Compared:
    """Return the translations of pages with new vectors, which the store need not have yet."""
    bounds = bounds_of(space.name)
    if bounds is None or not vectors:
        return Compared()
    facts = store.translations.facts([page for page, _ in vectors])
    new = [
        RecentVector(page, of.found_at, of.language, of.title, vector)
        for page, vector in vectors
        if (of := facts.get(page)) is not None
    ]
    outcomes = [_compared(store, space, part, bounds) for part in _by_time(new)]
    return Compared(
        tuple(page for one in outcomes for page in one.page_ids),
        tuple(pair for one in outcomes for pair in one.found),
    )


def _by_time(new: list[RecentVector]) -> Iterator[list[RecentVector]]:
    """Yield pages in parts that were announced within four days: one window holds all that is near them."""
    part: list[RecentVector] = []
    for one in sorted(new, key=lambda page: page.found_at):
        if part and one.found_at - part[0].found_at > SECONDS:
            yield part
            part = []
        part.append(one)
    if part:
        yield part


def _compared(store: Store, space: Space, new: list[RecentVector], bounds: Bounds) -> Compared:
    known = store.translations.recent(
        space.id,
        since=new[0].found_at - SECONDS,
        until=new[-1].found_at + SECONDS,
        most=MOST_RECENT,
    )
    ids = {one.page_id for one in new}
    # An endpoint may change its model under one name: what has another length says nothing.
    length = len(new[0].vector)
    pages = [*new, *(one for one in known if one.page_id not in ids)]
    pages = [one for one in pages if len(one.vector) == length]
    languages = [one.language or language_of(one.title) for one in pages]
    if len(set(languages)) == 1:
        return Compared()
    window = Window(
        np.array([one.page_id for one in pages], np.int64),
        np.array([one.found_at for one in pages], np.float64),
        languages,
        comparable(unsqueezed([one.vector for one in pages]), languages, space.name),
    )
    comparison = Comparison(window, bounds, store.translations.facts)
    return comparison.outcome([one.page_id for one in new])
