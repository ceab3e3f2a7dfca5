"""A store moves from SQLite to PostgreSQL and back, and is the same; or nothing is kept."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from cli_runner import Run
from lab.postgres_server import PostgresServer
from peewee import AutoField, Select, fn
from stories import HOME, START
from upgrading import ROWS, make_full_store

from incremental.base.errors import InputError
from incremental.features.exchange.stores import move_store
from store import open_store
from store.database import is_server, open_database
from store.errors import StoreError
from store.maintenance.copying import copy_store
from store.models import ALL, OF_DAEMONS
from store.search.fulltext import count_news
from store.search.words import read_query


@pytest.fixture
def other(where: str, tmp_path: Path, postgres: PostgresServer) -> str:
    """The address of an empty database of the other kind than *where*."""
    if is_server(where):
        return str(tmp_path / "other" / "hubwatch.sqlite")
    return postgres.empty_database()


@pytest.fixture
def filled(where: str) -> str:
    """A store with rows in every table."""
    make_full_store(where)
    return where


def copied(source: str, target: str) -> dict[str, tuple[int, str]]:
    read, write = open_database(source), open_database(target, make_new=True)
    try:
        tables = copy_store((read, source), (write, target))
    finally:
        read.close()
        write.close()
    return {one.name: (one.rows, one.checksum) for one in tables}


def test_every_table_arrives_and_comes_back_the_same(
    filled: str, other: str, tmp_path: Path, postgres: PostgresServer
) -> None:
    there = copied(filled, other)
    assert set(there) == {model._meta.table_name for model in ALL if model not in OF_DAEMONS}
    assert {rows for rows, _ in there.values()} == {ROWS}
    again = postgres.empty_database() if is_server(filled) else str(tmp_path / "back.sqlite")
    assert copied(other, again) == there
    for place in (other, again):
        database = open_database(place)
        assert count_news(database, read_query("bridge river"), most=10) == ROWS
        database.close()


def test_new_ids_begin_where_the_old_store_would_have_gone_on(
    where: str, other: str, tmp_path: Path
) -> None:
    with open_store(where, cache_folder=tmp_path / "cache") as store:
        sites = [
            store.write.add_site(f"https://{n}.example/", f"site {n}", now=START) for n in range(3)
        ]
        store.write.remove_site(max(sites))
    copied(where, other)
    with open_store(other, cache_folder=tmp_path / "cache") as moved:
        assert moved.write.add_site(HOME, "news", now=START) > max(sites)


def test_no_sequence_gives_out_an_id_that_a_copied_row_has(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    """SQLite keeps the last id of some tables only, and PostgreSQL of all."""
    source, target = str(tmp_path / "hubwatch.sqlite"), postgres.empty_database()
    make_full_store(source)
    copied(source, target)
    with closing(open_database(target)) as database:
        for model in ALL:
            if isinstance(model._meta.primary_key, AutoField):
                name = model._meta.table_name
                highest = model.select(fn.MAX(model._meta.primary_key)).scalar(database) or 0
                sequence = fn.pg_get_serial_sequence(name, "id")
                assert Select(columns=[fn.nextval(sequence)]).scalar(database) > highest, name


def test_a_store_in_use_is_not_written_over(filled: str, other: str, tmp_path: Path) -> None:
    with open_store(other, cache_folder=tmp_path / "cache") as store:
        store.write.add_site(HOME, "news", now=START)
    with pytest.raises(StoreError, match="in use: it has 1 rows in site"):
        copied(filled, other)
    with open_store(other, cache_folder=tmp_path / "cache") as store:
        assert [site.seed_url for site in store.read.sites()] == [HOME]


def test_what_one_database_cannot_keep_leaves_nothing_behind(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    home, target = tmp_path / "home", postgres.empty_database()
    with open_store(str(home / "hubwatch.sqlite"), cache_folder=home / "pages") as store:
        store.write.add_site(HOME, "news", now=START)
    with closing(sqlite3.connect(home / "hubwatch.sqlite")) as connection:
        # The store never writes it, but SQLite keeps it, and PostgreSQL does not.
        connection.execute("UPDATE site SET origin = 'a' || char(0) || 'b'")
        connection.commit()
    with pytest.raises(StoreError, match="site"):
        move_store(str(home), target, home, now=START)
    with open_store(target, cache_folder=home / "pages") as store:
        assert store.read.sites() == []


def test_a_failed_move_to_a_folder_leaves_no_database(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    source, home = postgres.empty_database(), tmp_path / "home"
    with open_store(source, cache_folder=home / "pages") as store:
        store.write.add_site(HOME, "news", now=START)
    steps = 0

    def stop(_done: int, _of: int) -> None:
        nonlocal steps
        steps += 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        move_store(source, str(tmp_path / "new"), home, now=START, progress=stop)
    assert steps == 1
    assert not (tmp_path / "new" / "hubwatch.sqlite").exists()


def test_both_ends_of_one_kind_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="other kind"):
        move_store("here", "there", tmp_path, now=START)
    secret = "postgresql://me:hush@host/db"
    with pytest.raises(InputError) as refused:
        move_store(secret, secret, tmp_path, now=START)
    assert "hush" not in str(refused.value)


def test_the_command_moves_pages_and_answers_and_says_what_to_set(
    hubwatch: Run, found: list[str], tmp_path: Path, postgres: PostgresServer
) -> None:
    before = hubwatch("new", "--json").json
    assert found
    target = postgres.empty_database()
    there = hubwatch("migrate-store", "hubwatch-data", target)
    assert there.code == 0, there.err
    assert f'database = "{target}"' in there.out
    back = hubwatch("migrate-store", target, "elsewhere", "--json")
    assert back.code == 0, back.err
    # One more set of page files than the first move, which left them where they were.
    assert back.json["files"] == sum(
        path.is_file() for path in (tmp_path / "elsewhere" / "pages").rglob("*")
    )
    (tmp_path / "hubwatch.toml").write_text('[store]\nfolder = "elsewhere"\n')
    assert hubwatch("new", "--json").json == before


def test_the_way_back_may_lead_into_the_configured_folder(
    hubwatch: Run, found: list[str], tmp_path: Path, postgres: PostgresServer
) -> None:
    assert found
    before, target = hubwatch("new", "--json").json, postgres.empty_database()
    assert hubwatch("migrate-store", "hubwatch-data", target).code == 0
    for path in (tmp_path / "hubwatch-data").glob("hubwatch.sqlite*"):
        path.unlink()
    (tmp_path / "hubwatch.toml").write_text(f'[store]\ndatabase = "{target}"\n')
    back = hubwatch("migrate-store", target, "hubwatch-data", "--json")
    assert back.code == 0, back.err
    assert back.json["files"] == 0, "they are there"
    (tmp_path / "hubwatch.toml").write_text("")
    assert hubwatch("new", "--json").json == before


def test_a_missing_store_is_named(hubwatch: Run, postgres: PostgresServer) -> None:
    result = hubwatch("migrate-store", "nowhere", postgres.empty_database())
    assert result.code == 2
    assert "nowhere" in result.err
    assert "holds no store" in result.err
