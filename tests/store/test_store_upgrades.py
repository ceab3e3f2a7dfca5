"""A store is upgraded by a later version, whole or not at all, with a copy of it before."""

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from peewee import Database
from upgrading import LATER, ROWS, later_version, make_full_store

from store import open_store
from store.database import is_sqlite, open_database
from store.database.home import UPGRADE_COPY
from store.database.upgrades import known_migrations
from store.errors import StoreDamagedError, StoreTooNewError

ROOT = Path(__file__).resolve().parents[2]
FIRST = known_migrations()


@pytest.fixture
def later(tmp_path: Path) -> Path:
    """The migrations of a version after this one."""
    return later_version(tmp_path / "later")


@pytest.fixture
def update(later: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Install that version, so that the next store is opened by it."""
    return lambda: monkeypatch.setattr("store.database.upgrades.MIGRATIONS", later)


def rows(database: Database, query: str) -> list[Any]:
    return list(database.execute_sql(query).fetchall())  # type: ignore[no-untyped-call]


def applied(database: Database) -> list[str]:
    return [name for (name,) in rows(database, "SELECT name FROM schema_migration ORDER BY name")]


def check(database: Database, counts: dict[str, int]) -> None:
    """Nothing is lost, and every reference holds."""
    names = set(database.get_tables())
    for table, count in counts.items():
        name = table if table in names else "word_of_a_user"
        assert rows(database, f'SELECT COUNT(*) FROM "{name}"') == [(count,)], table
    if is_sqlite(database):
        for pragma in ("integrity_check", "foreign_key_check"):
            assert rows(database, f"PRAGMA {pragma}") in ([], [("ok",)])


def test_a_store_is_upgraded_by_a_later_version(
    where: str, tmp_path: Path, update: Callable[[], None]
) -> None:
    counts = make_full_store(where)
    assert set(counts.values()) == {ROWS}
    update()
    with open_store(where, cache_folder=tmp_path / "cache") as store:
        check(store.database, counts)
        assert applied(store.database) == [*FIRST, LATER]
        assert rows(store.database, "SELECT note FROM page") == [("none",)] * ROWS
        assert rows(store.database, "SELECT COUNT(*) FROM remark") == [(ROWS,)]
        indexes = {index.name for index in store.database.get_indexes("page")}
        assert {"page_waiting_by_score", "page_site_id_canonical_key"} <= indexes
        if is_sqlite(store.database):
            (made,) = rows(store.database, "SELECT sql FROM sqlite_schema WHERE name = 'page'")
            assert "AUTOINCREMENT" in made[0], "ids are given out twice"
    if is_sqlite(store.database):
        with closing(sqlite3.connect(Path(where).with_name(UPGRADE_COPY))) as copy:
            assert copy.execute("SELECT MAX(name) FROM schema_migration").fetchone() == FIRST[-1:]
            assert copy.execute("SELECT COUNT(*) FROM label").fetchone() == (ROWS,)


def test_a_new_store_has_the_latest_tables_and_nothing_to_catch_up_with(
    where: str, update: Callable[[], None]
) -> None:
    update()
    with closing(open_database(where)) as database:
        assert applied(database) == [*FIRST, LATER]
        # The models have the tables of the later version, so its migration did not run.
        assert "label" in database.get_tables()


@pytest.mark.parametrize("statement", [3, 6, 10, 16])
def test_an_upgrade_that_is_killed_begins_again(
    where: str, tmp_path: Path, later: Path, update: Callable[[], None], statement: int
) -> None:
    counts = make_full_store(where)
    program = Path(__file__).with_name("upgrading.py")
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    done = subprocess.run(
        [sys.executable, str(program), where, str(later), str(statement)],
        env=os.environ | {"PYTHONPATH": paths},
        check=False,
    )
    assert done.returncode == -9
    # As it was: no half of it.
    with closing(open_database(where)) as database:
        assert applied(database) == [*FIRST]
        assert "remark" not in database.get_tables()
    update()
    with open_store(where, cache_folder=tmp_path / "cache") as store:
        check(store.database, counts)
    assert not list(tmp_path.glob("~*"))
    if is_sqlite(store.database):
        assert Path(where).with_name(UPGRADE_COPY).exists()


@pytest.mark.parametrize("statement", [3, 8, 20, 45, 90])
def test_a_store_whose_making_is_killed_is_made_at_the_next_start(
    where: str, tmp_path: Path, later: Path, statement: int
) -> None:
    program = Path(__file__).with_name("upgrading.py")
    done = subprocess.run(
        [sys.executable, str(program), where, str(later), str(statement)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])},
        check=False,
    )
    assert done.returncode == -9
    with open_store(where, cache_folder=tmp_path / "cache") as store:
        assert store.read.sites() == []


def test_a_store_of_a_later_version_is_left_as_it_is(
    where: str, later: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as installed:
        installed.setattr("store.database.upgrades.MIGRATIONS", later)
        open_database(where).close()
    with pytest.raises(StoreTooNewError, match=LATER):
        open_database(where)


def test_a_copy_is_the_owners_and_replaces_the_last(
    tmp_path: Path, update: Callable[[], None]
) -> None:
    where, copy = tmp_path / "hubwatch.sqlite", tmp_path / UPGRADE_COPY
    make_full_store(str(where))
    copy.write_text("an older one")
    update()
    open_database(str(where)).close()
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert copy.read_bytes().startswith(b"SQLite format 3")


def test_no_copy_is_made_of_a_new_store(tmp_path: Path, update: Callable[[], None]) -> None:
    update()
    open_database(str(tmp_path / "hubwatch.sqlite")).close()
    assert not (tmp_path / UPGRADE_COPY).exists()


def test_without_room_for_the_copy_nothing_is_upgraded(tmp_path: Path, later: Path) -> None:
    """A process may write files of 64 kB only, as on a full disk."""
    where = tmp_path / "hubwatch.sqlite"
    make_full_store(str(where))
    program = f"""
import resource, signal
from pathlib import Path
from store.database import open_database, upgrades
upgrades.MIGRATIONS = Path({str(later)!r})
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, 65_536))
open_database({str(where)!r})
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert "StoreFullError" in done.stderr or "StoreUnavailableError" in done.stderr, done.stderr
    with closing(sqlite3.connect(where)) as database:
        assert database.execute("SELECT name FROM schema_migration").fetchall() == [FIRST]
    assert not list(tmp_path.glob("*before*"))


def test_a_store_with_broken_references_is_not_upgraded(
    tmp_path: Path, update: Callable[[], None]
) -> None:
    where = tmp_path / "hubwatch.sqlite"
    make_full_store(str(where))
    with closing(sqlite3.connect(where)) as database, database:
        database.execute("DELETE FROM site WHERE id = 2")
    update()
    with pytest.raises(StoreDamagedError, match="rows that name others"):
        open_database(str(where))
    with closing(sqlite3.connect(where)) as database:
        assert database.execute("SELECT name FROM schema_migration").fetchall() == [FIRST]
