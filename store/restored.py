"""What a restored database may hold: our schema alone, and nobody's access unless the user keeps it.

Nothing signs a backup, so its digests show damage, not who wrote it.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from peewee import SqliteDatabase

from store.enums import OutboxState
from store.errors import StoreDamagedError
from store.upgrades import known_migrations, make_tables

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
    ours = SqliteDatabase(":memory:")
    with closing(ours):
        if not applied.isdisjoint(known_migrations()):
            make_tables(ours)
        expected = _schema(ours.connection())  # type: ignore[no-untyped-call]  # peewee's stubs lack it
    for key in sorted({*found, *expected}):
        if found.get(key) != expected.get(key):
            what = " ".join(key)
            raise StoreDamagedError(f"the backup's database is not one of Hubwatch's: {what!r}")
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
