"""Errors of the drivers, as they really come: which pass, and which end the daemon."""

import errno
import resource
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import peewee
import pytest

from store import Store, open_store
from store.database.failures import kind_of, of_file, storage_errors
from store.errors import (
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreLostError,
    StoreReadOnlyError,
    StoreUnavailableError,
)
from store.files.page_cache import PageCache


class ServerError(peewee.OperationalError):
    """What the driver of PostgreSQL raises: an error with a state of five characters."""

    def __init__(self, sqlstate: str | None, words: str = "gone") -> None:
        super().__init__(words)
        self.sqlstate = sqlstate


ServerError.__name__ = "OperationalError"


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "s.sqlite"), cache_folder=tmp_path) as store:
        yield store


def fill(store: Store) -> None:
    for number in range(2_000):
        store.write.add_site(f"https://a{number}.test/" + "x" * 3_000, f"n{number}", now=0.0)


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("57P01", StoreLostError),  # pg_terminate_backend, or a fast shutdown
        ("57P03", StoreLostError),  # the server is starting up
        ("08006", StoreLostError),
        (None, StoreLostError),  # the server closed the connection unexpectedly
        ("53100", StoreFullError),
        ("53300", StoreUnavailableError),  # too many connections
        ("25006", StoreReadOnlyError),  # a standby
        ("40P01", StoreLockedError),
        ("XX001", StoreDamagedError),
        ("28P01", StoreError),
        ("3D000", StoreError),
        ("42P01", None),  # a table that is not there is a bug
        ("22P02", None),
    ],
)
def test_states_of_postgresql(state: str | None, kind: type[StoreError] | None) -> None:
    assert kind_of(ServerError(state)) is kind


def test_a_wrong_password_is_not_waited_for() -> None:
    words = 'connection failed: FATAL:  password authentication failed for user "u"'
    assert kind_of(ServerError(None, words)) is StoreError


def test_a_full_database_is_full(opened: Store) -> None:
    """``max_page_count`` gives SQLite's own error for a full disk."""
    pages = opened.database.execute_sql("PRAGMA page_count").fetchone()[0]  # type: ignore[no-untyped-call]
    opened.database.execute_sql(f"PRAGMA max_page_count = {pages}")  # type: ignore[no-untyped-call]
    with pytest.raises(StoreFullError, match="no space left; make room"):
        fill(opened)


def test_a_file_that_may_not_grow_leaves_the_store_whole(opened: Store, tmp_path: Path) -> None:
    """A limit of the operating system, met in the middle of writing."""
    opened.write.add_site("https://first.test/", "first", now=0.0)
    most = max(path.stat().st_size for path in tmp_path.glob("s.sqlite*"))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        with pytest.raises(StoreUnavailableError):
            fill(opened)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    opened.write.add_site("https://last.test/", "last", now=0.0)
    names = [row.name for row in opened.read.sites()]
    assert (names[0], names[-1]) == ("first", "last")


def test_a_statement_of_ours_that_is_wrong_is_no_damage(tmp_path: Path) -> None:
    database = peewee.SqliteDatabase(str(tmp_path / "x"))
    database.execute_sql("CREATE TABLE t (a INTEGER PRIMARY KEY)")  # type: ignore[no-untyped-call]
    database.execute_sql("INSERT INTO t VALUES (1)")  # type: ignore[no-untyped-call]
    with pytest.raises(peewee.IntegrityError), storage_errors("x"):
        database.execute_sql("INSERT INTO t VALUES (1)")  # type: ignore[no-untyped-call]


def test_a_file_of_noise_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "n").write_bytes(b"SQLite format 3\0" + b"\xff" * 4_000)
    with pytest.raises(StoreDamagedError), storage_errors("n"):
        sqlite3.connect(tmp_path / "n").execute("SELECT * FROM sqlite_master")


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, StoreFullError),
        (errno.EDQUOT, StoreFullError),
        (errno.EROFS, StoreReadOnlyError),
        (errno.EACCES, StoreReadOnlyError),
        (errno.EIO, StoreUnavailableError),
    ],
)
def test_errors_of_files(number: int, kind: type[StoreError]) -> None:
    assert type(of_file(OSError(number, "no"), "pages")) is kind


def test_a_body_that_finds_no_room_says_so(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(StoreFullError, match="page cache"):
            PageCache(tmp_path, quota_bytes=10**9).put("https://a.test/", b"x" * 5_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.rglob("~*"))
