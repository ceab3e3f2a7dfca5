"""Checks of a restored database: only our schema, and no access rights unless the user keeps them.

Nothing signs a backup, so its digests show damage, not who wrote it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from peewee import SqliteDatabase

from store.database.upgrades import known_migrations, make_tables
from store.errors import StoreDamagedError, StoreTooNewError
from store.models import ALL, AccessToken
from store.models.crawl_tables import Table

# SQLite's own tables, made by AUTOINCREMENT and ANALYZE; not in every database.
_OF_SQLITE = frozenset({"sqlite_sequence", "sqlite_stat1", "sqlite_stat4"})
_Schema = dict[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class Removed:
    """Numbers of removed items of a restored database."""

    tokens: int = 0
    """Tokens and sessions."""
    outgoing: Mapping[str, int] = field(default_factory=dict)
    """Rows that would have been sent twice, by name; no zeros."""


def make_harmless(path: Path, *, keep_access: bool, keep_outgoing: bool) -> Removed:
    """Check the database at *path*, and remove what acts for others unless it is to be kept.

    Raises:
        StoreDamagedError: it is damaged, or has an object that no version of Hubwatch made.
    """
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA trusted_schema = 0")
            _check(connection)
            tokens = 0 if keep_access else _deleted(connection, AccessToken, "1 = 1")
            outgoing = {
                what: 0 if keep_outgoing else _deleted(connection, table, rows)
                for table in ALL
                for what, rows in table.outgoing.items()
            }
            removed = Removed(tokens, {what: count for what, count in outgoing.items() if count})
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


def _deleted(connection: sqlite3.Connection, table: type[Table], rows: str) -> int:
    name = table._meta.table_name  # noqa: SLF001 - peewee's way
    return connection.execute(f"DELETE FROM {name} WHERE {rows}").rowcount  # noqa: S608 - words of ours
