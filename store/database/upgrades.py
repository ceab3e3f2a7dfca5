"""Bringing a database's tables up to date: all migrations in one transaction, a copy of it before.

A new store is made from the models as they are, and has no migration to catch up with.

::

    lock        nobody else upgrades it or writes to it meanwhile
    copy        SQLite: before-<last migration>.sqlite beside it; PostgreSQL has pg_dump
    migrate     all that are missing, then check that every reference holds
    commit      killed before, the database is as it was, and the next start begins again
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from peewee import Database, SqliteDatabase

from store.database.addresses import without_password
from store.database.failures import of_file
from store.database.home import (
    BACKING_UP,
    DATABASE,
    copies_in,
    make_file,
    remove_abandoned,
    workplace,
)
from store.errors import StoreDamagedError, StoreFullError, StoreTooNewError

MIGRATIONS = Path(__file__).parents[1] / "migrations"
# Any number that nothing else locks on the server; the letters of HUBW.
_LOCK = 0x48554257


def known_migrations() -> tuple[str, ...]:
    """Return the names of all migrations of this version, the oldest first."""
    return tuple(sorted(path.stem for path in MIGRATIONS.glob("[0-9]*.py")))


def upgrade(database: Database, where: str, *, copies: int) -> None:
    """Apply the migrations that this database has not seen, all or none.

    *copies*: how many copies of SQLite databases from before upgrades are kept, this one included.

    Raises:
        StoreTooNewError: a later version of Hubwatch migrated it.
        StoreFullError: there is no room for the copy; nothing was changed.
        StoreDamagedError: a page is damaged, or rows name others that are not there; nothing was changed.
    """
    if not _missing(database, where):
        return
    with _alone(database):
        missing = _missing(database, where)  # another process may have upgraded it meanwhile
        file = Path(where) if isinstance(database, SqliteDatabase) else None
        is_new = not _is_in_use(database)
        if missing and file is not None and not is_new:
            check_pages(lambda statement: _sql(database, statement), file)
            if copies:
                _copy(file, copy_of(file, missing[-1]))
        if missing and is_new:
            make_tables(database)
        elif missing:
            _runner(database).up()
        if missing and file is not None and _sql(database, "PRAGMA foreign_key_check").fetchone():
            raise StoreDamagedError(
                f"{file} cannot be upgraded: it has rows that name others that are not there; "
                "restore a backup, or move it away"
            )
    if file is not None and missing:
        for path in copies_in(file.parent)[copies:]:
            path.unlink(missing_ok=True)


def make_tables(database: Database) -> None:
    """Make the tables of a new store; its migrations count as applied."""
    runner = _runner(database)
    runner.up(known_migrations()[0])
    runner.fake()


def _runner(database: Database) -> Any:  # noqa: ANN401 - loading the library is slow, and few commands need it
    from playhouse.migrations import Runner  # noqa: PLC0415

    return Runner(database, directory=str(MIGRATIONS))


def copy_of(file: Path, migration: str) -> Path:
    """Return where the copy of the database *file* from before *migration* is kept."""
    return file.with_name(f"before-{migration}.sqlite")


def _missing(database: Database, where: str) -> tuple[str, ...]:
    """Return the names of the migrations to apply, the oldest first."""
    known, applied = known_migrations(), set[str]()
    if _is_in_use(database):
        rows = _sql(database, "SELECT name FROM schema_migration").fetchall()
        applied = {str(name) for (name,) in rows}
    if unknown := applied - set(known):
        newest, shown = max(unknown), without_password(where)
        raise StoreTooNewError(f"{shown} was written by a later version of Hubwatch ({newest})")
    return tuple(name for name in known if name not in applied)


def _is_in_use(database: Database) -> bool:
    return bool(database.table_exists("schema_migration"))


@contextlib.contextmanager
def _alone(database: Database) -> Iterator[None]:
    """Run the block as one transaction, in which nobody else writes."""
    if not isinstance(database, SqliteDatabase):
        with database.atomic():
            # Rebuilding a large table takes longer than any statement at work.
            _sql(database, "SET LOCAL statement_timeout = 0")
            _sql(database, f"SELECT pg_advisory_xact_lock({_LOCK})")
            yield
        return
    # Rebuilding a table would delete what refers to it. Within a transaction the pragma does nothing.
    _sql(database, "PRAGMA foreign_keys = 0")
    try:
        with database.atomic("IMMEDIATE"):
            yield
    finally:
        _sql(database, "PRAGMA foreign_keys = 1")


def check_pages(run: Callable[[str], Any], path: Path) -> None:
    """Read a whole SQLite file; *run* runs a statement on it and returns a cursor.

    Raises:
        StoreDamagedError: a page is damaged.
    """
    # It skips only the slow comparison of indexes with tables.
    (verdict,) = run("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise StoreDamagedError(f"{path} is damaged ({verdict}); restore a backup or move it away")


def _copy(file: Path, target: Path) -> None:
    """Copy a database to *target*, which appears only when complete."""
    try:
        size = file.stat().st_size
        free = shutil.disk_usage(file.parent).free
        # The copy, and at most as much again in the log while tables are rebuilt.
        if free < 2 * size:
            raise StoreFullError(
                f"upgrading {file} needs {2 * size / 1e6:,.0f} MB, as it is copied before; "
                f"{free / 1e6:,.0f} MB are free: make room, or set [store] upgrade_copies = 0 to "
                "upgrade without a copy"
            )
        remove_abandoned(file.parent, BACKING_UP)
        with workplace(file.parent, BACKING_UP) as folder:
            half = folder / DATABASE
            make_file(half)  # it holds token digests
            with (
                contextlib.closing(sqlite3.connect(file)) as reading,
                contextlib.closing(sqlite3.connect(half)) as writing,
            ):
                reading.backup(writing)
            os.replace(half, target)  # noqa: PTH105 - the rename that is atomic by contract
    except OSError as error:
        raise of_file(error, f"{target} cannot be written") from error


def _sql(database: Database, statement: str) -> Any:  # noqa: ANN401 - a driver's cursor
    return database.execute_sql(statement)  # type: ignore[no-untyped-call]  # peewee's stubs lack it
