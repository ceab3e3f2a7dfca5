"""Size of a store, release of free space, and notes of the daemon."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from store.database import is_sqlite
from store.database.failures import storage_errors
from store.database.repository import Repository
from store.database.statements import upsert
from store.database.texts import storable
from store.models import Note

# Free pages that stay in a SQLite file, as a share of it: the next day's writes need them.
SLACK_SHARE = 0.1
SLACK_PAGES = 1_000
# Returned in one transaction: 4 MB.
RETURNED_PAGES = 1_000
# Of the full-text index, merged in one transaction: 2 MB.
INDEX_PAGES = 500
FULL_TEXT = "news_words"


@dataclass(frozen=True, slots=True)
class DatabaseSize:
    """The size of a database."""

    size_bytes: int
    used_bytes: int | None
    """Without free space that will be reused; None = unknown, on PostgreSQL."""


class Space(Repository):
    """Measures one database and keeps its files small."""

    def size(self) -> DatabaseSize:
        """Return the size of the database, with its log."""
        if not is_sqlite(self._db):
            return DatabaseSize(self._one("SELECT pg_database_size(current_database())"), None)
        pages, each = self._one("PRAGMA page_count"), self._one("PRAGMA page_size")
        log = Path(f"{self._where}-wal")
        logged = log.stat().st_size if log.exists() else 0
        used = (pages - self._one("PRAGMA freelist_count")) * each
        return DatabaseSize(pages * each + logged, used)

    # Release of space.

    def give_back(self, *, most: int = RETURNED_PAGES) -> int:
        """Return at most *most* free pages of a SQLite file to the file system; return the bytes.

        Some stay for the next writes. Always 0 on PostgreSQL, which does it on its own.
        """
        if not is_sqlite(self._db):
            return 0
        pages, free = self._one("PRAGMA page_count"), self._one("PRAGMA freelist_count")
        spare = free - max(int(SLACK_SHARE * pages), SLACK_PAGES)
        if spare <= 0:
            return 0
        with storage_errors(self._where):
            # One page per step, and only a script is stepped to its end when there are no columns.
            connection: Any = self._db.connection()  # type: ignore[no-untyped-call]  # peewee's stubs lack it
            connection.executescript(f"PRAGMA incremental_vacuum({min(spare, most)})")
        left = self._one("PRAGMA freelist_count")
        return (free - left) * self._one("PRAGMA page_size")

    def merge_index(self, *, begin: bool, pages: int = INDEX_PAGES) -> bool:
        """Merge a part of SQLite's full-text index; removed rows are dropped only then.

        Returns whether there is more. *begin* starts a merge of the whole index.
        """
        if not is_sqlite(self._db):
            return False
        before = self._one("SELECT total_changes()")
        size = -pages if begin else pages
        # https://www.sqlite.org/fts5.html#the_merge_command
        self._sql(f"INSERT INTO {FULL_TEXT}({FULL_TEXT}, rank) VALUES ('merge', {size})")  # noqa: S608
        return self._one("SELECT total_changes()") - before > 1

    def shorten_log(self) -> bool:
        """Write SQLite's log into the database and cut it; return whether no reader prevented that."""
        if not is_sqlite(self._db):
            return True
        return not self._one("PRAGMA wal_checkpoint(TRUNCATE)")

    # Notes.

    def note(self, name: str, detail: str, *, now: float) -> None:
        """Note *detail* under *name*, in place of what is there."""
        row = {"name": name, "at": now, "detail": storable(detail, None)}
        self._write(upsert(Note, row, ["name"], ("at", "detail")))

    def noted(self, name: str) -> tuple[float, str]:
        """Return the time of the note of this name, and its detail; empty = there is none."""
        rows = self._rows(Note.select(Note.at, Note.detail).where(Note.name == name))
        return rows[0] if rows else (0.0, "")

    def _one(self, statement: str) -> int:
        return int(self._sql(statement)[0][0])
