"""Full stores, and a made-up later version.

``upgrading.py WHERE FOLDER N`` opens a store with the migrations in a folder, and dies at its N-th statement.
"""

import os
import shutil
import signal
import sys
import zlib
from pathlib import Path
from typing import Any

from peewee import Database, SqliteDatabase

from store.database import open_database, upgrades
from store.search.fulltext import index_words_of

LATER = "0002_notes"
# It rebuilds a table that others refer to, renames another, and makes one.
_LATER = """
from peewee import TextField

def up(migrator, db):
    migrator.migrate(
        migrator.add_column("page", "note", TextField(default="none")),
        migrator.rename_table("label", "word_of_a_user"),
    )
    db.execute_sql("CREATE TABLE remark (page_id BIGINT REFERENCES page (id), text TEXT NOT NULL)")
    db.execute_sql("INSERT INTO remark SELECT id, url FROM page")
"""

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
    *("seed_url", "url", "name", "pattern", "canonical_key", "digest", "provider"),
    *("host", "domain", "source", "target", "operator", "channel", "origin", "key"),
)


def later_version(folder: Path) -> Path:
    """Make the migrations of a version after this one in *folder*, and return it."""
    shutil.copytree(upgrades.MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / f"{LATER}.py").write_text(_LATER)
    return folder


def make_full_store(where: str) -> dict[str, int]:
    """Make a store with rows in every table; return their number by table."""
    database = open_database(where)
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
    upgrades.MIGRATIONS = Path(sys.argv[2])
    die_at(int(sys.argv[3]))
    open_database(sys.argv[1]).close()
