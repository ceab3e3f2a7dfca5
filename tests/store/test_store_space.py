"""Sizes, compacting, and a log that does not grow for ever."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from peewee import chunked
from stories import HOME, START, news_site, seen, visit_of

from store import Store, open_store
from store.maintenance.retention import Kind
from store.maintenance.space import FULL_TEXT
from store.models import ALL, Visit

ROOT = Path(__file__).resolve().parents[2]


def fill(store: Store, visits: int = 8_000) -> None:
    """Log visits of more than 500 bytes each."""
    _, home = news_site(store)
    row = {"page": home, "at": START, "status": "fetched", "detail": "x" * 500}
    with store.database.atomic():
        for batch in chunked([row] * visits, 100):
            Visit.insert_many(batch).execute(store.database)


def empty(store: Store) -> None:
    while store.retention.forget(Kind.VISITS, before=START + 9e6, now=START).cursor is not None:
        pass


def test_every_table_has_its_size(store: Store) -> None:
    news_site(store)
    sizes = store.space.tables()
    assert set(sizes) == {model._meta.table_name for model in ALL} | {FULL_TEXT}
    assert (sizes["site"].rows, sizes["visit"].rows) == (1, 0)
    assert all(size.size_bytes for size in sizes.values())
    size = store.space.size()
    assert size.size_bytes >= sum(one.size_bytes or 0 for one in sizes.values()) * 0.9
    assert 0 < store.space.used_bytes() <= size.size_bytes


def test_used_bytes_fall_with_what_is_forgotten(store: Store) -> None:
    fill(store)
    before = store.space.used_bytes()
    assert before > 4_000_000
    empty(store)
    assert store.space.used_bytes() < 0.5 * before


def test_compacting_gives_the_space_back(store: Store) -> None:
    fill(store)
    store.space.shorten_log()
    before = store.space.size().size_bytes
    empty(store)
    store.space.compact(full=True)
    assert store.space.size().size_bytes < before - 4_000_000
    site, home = news_site(store)
    store.write.visit(visit_of(site, home, START, seen(HOME + "a", fate="announce")))


def test_the_log_is_cut(sqlite_store: Store, tmp_path: Path) -> None:
    log = tmp_path / "hubwatch.sqlite-wal"
    fill(sqlite_store)
    assert log.stat().st_size > 1_000_000
    with sqlite3.connect(tmp_path / "hubwatch.sqlite") as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM visit LIMIT 1").fetchone()
        sqlite_store.database.execute_sql("PRAGMA busy_timeout = 10")  # type: ignore[no-untyped-call]
        sqlite_store.write.update_site(1, origin='{"page": 1}')
        assert not sqlite_store.space.shorten_log()
    reader.close()
    assert sqlite_store.space.shorten_log()
    assert log.stat().st_size == 0


@pytest.mark.parametrize("milliseconds", [0, 15, 60])
def test_compacting_that_is_killed_harms_nothing(tmp_path: Path, milliseconds: int) -> None:
    where = str(tmp_path / "hubwatch.sqlite")
    with open_store(where, cache_folder=tmp_path / "pages") as store:
        fill(store, 20_000)
    program = (
        "import sys; from pathlib import Path; from store import open_store\n"
        f"with open_store({where!r}, cache_folder=Path('.')) as store:\n"
        "    print('now', flush=True); store.space.compact()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT), "SQLITE_TMPDIR": str(tmp_path)},
    )
    assert process.stdout is not None
    with process.stdout as lines:
        lines.readline()
        time.sleep(milliseconds / 1_000)
        process.send_signal(signal.SIGKILL)
    process.wait()
    with open_store(where, cache_folder=tmp_path / "pages") as store:
        assert store.space.tables()["visit"].rows == 20_000
        (verdict,) = store.database.execute_sql("PRAGMA integrity_check").fetchone()  # type: ignore[no-untyped-call]
        assert verdict == "ok"
        store.space.compact()
    assert {path.name for path in tmp_path.iterdir()} <= {
        *("hubwatch.sqlite", "hubwatch.sqlite-wal", "hubwatch.sqlite-shm", "pages")
    }
