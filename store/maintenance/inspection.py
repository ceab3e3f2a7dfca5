"""Inspects a store without changing it, for ``hubwatch doctor``.

Opening a store normally creates its folder, upgrades its tables and sets its journal mode. Here SQLite is
read through a read-only connection, except to roll back an interrupted transaction, and PostgreSQL in a
read-only transaction.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from peewee import SqliteDatabase

from store.database import (
    BUSY_TIMEOUT_SECONDS,
    check_sqlite,
    close,
    is_server,
    is_sqlite,
    open_server,
    read_address,
)
from store.database.failures import storage_errors
from store.database.repository import Repository
from store.database.statements import run_sql
from store.database.upgrades import missing
from store.errors import StoreDamagedError

_MOST_FAULTS = 10


@contextlib.contextmanager
def inspected(where: str) -> Iterator[Inspection | None]:
    """Open *where*, a SQLite path or a ``postgresql://`` URL, to look at; None when nothing is there.

    Raises:
        StoreLockedError: another process holds it for longer than the busy time-out.
        StoreDamagedError: the file is damaged, or is not a Hubwatch database.
        StoreError: it cannot be read or reached.
    """
    with storage_errors(where):
        if is_server(where):
            database = open_server(where)
        elif not Path(where).exists() or not check_sqlite(Path(where)):
            yield None
            return
        else:
            address = read_address(Path(where))
            database = SqliteDatabase(address, uri=True, timeout=BUSY_TIMEOUT_SECONDS)
        database.connect()
    try:
        with storage_errors(where):
            if not is_sqlite(database):
                run_sql(database, "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
            has_tables = database.table_exists("schema_migration")
        yield Inspection(database, where) if has_tables else None
    finally:
        close(database)


class Inspection(Repository):
    """Queries for a store of any version."""

    def version(self) -> str:
        """Return the version of the PostgreSQL server; empty for SQLite."""
        if is_sqlite(self._db):
            return ""
        return str(self._sql("SHOW server_version")[0][0])

    def pending(self) -> tuple[str, ...]:
        """Return the migrations that the next command will apply, the oldest first.

        Raises:
            StoreTooNewError: a later version of Hubwatch migrated it.
        """
        with storage_errors(self._where):
            return missing(self._db, self._where)

    def check(self) -> str:
        """Read everything and return a description of the checks.

        SQLite compares each index with its table, and each reference with its row; the time it takes
        grows with the file. PostgreSQL checks itself (``pg_amcheck``); here each table is read.

        Raises:
            StoreDamagedError: names the first faults.
        """
        if not is_sqlite(self._db):
            return self._read_tables()
        faults = [str(row[0]) for row in self._sql(f"PRAGMA integrity_check({_MOST_FAULTS})")]
        if faults != ["ok"]:
            raise StoreDamagedError(f"damaged: {'; '.join(faults)}")
        broken = [str(row[0]) for row in self._sql("PRAGMA foreign_key_check")]
        if broken:
            raise StoreDamagedError(
                f"damaged: {len(broken)} rows name others that are not there "
                f"(tables: {', '.join(sorted(set(broken)))})"
            )
        return "every table, index and reference is sound"

    def _read_tables(self) -> str:
        with storage_errors(self._where):
            names = self._db.get_tables()
        for name in names:
            # A whole row makes the server read it; a mere count may be taken from an index.
            self._sql(f'SELECT COUNT(t.*) FROM "{name}" AS t')  # noqa: S608 - its own tables' names
        return f"all {len(names)} tables can be read; pg_amcheck checks the server's indexes"
