"""What is known: the database and the page cache.

::

    open_store(where) -> Store
        .read    Queries    every question
        .write   Recorder   every change, one visit = one transaction
        .cache   PageCache  bodies, named by MD5

The store imports neither ``incremental`` nor ``classifier``: it keeps plain values
(:mod:`store.values`) and knows nothing of what they mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from peewee import Database

from store.database import open_database
from store.pages import PageCache
from store.queries import Queries
from store.record import Recorder


@dataclass(frozen=True, slots=True)
class Store:
    """An open store. Use as a context manager, or call :meth:`close`."""

    database: Database
    read: Queries
    write: Recorder
    cache: PageCache

    def close(self) -> None:
        """Close the database; the store is of no use afterwards."""
        self.database.close()

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
        cache=PageCache(cache_folder, quota_bytes=cache_quota_bytes),
    )
