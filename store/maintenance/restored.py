"""What a restored database may hold: our schema alone, and nobody's access unless the user keeps it.

Nothing signs a backup, so its digests show damage, not who wrote it.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from peewee import SqliteDatabase

from store.database.upgrades import known_migrations, make_tables
from store.enums import OutboxState
from store.errors import StoreDamagedError, StoreTooNewError

# Not in every database: SQLite's own, made by AUTOINCREMENT and ANALYZE.
_OF_SQLITE = frozenset({"sqlite_sequence", "sqlite_stat1", "sqlite_stat4"})
_Schema = dict[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class Removed:
    """What was removed from a restored database."""

    tokens: int = 0
    """Tokens and sessions."""
    channels: int = 0
    messages: int = 0
    """Those that were waiting."""


def make_harmless(path: Path, *, keep_access: bool, keep_channels: bool) -> Removed:
    """Check the database at *path*, and remove what acts for others unless it is to be kept.

    Raises:
        StoreDamagedError: it is damaged, or has an object that no version of Hubwatch made.
    """
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA trusted_schema = 0")
            _check(connection)
            removed = Removed(
                0 if keep_access else _emptied(connection, "access_token"),
                0 if keep_channels else _emptied(connection, "channel"),
                0 if keep_channels else _unsent(connection),
            )
            connection.commit()
    except sqlite3.Error as error:
        raise StoreDamagedError(f"the backup's database is damaged: {error}") from error
    return removed


def _check(connection: sqlite3.Connection) -> None:
    found = _schema(connection)
    applied = {str(name) for (name,) in connection.execute("SELECT name FROM schema_migration")}
    if later := sorted(applied - {*known_migrations()}):
        raise StoreTooNewError(f"the backup was made by a later version of Hubwatch ({later[-1]})")
    database = SqliteDatabase(":memory:")
    with closing(database):
        if applied:
            make_tables(database)
        ours: sqlite3.Connection = database.connection()  # type: ignore[no-untyped-call]  # peewee's stubs lack it
        expected = _schema(ours)
        indexes = dict(ours.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'index'"))
    for kind, name in sorted({*found, *expected}):
        if (kind, name) not in found and indexes.get(name):
            connection.execute(indexes[name])  # an earlier version had none
        elif found.get((kind, name)) != expected.get((kind, name)):
            raise StoreDamagedError(
                f"the backup's database is not one of Hubwatch's, or of another version: '{kind} {name}'"
            )
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise StoreDamagedError(f"the backup's database is damaged: {verdict}")
    if connection.execute("PRAGMA foreign_key_check").fetchone():
        raise StoreDamagedError("the backup's database has rows that name others it has not")


def _schema(connection: sqlite3.Connection) -> _Schema:
    """Return the SQL of each object by kind and name, without differences of spacing and quoting."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_schema").fetchall()
    return {
        (kind, name): " ".join((sql or "").replace('"', " ").replace("`", " ").lower().split())
        for kind, name, sql in rows
        if not (kind == "table" and name in _OF_SQLITE)
    }


def _emptied(connection: sqlite3.Connection, table: str) -> int:
    return connection.execute(f"DELETE FROM {table}").rowcount  # noqa: S608 - a name of ours


def _unsent(connection: sqlite3.Connection) -> int:
    """Delete messages that the original will send; return how many."""
    # A channel of the settings file that is met for the first time sends nothing announced before.
    states = (OutboxState.WAITING, OutboxState.SENDING)
    return connection.execute("DELETE FROM outbox WHERE state IN (?, ?)", states).rowcount
