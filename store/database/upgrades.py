"""Upgrades a database: all migrations in one transaction, after a copy.

A new store is created from the present models and needs no migrations.

::

    lock        no other process upgrades it or writes to it meanwhile
    copy        SQLite: before-upgrade.sqlite beside it, in place of the last; PostgreSQL has pg_dump
    migrate     all that are missing, then check that every reference holds
    commit      killed before, the database is unchanged, and the next start tries again
"""

import contextlib
import os
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
    UPGRADE_COPY,
    make_file,
    remove_abandoned,
    workplace,
)
from store.database.statements import run_sql
from store.errors import StoreDamagedError, StoreTooNewError

MIGRATIONS = Path(__file__).parents[1] / "migrations"
# Any number that nothing else locks on the server; the letters of HUBW.
_LOCK = 0x48554257


def known_migrations() -> tuple[str, ...]:
    """Return the names of all migrations of this version, the oldest first."""
    return tuple(sorted(path.stem for path in MIGRATIONS.glob("[0-9]*.py")))


def upgrade(database: Database, where: str) -> None:
    """Apply the migrations that this database has not seen, all or none.

    Raises:
        StoreTooNewError: a later version of Hubwatch migrated it.
        StoreFullError: there is no room for the copy; nothing was changed.
        StoreDamagedError: a page is damaged, or rows name others that are not there; nothing was changed.
    """
    if not missing(database, where):
        return
    with _alone(database):
        if not missing(database, where):
            return  # another process has upgraded it meanwhile
        file = Path(where) if isinstance(database, SqliteDatabase) else None
        if not _is_in_use(database):
            make_tables(database)
            return
        if file is not None:
            check_pages(lambda statement: run_sql(database, statement), where)
            _copy(file)
        _runner(database).up()
        if file is not None and run_sql(database, "PRAGMA foreign_key_check").fetchone():
            raise StoreDamagedError(
                f"{file} cannot be upgraded: it has rows that name others that are not there; "
                "restore a backup, or move it away"
            )


def make_tables(database: Database) -> None:
    """Make the tables of a new store; its migrations count as applied."""
    runner = _runner(database)
    runner.up(known_migrations()[0])
    runner.fake()


def _runner(database: Database) -> Any:  # noqa: ANN401 - loading the library is slow, and few commands need it
    from playhouse.migrations import Runner  # noqa: PLC0415

    return Runner(database, directory=str(MIGRATIONS))


def missing(database: Database, where: str) -> tuple[str, ...]:
    """Return the names of the migrations to apply, the oldest first.

    Raises:
        StoreTooNewError: a later version of Hubwatch migrated it.
    """
    known, applied = known_migrations(), set[str]()
    if _is_in_use(database):
        rows = run_sql(database, "SELECT name FROM schema_migration").fetchall()
        applied = {str(name) for (name,) in rows}
    if unknown := applied - set(known):
        newest, shown = max(unknown), without_password(where)
        raise StoreTooNewError(f"{shown} was written by a later version of Hubwatch ({newest})")
    return tuple(name for name in known if name not in applied)


def _is_in_use(database: Database) -> bool:
    return bool(database.table_exists("schema_migration"))


@contextlib.contextmanager
def _alone(database: Database) -> Iterator[None]:
    """Run the block as one exclusive transaction."""
    if not isinstance(database, SqliteDatabase):
        with database.atomic():
            # Rebuilding a large table takes longer than any regular statement.
            run_sql(database, "SET LOCAL statement_timeout = 0")
            run_sql(database, f"SELECT pg_advisory_xact_lock({_LOCK})")
            yield
        return
    # Rebuilding a table would delete rows that refer to it. Within a transaction the pragma does nothing.
    run_sql(database, "PRAGMA foreign_keys = 0")
    try:
        with database.atomic("IMMEDIATE"):
            yield
    finally:
        run_sql(database, "PRAGMA foreign_keys = 1")


def check_pages(run: Callable[[str], Any], what: str) -> None:
    """Read a whole SQLite file; *run* runs a statement on it and returns a cursor.

    Raises:
        StoreDamagedError: a page is damaged.
    """
    # It skips only the slow comparison of indexes with tables.
    (verdict,) = run("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise StoreDamagedError(f"{what} is damaged ({verdict}); restore a backup or move it away")


def _copy(file: Path) -> None:
    """Copy a database; the copy appears only when complete."""
    target = file.with_name(UPGRADE_COPY)
    try:
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
