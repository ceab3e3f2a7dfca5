"""Stores of earlier versions. ``upgrading.py WHERE N`` upgrades one and dies at its N-th statement.

A store at a schema is made by the migrations up to it, with rows in every table that it has.
"""

from __future__ import annotations

import os
import signal
import sys
import zlib
from typing import Any

from peewee import Database, SqliteDatabase
from playhouse.migrations import Runner

from store.database import open_database, postgres
from store.fulltext import index_words_of
from store.upgrades import MIGRATIONS

ROWS = 3
WORDS = zlib.compress(b"bridge\nriver opens")
# Where any text would not do.
VALUES: dict[str, Any] = {
    "words": WORDS,
    "text": zlib.compress(b"river"),
    "signature": b"ab" * 64,
    "digest": b"12345678",
}
_UNIQUE = (
    *("seed_url", "url", "name", "pattern", "canonical_key", "identity", "digest", "provider"),
    *("host", "domain", "source", "target", "operator", "channel", "origin", "key"),
)


def connect(where: str) -> Database:
    """Return the database at *where* as it is."""
    if where.startswith("postgresql"):
        return postgres(where)
    pragmas = {"journal_mode": "wal", "foreign_keys": 1, "application_id": 0x48554257}
    return SqliteDatabase(where, pragmas=pragmas)


def make_store_at(where: str, migration: str) -> dict[str, int]:
    """Make a store of an earlier version; return the number of rows by table."""
    database = connect(where)
    Runner(database, directory=str(MIGRATIONS)).up(migration)
    tables = [
        name
        for name in database.get_tables()
        if not name.startswith(("news_words", "schema_", "sqlite_"))
    ]
    waiting = sorted(tables)
    done: list[str] = []
    while waiting:
        ready = next(
            name
            for name in waiting
            if all(key.dest_table in (*done, name) for key in database.get_foreign_keys(name))
        )
        _fill(database, ready)
        waiting.remove(ready)
        done.append(ready)
    if "news" in tables and "page_text" in tables:
        for number in range(1, ROWS + 1):
            index_words_of(database, [(number, WORDS)])
    counts = {name: _count(database, name) for name in tables}
    database.close()
    return counts


def _count(database: Database, table: str) -> int:
    return int(_sql(database, f'SELECT COUNT(*) FROM "{table}"').fetchone()[0])


def _fill(database: Database, table: str) -> None:
    keys = {key.column: key.dest_table for key in database.get_foreign_keys(table)}
    for number in range(1, ROWS + 1):
        row = {
            column.name: _value(column, number, is_key=column.name in keys)
            for column in database.get_columns(table)
        }
        names = ", ".join(f'"{name}"' for name in row)
        mark = "?" if isinstance(database, SqliteDatabase) else "%s"
        marks = ", ".join(mark for _ in row)
        statement = f'INSERT INTO "{table}" ({names}) VALUES ({marks})'
        database.execute_sql(statement, list(row.values()))  # type: ignore[no-untyped-call]


def _value(column: Any, number: int, *, is_key: bool) -> object:
    kind, name = column.data_type.lower(), column.name
    by_type = {
        "int": number,
        "serial": number,
        "bool": False,
        "double": float(number),
        "real": float(number),
        "blob": VALUES.get(name),
        "bytea": VALUES.get(name),
    }
    if is_key:
        return None if name == "parent_id" else number
    if found := [value for part, value in by_type.items() if part in kind]:
        return found[0]
    if name in _UNIQUE:
        return f"https://{number}.example/"
    return "active" if name == "state" else "{}"


def _sql(database: Database, statement: str) -> Any:
    return database.execute_sql(statement)  # type: ignore[no-untyped-call]


def die_at(statement: int) -> None:
    """Kill this process before its *statement*-th statement."""
    run, count = Database.execute_sql, 0

    def counted(self: Database, *arguments: Any, **options: Any) -> Any:
        nonlocal count
        count += 1
        if count == statement:
            os.kill(os.getpid(), signal.SIGKILL)
        return run(self, *arguments, **options)  # type: ignore[no-untyped-call]

    Database.execute_sql = counted  # type: ignore[method-assign]


if __name__ == "__main__":
    die_at(int(sys.argv[2]))
    open_database(sys.argv[1]).close()
