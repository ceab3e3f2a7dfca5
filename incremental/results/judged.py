"""Why a topic's list is empty: its pages were judged irrelevant, or not judged yet."""

from __future__ import annotations

from dataclasses import dataclass, replace

from store import Store
from store.answers import NewQuery

# Looked at, of the latest.
MOST_JUDGED = 200


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of the pages of a topic's empty list, of the latest :data:`MOST_JUDGED` at most."""

    irrelevant: int
    waiting: int
    """New pages without a judgement of the topic."""


def judged_for(store: Store, query: NewQuery) -> Judged:
    """Count the pages behind a topic's list that hides irrelevant pages and is empty."""
    of_topic = replace(query, hidden_verdict=None, min_score=None, limit=MOST_JUDGED)
    irrelevant = len(store.answers.new(of_topic).rows)
    every = len(store.answers.new(replace(of_topic, topic=None)).rows)
    return Judged(irrelevant, max(every - irrelevant, 0))
