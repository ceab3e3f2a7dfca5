"""Opening the database: SQLite, or PostgreSQL by URL; checked and migrated, never re-created.

There is no global database object; :func:`open_database` returns the one to run queries on.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from peewee import Database, PeeweeException, SqliteDatabase

from store.database.addresses import without_password
from store.database.failures import of_file, storage_errors
from store.database.home import lost, make_file, make_folder, was_cut_off
from store.database.upgrades import upgrade
from store.driver import load_driver
from store.errors import StoreDamagedError, StoreError, StorePlaceError

if TYPE_CHECKING:
    from store.database.postgres import ServerBounds

BUSY_TIMEOUT_SECONDS = 30
# ``HUBW`` in the header of a SQLite file, to refuse foreign databases.
APPLICATION_ID = 0x48554257
_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100  # https://www.sqlite.org/fileformat2.html, section 1.3

_INCREMENTAL = 2  # https://www.sqlite.org/pragma.html#pragma_auto_vacuum
# https://www.postgresql.org/docs/current/libpq-connect.html, section 32.1.2; seconds, the last milliseconds
_PATIENCE = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
_PRAGMAS = {
    "journal_mode": "wal",
    # A log that grew during a long read is truncated at the next checkpoint.
    "journal_size_limit": 64_000_000,
    "foreign_keys": 1,
    # NORMAL is consistent in WAL mode; a power cut may lose the last visit, which is then due again.
    "synchronous": 1,
    # For each connection, and every thread of the web page has one.
    "cache_size": -8_000,
    "temp_store": 2,
}


def open_database(
    where: str,
    busy_seconds: float | None = None,
    *,
    bounds: ServerBounds | None = None,
) -> Database:
    """Open a SQLite path or ``postgresql://`` URL and bring its tables up to date.

    *bounds*: limits of connections to a server; None = the defaults of ``ServerBounds``.

    *busy_seconds*: SQLite's wait for another process; None = 30.

    Raises:
        StorePlaceError: there is no database, but other files of a store are there.
        StoreLockedError: another process holds it for longer than the busy timeout.
        StoreDamagedError: damaged, or not a Hubwatch database; left untouched.
        StoreTooNewError: a later version of Hubwatch migrated it.
    """
    path = Path(where)
    database = open_server(where, bounds) if is_server(where) else _sqlite(path, busy_seconds)
    try:
        with storage_errors(where):
            upgrade(database, where)
    except StoreError:
        close(database)
        raise
    return database


def _sqlite(path: Path, busy_seconds: float | None) -> Database:
    with storage_errors(str(path)):
        try:
            ours = path.exists() and check_sqlite(path)
            if not ours:
                make_folder(path.parent)
                if not path.exists():
                    _check_not_lost(path)
                make_file(path)  # SQLite gives its log and its index the mode of the file itself
                _begin(path)
        except OSError as error:
            raise of_file(error, f"{path} cannot be opened for writing") from error
        # rw: a file deleted while it is in use is never created again by a thread that connects.
        return SqliteDatabase(
            f"file:{quote(str(path.resolve()))}?mode=rw",
            uri=True,
            pragmas=_PRAGMAS,
            timeout=BUSY_TIMEOUT_SECONDS if busy_seconds is None else busy_seconds,
        )


def _begin(path: Path) -> None:
    """Make the empty file *path* a database of ours."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        # Free pages can be returned while the file is in use. Only here: it takes effect on a file without
        # tables, and writes to the file each time. One transaction, so that the file is never another's.
        connection.executescript(
            f"BEGIN; PRAGMA auto_vacuum = {_INCREMENTAL};"
            f"PRAGMA application_id = {APPLICATION_ID}; COMMIT"
        )


def _check_not_lost(path: Path) -> None:
    """Refuse to create a database where one was lost."""
    if was_cut_off(path.parent):
        raise StorePlaceError(f"a restore to {path.parent} was interrupted; run it again")
    if left := lost(path.parent):
        names = ", ".join(one.name for one in left)
        raise StorePlaceError(
            f"{path} is missing, but a store was there: it left {names}; bring the database back, "
            "restore a backup (hubwatch restore), or move these away to begin with an empty one"
        )


def check_sqlite(path: Path) -> bool:
    """Refuse a foreign or cut file; return whether it is a Hubwatch database (False = empty).

    Costs the same for any size.
    """
    try:
        header = _header(path)
        if header and path.with_name(path.name + "-journal").exists():
            # After a kill it undoes what the header says, the very first write as well.
            with contextlib.closing(sqlite3.connect(read_address(path), uri=True)) as connection:
                connection.execute("PRAGMA schema_version")
            header = _header(path)
        if _is_cut(path, header):
            raise StoreDamagedError(f"{path} is cut off; restore a backup or move it away")
    except OSError as error:
        raise of_file(error, f"{path} cannot be read") from error
    return bool(header)


def _header(path: Path) -> bytes:
    """Return the header of a Hubwatch database; empty if the file is."""
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if header and not header.startswith(_MAGIC):
        raise StoreDamagedError(f"{path} is not a database; choose another path or move it away")
    # Not from a connection, which might play back another program's journal.
    if header and int.from_bytes(header[68:72]) != APPLICATION_ID:
        raise StoreDamagedError(
            f"{path} is a SQLite database of another program; choose another path"
        )
    return header


def _is_cut(path: Path, header: bytes) -> bool:
    """Whether a database file is shorter than its header says, and no log has the rest."""
    # https://www.sqlite.org/fileformat2.html, section 1.3: big-endian; 1 stands for 65,536.
    size, pages = int.from_bytes(header[16:18]), int.from_bytes(header[28:32])
    if header[24:28] != header[92:96]:
        return False  # written by a version that keeps no number of pages
    log = path.with_name(path.name + "-wal")
    whole = (65_536 if size == 1 else size) * pages
    return path.stat().st_size < whole and not (log.exists() and log.stat().st_size)


def read_address(path: Path) -> str:
    """Return the URI for reading the SQLite file *path*, which is ours."""
    # Read-only, except that a journal left by an interrupted transaction must be rolled back first, which
    # fails read-only ("readonly database").
    mode = "rw" if path.with_name(path.name + "-journal").exists() else "ro"
    return f"file:{quote(str(path.resolve()))}?mode={mode}"


def is_server(where: str) -> bool:
    """Return whether *where* is a PostgreSQL URL, not a path."""
    return where.startswith(("postgresql://", "postgres://"))


def open_server(url: str, bounds: ServerBounds | None = None) -> Database:
    """Return the PostgreSQL database at *url*, not yet connected, within *bounds*.

    Raises:
        StoreError: the driver is not installed, or *url* is no address.
    """
    try:
        load_driver()
    except ImportError as error:
        raise StoreError("PostgreSQL needs the extra: pip install 'hubwatch[postgres]'") from error
    from playhouse.db_url import parse  # noqa: PLC0415 - reads drivers that few have

    from store.database.postgres import ServerBounds, ServerDatabase  # noqa: PLC0415 - likewise

    address = url.replace("postgres://", "postgresql://", 1)
    limits = bounds or ServerBounds()
    try:
        given = _PATIENCE | parse(address, unquote_password=True, unquote_user=True)
    except ValueError:
        given = {}
    # Without a name: with two slashes instead of three it reads as the host.
    if not given.get("database"):
        # Without the driver's error, which quotes the part it took for a port.
        way_out = "write special characters of the password as %40 (@), %2F (/), %3A (:)"
        raise StoreError(f"{without_password(url)} is not a database address; {way_out}")
    # Of two values of one setting the server takes the later.
    given["options"] = " ".join(filter(None, (limits.options, given.get("options"))))
    database = ServerDatabase(
        given.pop("database"),
        max_connections=limits.connections,
        timeout=limits.wait_seconds,
        prefer_psycopg3=True,
        **given,
    )
    database.keeps = limits.keep
    return cast("Database", database)


def close(database: Database) -> None:
    """Close every connection of *database*, those in a pool as well."""
    database.close()
    if not is_sqlite(database):
        pool: Any = database
        pool.close_all()


@contextlib.contextmanager
def writing(database: Database, where: str) -> Iterator[None]:
    """Run the block as one transaction, rolled back if it raises; within another it is a part of that."""
    if database.in_transaction():
        with storage_errors(where):
            yield
        return
    # SQLite takes its write lock at once: a transaction that starts by reading fails at its first write,
    # despite the busy timeout, if another process wrote in between.
    transaction = database.atomic("IMMEDIATE") if is_sqlite(database) else database.atomic()
    with storage_errors(where):
        try:
            with transaction:
                yield
        except PeeweeException as error:
            raise _first_error(error) from error.__cause__


def _first_error(error: BaseException) -> BaseException:
    """Return the original error of a transaction, not that of its rollback."""
    # SQLite rolls back on its own when the disk is full: https://www.sqlite.org/lang_transaction.html, 3.1
    while "cannot rollback" in str(error) and error.__context__ is not None:
        error = error.__context__
    return error


@contextlib.contextmanager
def own_connection(database: Database, where: str) -> Iterator[None]:
    """Use a connection of the calling thread: the one it has, or a new one closed at the end."""
    if not database.is_closed():
        yield
        return
    with storage_errors(where):
        database.connect()
    try:
        yield
    finally:
        database.close()


def is_sqlite(database: Any) -> bool:  # noqa: ANN401 - peewee's classes differ by driver
    """Return whether *database* is SQLite."""
    return isinstance(database, SqliteDatabase)
