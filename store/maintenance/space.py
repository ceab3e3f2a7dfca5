"""Size of a store, release of free space, and records of housekeeping."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from store.database import is_sqlite
from store.database.failures import storage_errors
from store.database.repository import Repository, upsert
from store.models import ALL, Housekeeping

# Free pages that stay in a SQLite file, as a share of it: the next day's writes need them.
SLACK_SHARE = 0.1
SLACK_PAGES = 1_000
# Returned in one transaction: 4 MB.
RETURNED_PAGES = 1_000
# Of the full-text index, merged in one transaction: 2 MB.
INDEX_PAGES = 500
FULL_TEXT = "news_words"


@dataclass(frozen=True, slots=True)
class TableSize:
    """A table with its indexes; bytes are None if this SQLite cannot tell."""

    rows: int
    size_bytes: int | None


@dataclass(frozen=True, slots=True)
class DatabaseSize:
    """The size of a database."""

    size_bytes: int
    used_bytes: int | None
    """Without free space that will be reused; None = unknown, on PostgreSQL."""


class Space(Repository):
    """Measures and compacts one database."""

    def size(self) -> DatabaseSize:
        """Return the size of the database, with its log."""
        with storage_errors(self._where):
            if not is_sqlite(self._db):
                size = int(self._one("SELECT pg_database_size(current_database())"))
                return DatabaseSize(size, None)
            pages = int(self._one("PRAGMA page_count"))
            free, each = int(self._one("PRAGMA freelist_count")), int(self._one("PRAGMA page_size"))
            log = Path(f"{self._where}-wal")
            logged = log.stat().st_size if log.exists() else 0
            return DatabaseSize(pages * each + logged, (pages - free) * each)

    def used_bytes(self) -> int:
        """Return the bytes in use; on PostgreSQL every table is read for that."""
        used = self.size().used_bytes
        if used is not None:
            return used
        with storage_errors(self._where):
            return sum(self._used_of(name) for name in self._tables())

    def _used_of(self, table: str) -> int:
        heap = int(self._one(f'SELECT COALESCE(SUM(pg_column_size(t.*)), 0) FROM "{table}" AS t'))  # noqa: S608 - our own tables
        own, whole = (
            int(self._one(f"SELECT {function}('\"{table}\"'::regclass)"))
            for function in ("pg_table_size", "pg_total_relation_size")
        )
        # Indexes are as full as their table. No table takes more than its files.
        return min(round(heap * whole / max(own, 1)), whole)

    def tables(self) -> dict[str, TableSize]:
        """Return rows and size of each table, with its indexes."""
        with storage_errors(self._where):
            sizes = self._sizes()
            return {
                name: TableSize(int(self._one(f'SELECT COUNT(*) FROM "{name}"')), sizes.get(name))  # noqa: S608
                for name in self._tables()
            }

    def _tables(self) -> list[str]:
        return [*sorted(model._meta.table_name for model in ALL), FULL_TEXT]  # noqa: SLF001 - peewee's way

    def _sizes(self) -> dict[str, int]:
        if not is_sqlite(self._db):
            statement = "SELECT pg_total_relation_size('\"{}\"'::regclass)"
            return {name: int(self._one(statement.format(name))) for name in self._tables()}
        options = {row[0] for row in self._run("PRAGMA compile_options")}
        if "ENABLE_DBSTAT_VTAB" not in options:
            return {}
        statement = (
            "SELECT CASE WHEN m.tbl_name LIKE 'news\\_words\\_%' ESCAPE '\\' THEN 'news_words' "
            "ELSE m.tbl_name END, SUM(s.pgsize) FROM dbstat s JOIN sqlite_master m ON m.name = s.name "
            "GROUP BY 1"
        )
        return {name: int(size) for name, size in self._run(statement)}

    # Release of space.

    def give_back(self, *, most: int = RETURNED_PAGES) -> int:
        """Return at most *most* free pages of a SQLite file to the file system; return the bytes.

        Some stay for the next writes. Always 0 on PostgreSQL, which does it on its own.
        """
        if not is_sqlite(self._db):
            return 0
        with storage_errors(self._where):
            pages, free = (
                int(self._one("PRAGMA page_count")),
                int(self._one("PRAGMA freelist_count")),
            )
            spare = free - max(int(SLACK_SHARE * pages), SLACK_PAGES)
            if spare <= 0:
                return 0
            # One page per step, and only a script is stepped to its end when there are no columns.
            connection: Any = self._db.connection()  # type: ignore[no-untyped-call]  # as below
            connection.executescript(f"PRAGMA incremental_vacuum({min(spare, most)})")
            left = int(self._one("PRAGMA freelist_count"))
            return (free - left) * int(self._one("PRAGMA page_size"))

    def merge_index(self, *, begin: bool, pages: int = INDEX_PAGES) -> bool:
        """Merge a part of SQLite's full-text index; removed rows are dropped only then.

        Returns whether there is more. *begin* starts a merge of the whole index.
        """
        if not is_sqlite(self._db):
            return False
        with storage_errors(self._where):
            before = int(self._one("SELECT total_changes()"))
            size = -pages if begin else pages
            # https://www.sqlite.org/fts5.html#the_merge_command
            self._run(f"INSERT INTO {FULL_TEXT}({FULL_TEXT}, rank) VALUES ('merge', {size})")  # noqa: S608
            return int(self._one("SELECT total_changes()")) - before > 1

    def shorten_log(self) -> bool:
        """Write SQLite's log into the database and cut it; return whether no reader prevented that."""
        if not is_sqlite(self._db):
            return True
        with storage_errors(self._where):
            (busy, *_) = self._run("PRAGMA wal_checkpoint(TRUNCATE)")[0]
            return not busy

    def compact(self, *, full: bool = False) -> None:
        """Rewrite the database without its free space; needs as much space again while it runs.

        PostgreSQL only marks free space, unless *full* is set, which locks each table.

        Raises:
            StoreLockedError: another process uses the SQLite file.
        """
        with storage_errors(self._where):
            if not is_sqlite(self._db):
                self._run_alone("VACUUM (FULL, ANALYZE)" if full else "VACUUM (ANALYZE)")
                return
            self._run(f"INSERT INTO {FULL_TEXT}({FULL_TEXT}) VALUES ('optimize')")  # noqa: S608
            # In a file, as the copy of a large store would not fit into memory.
            self._run("PRAGMA temp_store = 1")
            self._run("VACUUM")
            self._run("PRAGMA temp_store = 2")
        self.shorten_log()

    def _run_alone(self, statement: str) -> None:
        """Run a statement that PostgreSQL refuses in a transaction."""
        connection: Any = self._db.connection()  # type: ignore[no-untyped-call]  # as below
        before, connection.autocommit = connection.autocommit, True
        try:
            # It takes longer than any regular statement.
            self._run("SET statement_timeout = 0", fetch=False)
            self._run(statement, fetch=False)
            self._run("RESET statement_timeout", fetch=False)
        finally:
            connection.autocommit = before

    # The recorded result.

    def note(self, name: str, detail: dict[str, Any], *, now: float) -> None:
        """Record a result under *name*."""
        row = {"name": name, "at": now, "detail": json.dumps(detail)}
        self._write(upsert(Housekeeping, row, ["name"], ("at", "detail")))

    def noted(self, name: str) -> tuple[float, dict[str, Any]] | None:
        """Return the time and result of the last record."""
        query = Housekeeping.select(Housekeeping.at, Housekeeping.detail)
        rows = self._rows(query.where(Housekeeping.name == name))
        return (float(rows[0][0]), dict(json.loads(rows[0][1]))) if rows else None

    def _one(self, statement: str) -> Any:  # noqa: ANN401 - a driver's value
        return self._run(statement)[0][0]

    def _run(self, statement: str, *, fetch: bool = True) -> list[tuple[Any, ...]]:
        cursor: Any = self._db.execute_sql(statement)  # type: ignore[no-untyped-call]  # peewee's stubs lack it
        return list(cursor.fetchall()) if fetch else []
