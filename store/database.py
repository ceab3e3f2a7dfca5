"""Opening the database: SQLite by default, PostgreSQL by URL; checked, migrated, never re-created.

No database object is global. Queries are run on the one that :func:`open_database` returned.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import peewee
from peewee import Database, DatabaseError, OperationalError, SqliteDatabase

from store.addresses import without_password, without_secrets
from store.errors import (
    StoreDamagedError,
    StoreError,
    StoreLockedError,
    StorePlaceError,
    StoreTooNewError,
)
from store.home import make_file, make_folder, was_cut_off

BUSY_TIMEOUT_SECONDS = 30
# ``HUBW`` in the header of a SQLite file: a foreign database is refused.
APPLICATION_ID = 0x48554257
_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
MIGRATIONS = Path(__file__).with_name("migrations")

_PRAGMAS = {
    "journal_mode": "wal",
    "foreign_keys": 1,
    # NORMAL loses no consistency in WAL mode; a power cut may take the last visit, which is due again.
    "synchronous": 1,
    "cache_size": -32_000,
    "temp_store": 2,
}


def open_database(where: str) -> Database:
    """Open *where*, a SQLite path or a ``postgresql://`` URL, and bring its tables up to date.

    Raises:
        StoreLockedError: another process holds it for longer than the busy time-out.
        StoreDamagedError: the file is damaged, or is not a Hubwatch database. It is left as it is.
        StoreTooNewError: a later version of Hubwatch migrated it.
    """
    database = postgres(where) if is_server(where) else _sqlite(Path(where))
    try:
        with storage_errors(where):
            _migrate(database, where)
    except StoreError:
        database.close()
        raise
    return database


def _sqlite(path: Path) -> Database:
    with storage_errors(str(path)):
        try:
            ours = path.exists() and check_sqlite(path)
            if not ours:
                make_folder(path.parent)
                if not path.exists() and was_cut_off(path.parent):
                    raise StorePlaceError(f"a restore to {path.parent} was cut off; repeat it")
                make_file(path)  # SQLite gives its log and its index the mode of the file itself
        except OSError as error:
            raise StoreError(f"{path} cannot be opened for writing: {error}") from error
        database = SqliteDatabase(str(path), pragmas=_PRAGMAS, timeout=BUSY_TIMEOUT_SECONDS)
        if not ours:
            _sql(database, f"PRAGMA application_id = {APPLICATION_ID}")
    return database


def check_sqlite(path: Path) -> bool:
    """Refuse a foreign or damaged file; tell whether it is ours already and not just empty.

    Read-only where it can be: our own connection switches the journal mode, which writes to the file.
    """
    with path.open("rb") as file:
        start = file.read(_HEADER_BYTES)
    if start and not start.startswith(_MAGIC):
        raise StoreDamagedError(f"{path} is no database; choose another path, or move it away")
    connection = sqlite3.connect(read_address(path), uri=True, timeout=BUSY_TIMEOUT_SECONDS)
    with contextlib.closing(connection):
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        if application != APPLICATION_ID and tables:
            raise StoreDamagedError(
                f"{path} is a SQLite database of another program; choose another path"
            )
        # quick_check reads every page but skips the slow comparison of indexes with tables.
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise StoreDamagedError(f"{path} is damaged ({verdict}); restore a backup or move it away")
    return bool(application == APPLICATION_ID)


def read_address(path: Path) -> str:
    """Return the URI by which the SQLite file *path* is read, and not written but for its own sake.

    A transaction that was cut off in rollback mode leaves a journal that the next reader must play
    back, which a read-only connection cannot: it fails with "readonly database". So a file of ours, or
    one that is still empty, is opened for writing when it has such a journal; another program's never is.
    """
    mode, journal_bytes = "ro", 0
    with contextlib.suppress(OSError):
        journal_bytes = path.with_name(path.name + "-journal").stat().st_size
    if journal_bytes:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
        # https://www.sqlite.org/fileformat2.html, section 1.3: four bytes at 68, the highest first.
        if not header or int.from_bytes(header[68:72]) == APPLICATION_ID:
            mode = "rw"
    return f"file:{quote(str(path.resolve()))}?mode={mode}"


def is_server(where: str) -> bool:
    """Return whether *where* is the address of a PostgreSQL database, and no path."""
    return where.startswith(("postgresql://", "postgres://"))


def postgres(url: str) -> Database:
    """Return the PostgreSQL database at *url*, not yet connected.

    Raises:
        StoreError: the driver is not installed, or *url* is no address.
    """
    try:
        import psycopg  # noqa: F401, PLC0415 - an extra, loaded only by those who use it
    except ImportError as error:
        raise StoreError("PostgreSQL needs the extra: pip install 'hubwatch[postgres]'") from error
    from playhouse.db_url import connect  # noqa: PLC0415 - reads drivers that few have

    address = url.replace("postgres://", "postgresql://", 1)
    try:
        database: Database = connect(address, prefer_psycopg3=True)
    except ValueError:
        # Not what it says of it: it quotes the piece that it took for a port.
        way_out = "write special characters of the password as %40 (@), %2F (/), %3A (:)"
        raise StoreError(
            f"{without_password(url)} is no address of a database; {way_out}"
        ) from None
    return database


def _migrate(database: Database, where: str) -> None:
    """Apply the numbered migrations that this database has not seen, each in a transaction."""
    known = {path.stem for path in MIGRATIONS.glob("[0-9]*.py")}
    applied = set()
    if database.table_exists("schema_migration"):
        rows = _sql(database, "SELECT name FROM schema_migration").fetchall()
        applied = {str(name) for (name,) in rows}
    if unknown := applied - known:
        newest = max(unknown)
        shown = without_password(where)
        raise StoreTooNewError(f"{shown} was written by a later version of Hubwatch ({newest})")
    if applied != known:
        # The runner pulls in half of playhouse, and most commands need no migration.
        from playhouse.migrations import Runner  # noqa: PLC0415

        Runner(database, directory=str(MIGRATIONS)).up()


@contextlib.contextmanager
def storage_errors(where: str) -> Iterator[None]:
    """Turn what the user can mend into a :class:`StoreError`; let bugs through as they are."""
    try:
        yield
    except (OperationalError, sqlite3.OperationalError) as error:
        shown, message = without_password(where), without_secrets(str(error), where)
        if "locked" in message or "busy" in message:
            raise StoreLockedError(
                f"{shown} is held by another process; is another Hubwatch running on it?"
            ) from error
        if "unable to open" in message or "readonly" in message:
            raise StoreError(f"{shown} cannot be opened for writing: {message}") from error
        raise StoreError(f"{shown}: {message}") from (error if message == str(error) else None)
    # sqlite3 decodes its messages strictly, and they quote what a damaged file holds.
    except (DatabaseError, sqlite3.DatabaseError, UnicodeDecodeError) as error:
        shown = without_password(where)
        if "invalid connection option" in str(error):
            raise StoreError(f"{shown} names an option that PostgreSQL does not know") from None
        # These are bugs: a constraint, a type or a statement of ours is wrong.
        if isinstance(error, peewee.IntegrityError | peewee.ProgrammingError | peewee.DataError):
            raise
        raise StoreDamagedError(
            f"{shown} is damaged or no database ({without_secrets(str(error), where)}); "
            "restore a backup or move it away"
        ) from error


@contextlib.contextmanager
def writing(database: Database, where: str) -> Iterator[None]:
    """Run the block as one transaction; nothing of it stays when it raises.

    SQLite takes its write lock at once: a transaction that begins by reading fails at its first
    write, busy time-out or not, when another process has written in between.
    """
    transaction = database.atomic("IMMEDIATE") if is_sqlite(database) else database.atomic()
    with storage_errors(where), transaction:
        yield


@contextlib.contextmanager
def own_connection(database: Database) -> Iterator[None]:
    """Hold a connection of the calling thread's own; one that it holds already is used and stays."""
    if not database.is_closed():
        yield
        return
    with storage_errors(str(database.database)):
        database.connect()
    try:
        yield
    finally:
        database.close()


def _sql(database: Database, statement: str) -> Any:  # noqa: ANN401 - a driver's cursor
    """Run a statement that has no form in peewee."""
    return database.execute_sql(statement)  # type: ignore[no-untyped-call]  # peewee's stubs lack it


def data_version(database: Database) -> object:
    """Return SQLite's counter of changes made by other connections."""
    return _sql(database, "PRAGMA data_version").fetchone()[0]


def is_sqlite(database: Any) -> bool:  # noqa: ANN401 - peewee's classes differ by driver
    """Return whether *database* is the embedded one."""
    return isinstance(database, SqliteDatabase)
