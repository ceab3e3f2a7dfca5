"""Whether the store can be used: checked while it works, and repeatedly after it could not."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from peewee import Database, PeeweeException

from store.database import is_server, writing
from store.errors import StoreFullError, StoreGoneError
from store.files.page_cache import PageCache


def recover(database: Database, where: str, cache: PageCache) -> None:
    """Replace the calling thread's connection, and check that the new one can write.

    Raises:
        StoreUnavailableError: not yet.
        StoreGoneError: the database file was deleted; it is not created again.
    """
    # What was in the middle of a transaction is rolled back by whoever held it.
    with contextlib.suppress(PeeweeException):
        database.close()
    database.dispose()
    if not is_server(where) and not Path(where).exists():
        raise StoreGoneError(f"{where} was deleted while it was in use; restore a backup")
    check_writable(database, where)
    cache.check()


def check_writable(database: Database, where: str) -> None:
    """Write nothing, in a transaction that needs the right to write.

    Raises:
        StoreUnavailableError: the database is locked, lost or read-only.
    """
    with writing(database, where):
        database.execute_sql("DELETE FROM quarantine WHERE id < 0")  # type: ignore[no-untyped-call]


def check_room(folder: Path, least_bytes: float) -> None:
    """Refuse to go on when little space is left.

    Raises:
        StoreFullError: less than *least_bytes* are free in the file system of *folder*.
    """
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if free < least_bytes:
        raise StoreFullError(
            f"{folder} has {free / 1e6:,.0f} MB left, and [store] min_free_mb asks for "
            f"{least_bytes / 1e6:,.0f}; make room"
        )
