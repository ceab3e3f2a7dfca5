"""Free space goes back, and the log does not grow for ever."""

import sqlite3
from pathlib import Path

from peewee import chunked
from stories import START, news_site

from store import Store
from store.maintenance.retention import Kind
from store.models import Visit

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


def test_free_pages_are_given_back(sqlite_store: Store) -> None:
    fill(sqlite_store)
    sqlite_store.space.shorten_log()
    before = sqlite_store.space.size()
    empty(sqlite_store)
    used = sqlite_store.space.size().used_bytes
    assert used is not None
    assert before.used_bytes is not None
    assert used < 0.5 * before.used_bytes
    while sqlite_store.space.give_back():
        pass
    sqlite_store.space.shorten_log()
    assert sqlite_store.space.size().size_bytes < before.size_bytes


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
