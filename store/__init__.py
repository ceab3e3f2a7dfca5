"""What is known: the database and the page cache.

::

    open_store(where) -> Store
        .read    Queries    every question
        .write   Recorder   every change, one visit = one transaction
        .answers Answers    what people ask of the told pages, and the marks they put on them
        .backfills  older pages that lists gained: events, and their pages on demand
        .topics  Topics     what users want, and what it makes of pages
        .discovery  runs that look for further sites, and what they propose
        .outbox  Outbox     what is to be told by message, and what was
        .cache   PageCache  bodies, named by MD5
        .access  Access     who may come in through the web page and the API
        .monitor Monitoring counts over time, for dashboards and scrapers

The store imports neither ``incremental`` nor ``classifier``: it keeps plain values
(:mod:`store.values`) and knows nothing of what they mean.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from peewee import Database

from store.access import Access
from store.answers import Answers
from store.backfills import Backfills
from store.database import open_database, own_connection
from store.discovery import Discovery
from store.monitoring import Monitoring
from store.outbox import Outbox
from store.page_cache import PageCache
from store.queries import Queries
from store.record import Recorder
from store.topics import Topics


@dataclass(frozen=True, slots=True)
class Store:
    """An open store. Use as a context manager, or call :meth:`close`."""

    database: Database
    read: Queries
    write: Recorder
    answers: Answers
    backfills: Backfills
    topics: Topics
    discovery: Discovery
    outbox: Outbox
    cache: PageCache
    access: Access
    monitor: Monitoring

    def close(self) -> None:
        """Close the database; the store is of no use afterwards."""
        self.database.close()

    @contextlib.contextmanager
    def in_this_thread(self) -> Iterator[Self]:
        """Give the store on a connection of the calling thread's own, closed at the end.

        For threads that did not open the store: no connection is ever shared between threads.
        """
        with own_connection(self.database):
            yield self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_store(where: str, *, cache_folder: Path, cache_quota_bytes: int = 2_000_000_000) -> Store:
    """Open the database *where* (SQLite path or PostgreSQL URL) with its page cache.

    Raises:
        StoreError: see :func:`store.database.open_database`.
    """
    database = open_database(where)
    return Store(
        database=database,
        read=Queries(database, where),
        write=Recorder(database, where),
        answers=Answers(database, where),
        backfills=Backfills(database, where),
        topics=Topics(database, where),
        discovery=Discovery(database, where),
        outbox=Outbox(database, where),
        cache=PageCache(cache_folder, quota_bytes=cache_quota_bytes),
        access=Access(database, where),
        monitor=Monitoring(database, where),
    )
