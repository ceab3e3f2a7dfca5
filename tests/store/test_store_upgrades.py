"""A store of any earlier version is upgraded, whole or not at all, with a copy of it before."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from peewee import Database
from playhouse.migrations import Runner
from upgrading import ROWS, connect, make_store_at

from store import open_store
from store.database import is_sqlite, open_database
from store.errors import StoreDamagedError, StoreFullError
from store.upgrades import MIGRATIONS, copy_of, known_migrations

ROOT = Path(__file__).resolve().parents[2]
RENAMED = {"recheck": "refresh", "topic_lead": "external_candidate"}
LAST = known_migrations()[-1]


def schema(database: Database) -> dict[str, Any]:
    """What describes each table, however it came to be."""
    return {
        table: (
            sorted(
                (one.name, one.data_type.lower(), one.null) for one in database.get_columns(table)
            ),
            sorted((tuple(one.columns), one.unique) for one in database.get_indexes(table)),
            sorted((one.column, one.dest_table, one.dest_column) for one in keys),
        )
        for table in sorted(database.get_tables())
        if not table.startswith("news_words_")
        for keys in [database.get_foreign_keys(table)]
    }


def check(database: Database, counts: dict[str, int]) -> None:
    """Nothing is lost, and every reference holds."""
    for table, count in counts.items():
        name = RENAMED.get(table, table)
        (found,) = database.execute_sql(f'SELECT COUNT(*) FROM "{name}"').fetchone()  # type: ignore[no-untyped-call]
        assert found == count, table
    if is_sqlite(database):
        for pragma in ("integrity_check", "foreign_key_check"):
            rows = database.execute_sql(f"PRAGMA {pragma}").fetchall()  # type: ignore[no-untyped-call]
            assert rows in ([], [("ok",)])


@pytest.mark.parametrize("migration", known_migrations()[:-1])
def test_a_store_of_any_earlier_version_is_upgraded(
    where: str, tmp_path: Path, migration: str
) -> None:
    counts = make_store_at(where, migration)
    assert set(counts.values()) == {ROWS}
    with open_store(where, cache_folder=tmp_path / "cache") as store:
        check(store.database, counts)
        upgraded = schema(store.database)
        assert len(store.read.sites()) == ROWS
    if is_sqlite(store.database):
        with sqlite3.connect(copy_of(Path(where), LAST)) as copy:
            assert copy.execute("SELECT MAX(name) FROM schema_migration").fetchone() == (migration,)
            assert copy.execute("SELECT COUNT(*) FROM site").fetchone() == (ROWS,)
        copy.close()
        fresh = open_database(str(tmp_path / "fresh" / "hubwatch.sqlite"))
        assert schema(fresh) == upgraded
        fresh.close()


@pytest.mark.parametrize("statement", [3, 8, 20, 45, 90, 150])
def test_an_upgrade_that_is_killed_begins_again(where: str, tmp_path: Path, statement: int) -> None:
    counts = make_store_at(where, known_migrations()[0])
    program = Path(__file__).with_name("upgrading.py")
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    done = subprocess.run(
        [sys.executable, str(program), where, str(statement)],
        env=os.environ | {"PYTHONPATH": paths},
        check=False,
    )
    assert done.returncode == -9
    database = connect(where)
    # As it was: no half of it.
    runner = Runner(database, directory=str(MIGRATIONS))
    assert [one.name for one in runner.status() if one.applied] == [known_migrations()[0]]
    database.close()
    with open_store(where, cache_folder=tmp_path / "cache") as store:
        check(store.database, counts)
    assert not list(tmp_path.glob("~*"))


def test_a_copy_is_the_owners_and_the_last_two_are_kept(tmp_path: Path) -> None:
    where = tmp_path / "hubwatch.sqlite"
    for name in ("before-0003_topics.sqlite", "before-0008_backfill.sqlite", "before-x.sqlite"):
        (tmp_path / name).touch()
    make_store_at(str(where), "0009_site_names")
    open_database(str(where)).close()
    copy = copy_of(where, LAST)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.glob("before-*")) == [
        *("before-0008_backfill.sqlite", copy.name, "before-x.sqlite")
    ]
    open_database(str(where)).close()
    assert len(list(tmp_path.glob("before-*"))) == 3


def test_no_copy_is_made_of_a_new_store_or_if_none_is_wanted(tmp_path: Path) -> None:
    open_database(str(tmp_path / "hubwatch.sqlite")).close()
    make_store_at(str(tmp_path / "old.sqlite"), "0009_site_names")
    open_database(str(tmp_path / "old.sqlite"), copies=0).close()
    assert list(tmp_path.glob("before-*")) == []


def test_without_room_for_the_copy_nothing_is_upgraded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = tmp_path / "hubwatch.sqlite"
    make_store_at(str(where), "0009_site_names")
    full = SimpleNamespace(total=10**9, used=10**9, free=10_000)
    monkeypatch.setattr("shutil.disk_usage", lambda _: full)
    with pytest.raises(StoreFullError, match=r"make room, or set \[store\] upgrade_copies = 0"):
        open_database(str(where))
    database = connect(str(where))
    applied = [
        one.name for one in Runner(database, directory=str(MIGRATIONS)).status() if one.applied
    ]
    assert applied[-1] == "0009_site_names"
    database.close()
    open_database(str(where), copies=0).close()


def test_a_store_with_broken_references_is_not_upgraded(tmp_path: Path) -> None:
    where = tmp_path / "hubwatch.sqlite"
    make_store_at(str(where), "0009_site_names")
    connection = sqlite3.connect(where)
    connection.execute("DELETE FROM site WHERE id = 2")
    connection.commit()
    connection.close()
    with pytest.raises(StoreDamagedError, match="rows that name others"):
        open_database(str(where))
    database = connect(str(where))
    applied = [
        one.name for one in Runner(database, directory=str(MIGRATIONS)).status() if one.applied
    ]
    assert applied[-1] == "0009_site_names"
    database.close()
