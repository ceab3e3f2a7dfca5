"""Copying a whole store from one database to another, SQLite or PostgreSQL, checked on the way.

::

    source  one snapshot ──rows of each table──► target  one transaction, into empty tables
              │ count and checksum                │ ids go on where they were, search index from the words
              └───────────────── equal ───────────┘ read back; only then is it committed

A table's checksum is the sum of its rows' MD5s modulo 2 to the 128th, so that it does not depend on the
order, which databases with other collations would not agree on. A killed or failed copy leaves the target as
empty as it was.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import peewee
from peewee import (
    AutoField,
    BlobField,
    BooleanField,
    Database,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    fn,
)

from store.database import is_sqlite, own_connection, writing
from store.database.addresses import without_password
from store.database.failures import storage_errors
from store.database.statements import run_many
from store.errors import StoreDamagedError, StoreError
from store.models import (
    ALL,
    OF_DAEMONS,
    AccessToken,
    Channel,
    Label,
    News,
    PageText,
    PageWatch,
    SavedSearch,
    Site,
    Topic,
)
from store.models.crawl_tables import Table
from store.search.fulltext import index_words_of

_BATCH: Final = 2_000
_MODULUS: Final = 1 << 128
# What a user made: where any of it is, the target is in use. The rest is only ever derived.
_MADE_BY_USERS: Final = (Site, Topic, Label, Channel, SavedSearch, AccessToken, PageWatch)

Progress = Callable[[int, int], None]
"""Called with the number of rows copied and read back so far, and the total."""


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """A table, equal in both databases."""

    name: str
    rows: int
    checksum: str
    """32 hexadecimal digits."""


@dataclass(frozen=True, slots=True)
class _End:
    """A database, with its address for errors."""

    database: Database
    where: str


def copy_store(
    source: tuple[Database, str],
    target: tuple[Database, str],
    progress: Progress | None = None,
) -> tuple[CopiedTable, ...]:
    """Copy every table of *source* into *target*; both are open, of this version, given with their address.

    Returns the tables in the order in which they were copied: each after those that it refers to.

    Raises:
        StoreError: *target* holds a store that somebody has begun to use, or cannot keep a row.
        StoreDamagedError: what was read back is not what was written; nothing was kept.
    """
    reading, writes = _End(*source), _End(*target)
    with (
        own_connection(reading.database, reading.where),
        own_connection(writes.database, writes.where),
        _snapshot(reading),
        writing(writes.database, writes.where),
    ):
        check_unused(writes.database, writes.where)
        return _copy_all(reading, writes, progress or (lambda _done, _of: None))


def _copy_all(source: _End, target: _End, progress: Progress) -> tuple[CopiedTable, ...]:
    # A model is defined after those that it refers to, so its rows come after theirs.
    tables = [table for table in ALL if table not in OF_DAEMONS]
    total = 2 * sum(_count(source.database, table) for table in tables)
    for table in reversed(ALL):
        table.delete().execute(target.database)
    meter = _Meter(progress, total)
    copied = [_copy(source, target, table, meter) for table in tables]
    _index_words(target.database)
    for one, table in zip(copied, tables, strict=True):
        found = _summed(target, table, meter)
        if found != one:
            raise StoreDamagedError(
                f"table {one.name} was not copied right: {one.rows} rows with checksum "
                f"{one.checksum} were read, {found.rows} with {found.checksum} were written; "
                "nothing was kept"
            )
    if not is_sqlite(target.database):
        # Without statistics the first hours' queries would be planned for empty tables.
        _run(target.database, "ANALYZE")
    return tuple(copied)


def check_unused(target: Database, where: str) -> None:
    """Refuse to copy into a store that somebody has begun to use.

    Raises:
        StoreError: it has a site, a topic, or whatever else only users make.
    """
    for table in _MADE_BY_USERS:
        if rows := _count(target, table):
            raise StoreError(
                f"{without_password(where)} is in use: it has {rows} rows in {_name(table)}; "
                "name an empty database or folder"
            )


@contextlib.contextmanager
def _snapshot(source: _End) -> Iterator[None]:
    """Read one state of *source*, whatever others write meanwhile."""
    with source.database.atomic():
        if not is_sqlite(source.database):
            _run(source.database, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


class _Meter:
    """Counts rows, and tells."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def add(self, rows: int) -> None:
        self._done += rows
        self._progress(self._done, self._total)


class _Sum:
    """A table's number of rows and checksum, as they are read."""

    def __init__(self, table: type[Table]) -> None:
        self._name = _name(table)
        self._plain = [_plain_value(field) for field in table._meta.sorted_fields]  # noqa: SLF001 - peewee's
        self._rows = 0
        self._sum = 0

    def add(self, row: Sequence[object]) -> tuple[object, ...]:
        """Count *row*; return it with values that both databases take."""
        plain = tuple(
            None if value is None else form(value)
            for form, value in zip(self._plain, row, strict=True)
        )
        self._rows += 1
        digest = hashlib.md5(repr(plain).encode("utf-8", "surrogatepass")).digest()
        self._sum = (self._sum + int.from_bytes(digest)) % _MODULUS
        return plain

    def total(self) -> CopiedTable:
        """Return what was counted."""
        return CopiedTable(self._name, self._rows, f"{self._sum:032x}")


def _plain_value(field: Any) -> Callable[[Any], object]:  # noqa: ANN401 - peewee's classes are untyped
    """Return what turns a value of *field* into the same one whichever driver read it."""
    while isinstance(field, ForeignKeyField):
        field = field.rel_field
    for kinds, form in (
        (BooleanField, bool),
        (DoubleField, float),
        ((IntegerField, AutoField), int),
        (BlobField, bytes),
    ):
        if isinstance(field, kinds):
            return form
    return str


def _copy(source: _End, target: _End, table: type[Table], meter: _Meter) -> CopiedTable:
    counted = _Sum(table)
    insert = _into_sqlite if is_sqlite(target.database) else _into_postgres
    for rows in _read(source, table):
        try:
            insert(target.database, table, [counted.add(row) for row in rows])
        except (peewee.DataError, peewee.IntegrityError) as error:
            reason = str(error).splitlines()[0]
            problem = f"a row of table {_name(table)} cannot be kept there: {reason}"
            raise StoreError(f"{problem}; nothing was kept") from error
        meter.add(len(rows))
    _go_on_counting(source.database, target.database, table)
    return counted.total()


def _summed(end: _End, table: type[Table], meter: _Meter) -> CopiedTable:
    counted = _Sum(table)
    for rows in _read(end, table):
        for row in rows:
            counted.add(row)
        meter.add(len(rows))
    return counted.total()


def _read(end: _End, table: type[Table]) -> Iterator[list[tuple[object, ...]]]:
    """Read all rows, some at a time; a row's parent in its own table comes before it."""
    names = _columns(table)
    order = ' ORDER BY "id"' if '"id"' in names else ""
    statement = f'SELECT {", ".join(names)} FROM "{_name(table)}"{order}'  # noqa: S608 - names of ours
    connection: Any = end.database.connection()  # type: ignore[no-untyped-call]  # peewee's stubs lack it
    # A named cursor is PostgreSQL's way not to send everything at once.
    cursor = connection.cursor() if is_sqlite(end.database) else connection.cursor("hubwatch_copy")
    with contextlib.closing(cursor):
        with _errors_of(end):
            cursor.execute(statement)
        while True:
            with _errors_of(end):
                rows = cursor.fetchmany(_BATCH)
            if not rows:
                return
            yield rows


@contextlib.contextmanager
def _errors_of(end: _End) -> Iterator[None]:
    """Name the database that is read, not the one that is written meanwhile."""
    with storage_errors(end.where), peewee.__exception_wrapper__:  # type: ignore[attr-defined]
        yield


def _into_sqlite(target: Database, table: type[Table], rows: list[tuple[object, ...]]) -> None:
    names = _columns(table)
    marks = ", ".join("?" * len(names))
    columns = ", ".join(names)
    run_many(target, f'INSERT INTO "{_name(table)}" ({columns}) VALUES ({marks})', rows)  # noqa: S608 - likewise


def _into_postgres(target: Database, table: type[Table], rows: list[tuple[object, ...]]) -> None:
    statement = f'COPY "{_name(table)}" ({", ".join(_columns(table))}) FROM STDIN'
    with peewee.__exception_wrapper__:  # type: ignore[attr-defined]  # as execute_sql does
        cursor: Any = target.cursor()  # type: ignore[no-untyped-call]  # peewee's stubs lack it
        with cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)


def _go_on_counting(source: Database, target: Database, table: type[Table]) -> None:
    """Let new ids of *target* begin where those of *source* would: ids are never used again."""
    if not isinstance(table._meta.primary_key, AutoField):  # noqa: SLF001 - peewee's
        return
    name = _name(table)
    if (last := _last_id(source, name)) is None:
        return
    if is_sqlite(target):
        _run(target, "DELETE FROM sqlite_sequence WHERE name = ?", name)
        _run(target, "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", name, last)
    else:
        _run(target, "SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)", name, last)


def _last_id(source: Database, name: str) -> int | None:
    """Return the last id that was given out; None = none yet."""
    if is_sqlite(source):
        # Some tables have no entry there: their next id is one more than the highest.
        kept = "coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?), 0)"
        row = _run(
            source,
            f'SELECT max({kept}, coalesce((SELECT max(id) FROM "{name}"), 0))',  # noqa: S608 - likewise
            name,
        ).fetchone()
    else:
        (sequence,) = _run(source, "SELECT pg_get_serial_sequence(%s, 'id')", name).fetchone()
        row = _run(source, f"SELECT last_value FROM {sequence} WHERE is_called").fetchone()  # noqa: S608 - likewise
    return int(row[0]) if row and row[0] else None


def _index_words(target: Database) -> None:
    """Build the search index from the words that are kept with the texts."""
    if is_sqlite(target):
        _run(target, "INSERT INTO news_words (news_words) VALUES ('delete-all')")
    else:
        _run(target, "DELETE FROM news_words")
    words = (
        News.select(News.id, PageText.words)
        .join(PageText, on=(PageText.page == News.page))
        .where(PageText.words.is_null(False))
    )
    last = 0
    while rows := list(
        words.where(News.id > last).order_by(News.id).limit(_BATCH).tuples().execute(target)
    ):
        index_words_of(target, [(one, bytes(packed)) for one, packed in rows])
        last = rows[-1][0]


def _count(database: Database, table: type[Table]) -> int:
    return int(table.select(fn.COUNT(1)).scalar(database))


def _name(table: type[Table]) -> str:
    return str(table._meta.table_name)  # noqa: SLF001 - peewee's settings of a model have no other name


def _columns(table: type[Table]) -> list[str]:
    return [f'"{field.column_name}"' for field in table._meta.sorted_fields]  # noqa: SLF001 - likewise


def _run(database: Database, statement: str, *values: object) -> Any:  # noqa: ANN401 - a driver's cursor
    return database.execute_sql(statement, values)  # type: ignore[no-untyped-call]  # peewee's stubs lack it
