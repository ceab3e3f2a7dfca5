"""Database errors as errors of the store: by error code where there is one, else by the driver's words.

======================================  =======================
SQLite: BUSY, LOCKED                    StoreLockedError
FULL; errno ENOSPC, EDQUOT              StoreFullError
READONLY, CANTOPEN, PERM; EROFS, EACCES StoreReadOnlyError
IOERR and other errno                   StoreUnavailableError
CORRUPT, NOTADB                         StoreDamagedError
PostgreSQL: class 08, 57P0x, no state   StoreLostError
53100                                   StoreFullError
55P03, 40001, 40P01                     StoreLockedError
25006                                   StoreReadOnlyError
other class 53, 58                      StoreUnavailableError
XX001, XX002                            StoreDamagedError
28xxx, 3D000                            StoreError
======================================  =======================

Everything else is a bug and passes through.
"""

import contextlib
import errno
import sqlite3
from collections.abc import Iterator
from typing import Any

import peewee

from store.database.addresses import without_password, without_secrets
from store.errors import (
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreLostError,
    StoreReadOnlyError,
    StoreUnavailableError,
)

_SQLITE: dict[int, type[StoreError]] = {
    sqlite3.SQLITE_BUSY: StoreLockedError,
    sqlite3.SQLITE_LOCKED: StoreLockedError,
    sqlite3.SQLITE_FULL: StoreFullError,
    sqlite3.SQLITE_READONLY: StoreReadOnlyError,
    sqlite3.SQLITE_CANTOPEN: StoreReadOnlyError,
    sqlite3.SQLITE_PERM: StoreReadOnlyError,
    sqlite3.SQLITE_IOERR: StoreUnavailableError,
    sqlite3.SQLITE_PROTOCOL: StoreUnavailableError,
    sqlite3.SQLITE_CORRUPT: StoreDamagedError,
    sqlite3.SQLITE_NOTADB: StoreDamagedError,
}
# https://www.postgresql.org/docs/current/errcodes-appendix.html; the longest prefix counts.
_POSTGRES: dict[str, type[StoreError]] = {
    "08": StoreLostError,
    "57P": StoreLostError,
    "57P04": StoreError,  # the database was dropped
    "53": StoreUnavailableError,
    "53100": StoreFullError,
    "58": StoreUnavailableError,
    "25P03": StoreLostError,
    "55P03": StoreLockedError,
    "57014": StoreLockedError,  # a statement took longer than the server allows
    "40001": StoreLockedError,
    "40P01": StoreLockedError,
    "25006": StoreReadOnlyError,
    "XX001": StoreDamagedError,
    "XX002": StoreDamagedError,
    "28": StoreError,
    "3D000": StoreError,
}
# Failed connections have no state. With these words the settings are wrong, and waiting would not help.
_WRONG_SETTINGS = (
    "authentication failed",
    "no password supplied",
    "does not exist",
    "no pg_hba.conf entry",
)
_ERRNO: dict[int, type[StoreError]] = {
    errno.ENOSPC: StoreFullError,
    errno.EDQUOT: StoreFullError,
    errno.EFBIG: StoreFullError,
    errno.EROFS: StoreReadOnlyError,
    errno.EACCES: StoreReadOnlyError,
    errno.EPERM: StoreReadOnlyError,
}
_WORDS: dict[type[StoreError], str] = {
    StoreLockedError: "is locked by another process; is another Hubwatch running on it?",
    StoreFullError: "cannot be written: there is no space left; make room ({})",
    StoreReadOnlyError: "cannot be opened for writing: {}",
    StoreDamagedError: "is damaged or not a database ({}); restore a backup or move it away",
}


@contextlib.contextmanager
def storage_errors(where: str) -> Iterator[None]:
    """Turn errors a user can fix, or that pass, into :class:`StoreError`; bugs pass through."""
    try:
        yield
    except (peewee.PeeweeException, sqlite3.Error) as error:
        shown, message = without_password(where), without_secrets(str(error), where).strip()
        if "invalid connection option" in message:
            raise StoreError(f"{shown} has an option that PostgreSQL does not know") from None
        kind = kind_of(error)
        if kind is None:
            raise
        words = _WORDS.get(kind, "{}")
        text = f"{shown}: {message}" if words == "{}" else f"{shown} {words.format(message)}"
        # The driver's error is left out if it shows the password.
        raise kind(text) from (error if message == str(error).strip() else None)
    except UnicodeDecodeError as error:
        # sqlite3 decodes its messages strictly, and they quote data of a damaged file.
        words = _WORDS[StoreDamagedError].format(error)
        raise StoreDamagedError(f"{without_password(where)} {words}") from error


def of_file(error: OSError, what: object) -> StoreError:
    """Return the store error for a failed write of the file or folder *what*."""
    return _ERRNO.get(error.errno or 0, StoreUnavailableError)(f"{what}: {error.strerror or error}")


def kind_of(error: Exception) -> type[StoreError] | None:
    """Return the kind of error that a driver's *error* is; None = a bug."""
    cause = error
    while isinstance(inner := getattr(cause, "orig", None), Exception):
        cause = inner  # peewee wraps errors of a connection being opened twice
    if isinstance(cause, sqlite3.Error):
        return _of_sqlite(cause)
    if isinstance(cause, UnicodeDecodeError):
        return StoreDamagedError
    return _of_postgres(cause)


def _of_sqlite(cause: sqlite3.Error) -> type[StoreError] | None:
    # The low byte is the primary code: https://www.sqlite.org/rescode.html
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
    if code in _SQLITE:
        return _SQLITE[code]
    if isinstance(cause, sqlite3.OperationalError):
        return StoreError
    # A wrong constraint, type or statement is a bug of ours.
    bugs = (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.DataError)
    is_damage = isinstance(cause, sqlite3.DatabaseError) and not isinstance(cause, bugs)
    return StoreDamagedError if is_damage else None


def _of_postgres(cause: Any) -> type[StoreError] | None:  # noqa: ANN401 - the driver is an extra
    state = getattr(cause, "sqlstate", None) or ""
    for length in (5, 3, 2):
        if state[:length] in _POSTGRES:
            return _POSTGRES[state[:length]]
    if state:
        return None
    name = type(cause).__name__
    if name == "OperationalError" and any(words in str(cause) for words in _WRONG_SETTINGS):
        return StoreError
    return StoreLostError if name in {"OperationalError", "InterfaceError"} else None
