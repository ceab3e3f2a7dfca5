"""Connections to PostgreSQL: kept for the next thread, bounded, and replaced after a restart."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest
from lab.postgres_server import PostgresServer
from stories import START

from store import Store, open_store
from store.database.failures import storage_errors
from store.database.postgres import ServerBounds
from store.errors import StoreLockedError, StoreLostError

T = TypeVar("T")


def opened(where: str, folder: Path, **bounds: Any) -> Store:
    return open_store(where, cache_folder=folder, bounds=ServerBounds(keep=True, **bounds))


def asked(store: Store, statement: str) -> Any:
    database: Any = store.database
    with storage_errors(store.where):
        return database.execute_sql(statement).fetchone()[0]


def in_a_thread(store: Store, work: Callable[[], T]) -> T:
    def run() -> T:
        with store.in_this_thread():
            return work()

    with ThreadPoolExecutor(1) as executor:
        return executor.submit(run).result()


def test_a_connection_is_kept_for_the_next_thread(postgres: PostgresServer, tmp_path: Path) -> None:
    with opened(postgres.empty_database(), tmp_path) as store:
        servers = {
            in_a_thread(store, lambda: asked(store, "SELECT pg_backend_pid()")) for _ in "123"
        }
        assert len(servers) == 1
        assert asked(store, "SELECT pg_backend_pid()") not in servers


def test_no_more_connections_are_opened_than_the_settings_allow(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    with opened(postgres.empty_database(), tmp_path, connections=1, wait_seconds=0.05) as store:
        store.read.sites()
        with pytest.raises(StoreLostError, match=r"set a higher \[store\] connections"):
            in_a_thread(store, store.read.sites)
        store.database.close()
        assert in_a_thread(store, store.read.sites) == []


def test_a_statement_has_a_longest_time_which_the_address_may_change(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    where = postgres.empty_database()
    with opened(where, tmp_path, statement_seconds=0.1) as store:
        with pytest.raises(StoreLockedError):
            asked(store, "SELECT pg_sleep(20)")
        assert store.read.sites() == []
    own = f"{where}&options=-c%20statement_timeout%3D7s"
    with opened(own, tmp_path, statement_seconds=0.1) as store:
        assert asked(store, "SHOW statement_timeout") == "7s"


def test_whoever_is_idle_in_a_transaction_loses_it(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    with opened(postgres.empty_database(), tmp_path, idle_seconds=1.5) as store:

        def dawdle() -> None:
            with store.write.together():
                store.write.add_site("https://a.example/", "a", now=START)
                in_a_thread(store, lambda: asked(store, "SELECT pg_sleep(4)"))
                store.write.add_site("https://b.example/", "b", now=START)

        with pytest.raises(StoreLostError):
            dawdle()
        store.recover()
        assert store.read.sites() == []


def test_a_store_goes_on_after_the_server_restarted(tmp_path: Path) -> None:
    with PostgresServer() as server, opened(server.empty_database(), tmp_path) as store:
        store.write.add_site("https://a.example/", "a", now=START)
        in_a_thread(store, store.read.sites)
        server.stop()
        with pytest.raises(StoreLostError):
            store.read.sites()
        with pytest.raises(StoreLostError):
            store.recover()
        server.start()
        names = ["a"]
        assert [one.name for one in in_a_thread(store, store.read.sites)] == names
        store.recover()
        assert [one.name for one in store.read.sites()] == names
        store.write.add_site("https://b.example/", "b", now=START)
