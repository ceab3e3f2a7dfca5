"""Housekeeping, once a day: forget what is old, fit into the size budget, give space back.

::

    bodies     older than [store] cache_days, or above its quota
    rows       older than their setting (AGES), a batch per call
    budget     above [store] size_budget_mb: the oldest bodies, texts, visits, changes, sightings
    space      free pages of the file, then its log

Each call does one bounded piece, so that neither a round nor another process waits for long. What is
never forgotten, and why that is bounded, is in docs/retention.md.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from dataclasses import asdict, dataclass, replace

from incremental.base.times import DAY
from incremental.settings import Settings
from incremental.settings.saved_channels import all_channels
from incremental.settings.storage import MEGABYTE
from store import Store
from store.files.page_cache import file_name
from store.maintenance.retention import Batch, Kind

logger = logging.getLogger("hubwatch.housekeeping")

EVERY_SECONDS = DAY
PAUSE_SECONDS = 0.2
# The size budget takes nothing younger.
LEAST_DAYS = 7
HOST_DAYS = 30
# Sightings are read by hub, so their oldest go in passes.
_PASSES = (365, 180, 90, 60, 30, 14, LEAST_DAYS)
# What the size budget forgets after bodies, in this order, with the tables that it frees.
FREEING = {
    Kind.TEXTS: ("page_text", "page_band", "news_words"),
    Kind.VISITS: ("visit",),
    Kind.CHANGES: ("change",),
    Kind.SIGHTINGS: ("sighting",),
}
BODIES = "bodies"
NOTE = "last"


@dataclass(frozen=True, slots=True)
class Done:
    """What housekeeping came to, as stored and shown by ``hubwatch status``."""

    forgotten: dict[str, int]
    """Number by kind."""
    database_bytes: int
    cache_bytes: int | None = None
    """None = not measured, as there is no size budget."""
    budget_bytes: int | None = None
    excess_bytes: int = 0
    """Above the budget although everything was forgotten that may be."""
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
        Kind.OUTBOX: keep.outbox_days,
        Kind.REFRESHES: settings.refresh.max_days,
        Kind.DISCOVERY: keep.discovery_days,
        Kind.HOSTS: HOST_DAYS,
    }


def last_done(store: Store) -> Done | None:
    """Return what the last housekeeping came to; None = there was none yet."""
    noted = store.space.noted(NOTE)
    return None if noted is None else Done(**noted[1], at=noted[0])


def forgotten_in_words(forgotten: Mapping[str, int]) -> str:
    """Return ``3 bodies, 5 visits``."""
    counts = (f"{count:,} {kind}" for kind, count in forgotten.items() if count)
    return ", ".join(counts) or "nothing"


def space_in_words(done: Done) -> str:
    """Return how large the store is, and how far it is from its budget."""
    size = done.database_bytes + (done.cache_bytes or 0)
    if done.budget_bytes is None:
        return f"database {done.database_bytes / MEGABYTE:,.1f} MB"
    says = f"{size / MEGABYTE:,.1f} of {done.budget_bytes / MEGABYTE:,.1f} MB"
    if done.excess_bytes:
        return f"{says}: too large, although nothing older than a week is left to forget"
    return says


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
        yield from self._forget_bodies(now, forgotten)
        for kind, days in ages(self._settings).items():
            yield from self._forget(kind, now - days * DAY, now, forgotten)
        oldest = now - self._settings.store.visit_log_days * DAY
        forgotten["bugs"] += self._store.quarantine.forget(before=oldest)
        if forgotten[Kind.TEXTS]:
            yield from self._merge_index()
        done = yield from self._fit(now, forgotten)
        while self._store.space.give_back():
            yield "free space"
        size = self._store.space.size()
        done = replace(
            done,
            forgotten=dict(forgotten),
            database_bytes=size.size_bytes,
            free_bytes=0 if size.used_bytes is None else size.size_bytes - size.used_bytes,
        )
        self._report(done, now)
        self._store.space.shorten_log()

    def _forget_bodies(self, now: float, forgotten: Counter[str]) -> Iterator[str]:
        named = frozenset(file_name(url, md5) for url, md5 in self._store.answers.named_bodies())
        oldest = now - self._settings.store.cache_days * DAY
        forgotten[BODIES] += self._store.cache.prune(older_than=oldest, named=named)
        yield BODIES

    def _forget(
        self, kind: Kind, before: float, now: float, forgotten: Counter[str]
    ) -> Iterator[str]:
        """Forget all of a kind that is older than *before*."""
        cursor: int | None = 0
        while cursor is not None:
            batch = self._batch(kind, before, now, cursor, forgotten)
            cursor = batch.cursor
            yield kind

    def _batch(
        self, kind: Kind, before: float, now: float, after: int, forgotten: Counter[str]
    ) -> Batch:
        channels = [channel.name for channel in all_channels(self._store, self._settings)]
        batch = self._store.retention.forget(
            kind, before=before, now=now, after=after, keep=channels
        )
        forgotten[kind] += batch.rows
        return batch

    # The size budget.

    def _fit(self, now: float, forgotten: Counter[str]) -> Generator[str, None, Done]:
        """Forget the oldest until database and cache fit into the budget; returns how far that went."""
        budget = int(self._settings.store.size_budget_mb * MEGABYTE)
        if not budget:
            return Done({}, 0)
        space, floor = self._store.space, now - LEAST_DAYS * DAY
        cache = self._store.cache.size_bytes()
        excess = cache + space.size().size_bytes - budget
        if excess > 0:
            # What the file has freed is no reason to forget more.
            excess = cache + space.used_bytes() - budget
        if excess > 0:
            count, freed = self._store.cache.shrink(excess, older_than=floor)
            forgotten[BODIES] += count
            cache, excess = cache - freed, excess - freed
            yield BODIES
        for kind in FREEING if excess > 0 else ():
            yield from self._shrink(kind, excess, now, forgotten)
            excess = cache + space.used_bytes() - budget
            if excess <= 0:
                break
        return Done({}, 0, cache, budget, max(excess, 0))

    def _shrink(
        self, kind: Kind, excess: int, now: float, forgotten: Counter[str]
    ) -> Iterator[str]:
        """Forget the oldest of a kind, about as many as take *excess* bytes."""
        # Estimated: freed bytes show only when pages are empty, on PostgreSQL later still.
        each, start = self._row_bytes(kind), forgotten[kind]
        for days in _PASSES if kind is Kind.SIGHTINGS else (LEAST_DAYS,):
            cursor: int | None = 0
            while cursor is not None and (forgotten[kind] - start) * each < excess:
                batch = self._batch(kind, now - days * DAY, now, cursor, forgotten)
                cursor = batch.cursor
                yield kind
        if kind is Kind.TEXTS:
            yield from self._merge_index()

    def _row_bytes(self, kind: Kind) -> float:
        """Return the mean size of a row, with what belongs to it."""
        sizes = self._store.space.tables()
        rows = max(sizes[FREEING[kind][0]].rows, 1)
        size = sum(sizes[table].size_bytes or 0 for table in FREEING[kind])
        return max(size / rows, 1.0)

    def _merge_index(self) -> Iterator[str]:
        """Have the full-text index drop what was removed from it."""
        first = True
        while self._store.space.merge_index(begin=first):
            first = False
            yield "full-text index"

    def _report(self, done: Done, now: float) -> None:
        before = self._store.space.noted(NOTE)
        detail = {name: value for name, value in asdict(done).items() if name != "at"}
        self._store.space.note(NOTE, detail, now=now)
        logger.info("housekeeping: forgotten: %s", forgotten_in_words(done.forgotten))
        if done.excess_bytes and not (before and before[1].get("excess_bytes")):
            logger.warning(
                "database and page cache exceed [store] size_budget_mb by %.0f MB, and nothing older than "
                "a week is left to forget: set a larger budget, or watch less",
                done.excess_bytes / MEGABYTE,
            )
