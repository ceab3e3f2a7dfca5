"""Housekeeping, once a day: forget what is old, give space back.

::

    bodies     older than [store] cache_days, or above its quota
    rows       older than their setting (AGES), a batch per call; then what features forget
    space      free pages of the file, then its log

Each call does one bounded piece, so that neither a round nor another process waits for long. What is
never forgotten, and why that is bounded, is in docs/retention.md.
"""

import json
import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from incremental.base.features import called
from incremental.base.times import DAY
from incremental.schedule.refreshing import MOST_REFRESH_DAYS
from incremental.settings import Settings
from store import Store
from store.files.page_cache import file_name
from store.maintenance.retention import Kind

logger = logging.getLogger("hubwatch.housekeeping")

EVERY_SECONDS = DAY
PAUSE_SECONDS = 0.2
HOST_DAYS = 30
BODIES = "bodies"
NOTE = "housekeeping"


@dataclass(frozen=True, slots=True)
class Done:
    """What housekeeping came to, as stored and shown by ``hubwatch status``."""

    forgotten: dict[str, int]
    """Number by kind."""
    database_bytes: int
    free_bytes: int = 0
    """Free in the database file, for what is written next."""
    at: float = 0.0
    """When, unix seconds."""


def ages(settings: Settings) -> dict[Kind, float]:
    """Return by kind after how many days it is forgotten."""
    keep = settings.store
    return {
        Kind.VISITS: keep.visit_log_days,
        Kind.CHANGES: keep.change_days,
        Kind.TEXTS: keep.text_days,
        Kind.SIGHTINGS: keep.sighting_days,
        Kind.GUESSES: keep.text_days,
        Kind.REFRESHES: MOST_REFRESH_DAYS,
        Kind.HOSTS: HOST_DAYS,
    }


def last_done(store: Store) -> Done | None:
    """Return what the last housekeeping came to; None = there was none yet."""
    at, detail = store.space.noted(NOTE)
    return Done(**json.loads(detail), at=at) if detail else None


def forgotten_in_words(forgotten: Mapping[str, int]) -> str:
    """Return ``3 bodies, 5 visits``."""
    counts = (f"{count:,} {kind}" for kind, count in forgotten.items() if count)
    return ", ".join(counts) or "nothing"


class Housekeeping:
    """Keeps one store in bounds."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._work: Iterator[str] | None = None

    def step(self, now: float) -> float:
        """Do one piece; return when to call again (unix seconds)."""
        work, self._work = self._work or self.work(now), None
        if next(work, None) is None:
            return now + EVERY_SECONDS
        # Only work that did not fail goes on; after an error everything is looked at again.
        self._work = work
        return now + PAUSE_SECONDS

    def work(self, now: float) -> Iterator[str]:
        """Do everything in pieces; yields what the last piece was about."""
        forgotten = Counter[str]()
        named = frozenset(file_name(url, md5) for url, md5 in self._store.answers.named_bodies())
        oldest = now - self._settings.store.cache_days * DAY
        forgotten[BODIES] += self._store.cache.prune(older_than=oldest, named=named)
        yield BODIES
        for kind, days in ages(self._settings).items():
            yield from self._forget(kind, now - days * DAY, now, forgotten)
        features = self._settings.enabled.on
        for name, target in ((one.name, one.forgets) for one in features if one.forgets):
            for rows in called(name, target, self._store, self._settings, now):
                forgotten[name] += rows
                yield name
        oldest = now - self._settings.store.visit_log_days * DAY
        forgotten["bugs"] += self._store.quarantine.forget(before=oldest)
        if forgotten[Kind.TEXTS]:
            yield from self._merge_index()
        while self._store.space.give_back():
            yield "free space"
        size = self._store.space.size()
        free = 0 if size.used_bytes is None else size.size_bytes - size.used_bytes
        detail = {
            "forgotten": dict(forgotten),
            "database_bytes": size.size_bytes,
            "free_bytes": free,
        }
        self._store.space.note(NOTE, json.dumps(detail), now=now)
        logger.info("housekeeping: forgotten: %s", forgotten_in_words(forgotten))
        self._store.space.shorten_log()

    def _forget(
        self, kind: Kind, before: float, now: float, forgotten: Counter[str]
    ) -> Iterator[str]:
        """Forget all of a kind that is older than *before*."""
        cursor: int | None = 0
        while cursor is not None:
            batch = self._store.retention.forget(kind, before=before, now=now, after=cursor)
            forgotten[kind] += batch.rows
            cursor = batch.cursor
            yield kind

    def _merge_index(self) -> Iterator[str]:
        """Have the full-text index drop what was removed from it."""
        first = True
        while self._store.space.merge_index(begin=first):
            first = False
            yield "full-text index"
